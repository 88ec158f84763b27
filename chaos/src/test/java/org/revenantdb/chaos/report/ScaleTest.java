package org.revenantdb.chaos.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ScaleTest {

  private static List<String> labels(Scale scale, int wanted) {
    return scale.ticks(wanted).stream().map(scale.unit()::format).toList();
  }

  @Test
  void linear_ticksAtOneTwoFive_upToTheEnd() {
    Scale scale = Scale.linear(Unit.MILLIS, 0, 43, 5, 0, 100);
    assertEquals(List.of("0", "10 ms", "20 ms", "30 ms", "40 ms", "50 ms"), labels(scale, 5));
    assertEquals(50, scale.high());
    assertEquals(
        List.of("0", "500 ms", "1 s", "1.5 s"),
        labels(Scale.linear(Unit.MILLIS, 0, 1_400, 4, 0, 1), 4));
    assertEquals(
        List.of("0", "20 %", "40 %", "60 %", "80 %", "100 %"),
        labels(Scale.linear(Unit.SHARE, 0, 1, 5, 0, 1), 5));
  }

  @Test
  void linear_bytes_ticksAtPowersOfTwo() {
    assertEquals(
        List.of("0", "256 KiB", "512 KiB", "768 KiB", "1 MiB"),
        labels(Scale.linear(Unit.BYTES, 0, 1_000_000, 5, 0, 1), 5));
  }

  @Test
  void linear_counts_haveNoFractions() {
    assertEquals(List.of("0", "1", "2"), labels(Scale.linear(Unit.COUNT, 0, 2, 5, 0, 1), 5));
    assertEquals(List.of("0", "1"), labels(Scale.linear(Unit.COUNT, 0, 0, 5, 0, 1), 5));
  }

  @Test
  void exact_thatBeginsAnywhere_ticksInside() {
    Scale scale = Scale.exact(Unit.COUNT, 10_130, 10_870, 0, 1);
    assertEquals(List.of("10,200", "10,400", "10,600", "10,800"), labels(scale, 5));
  }

  @Test
  void log_ticksAtDecades_withTwoAndFiveIfThereAreFew() {
    assertEquals(
        List.of("1 ms", "10 ms", "100 ms", "1 s"),
        labels(Scale.log(Unit.MILLIS, 1, 1_000, 0, 1), 8));
    assertEquals(
        List.of("1 ms", "2 ms", "5 ms", "10 ms"), labels(Scale.log(Unit.MILLIS, 1, 10, 0, 1), 8));
  }

  /** The tolerance for rounding was once a share of the high end, which is much at the low one. */
  @Test
  void ticks_of_a_log_scale_over_many_decades_begin_inside() {
    Scale scale = new Scale(Unit.MILLIS, true, 1.009, 5e9, 0, 1);
    assertEquals(100, scale.ticks(6).getFirst());
  }

  @Test
  void log_bytes_ticksAtPowersOfTwo() {
    assertEquals(
        List.of("1 MiB", "4 MiB", "16 MiB", "64 MiB"),
        labels(Scale.log(Unit.BYTES, 1 << 20, 100 << 20, 0, 1), 5));
  }

  @Test
  void at_mapsEnds_andEqualFactorsToEqualDistances() {
    Scale up = new Scale(Unit.COUNT, false, 0, 10, 200, 0);
    assertEquals(200, up.at(0));
    assertEquals(150, up.at(2.5));
    Scale log = new Scale(Unit.COUNT, true, 1, 10_000, 0, 100);
    assertEquals(25, log.at(10), 1e-9);
    assertEquals(75, log.at(1_000), 1e-9);
    assertFalse(log.shows(0));
    assertFalse(log.shows(Double.NaN));
  }

  @Test
  void scale_withoutLength_isRefused() {
    assertThrows(IllegalArgumentException.class, () -> new Scale(Unit.COUNT, false, 1, 1, 0, 1));
    assertThrows(IllegalArgumentException.class, () -> new Scale(Unit.COUNT, true, 0, 1, 0, 1));
    assertThrows(
        IllegalArgumentException.class, () -> new Scale(Unit.COUNT, false, 0, Double.NaN, 0, 1));
  }

  @Test
  void ticks_ofAnyStretch_areFewSortedAndInside() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    Random random = new Random(seed);
    for (int i = 0; i < 5_000; i++) {
      Unit unit = Unit.values()[random.nextInt(Unit.values().length)];
      double low = Math.exp(random.nextDouble() * 40 - 10);
      double high = low * (1 + Math.exp(random.nextDouble() * 20 - 5));
      Scale scale =
          random.nextBoolean()
              ? Scale.log(unit, low, high, 0, 1)
              : Scale.linear(unit, 0, high, 6, 0, 1);
      List<Double> ticks = scale.ticks(6);
      String what = "seed " + seed + ", " + scale + ": " + ticks;
      assertTrue(ticks.size() <= 8, what);
      assertEquals(ticks.stream().sorted().distinct().toList(), ticks, what);
      assertTrue(ticks.stream().allMatch(tick -> scale.at(tick) > -1e-6), what);
      assertTrue(ticks.stream().allMatch(tick -> scale.at(tick) < 1 + 1e-6), what);
    }
  }

  @Test
  void unit_writesThreeDigitsOrAllBeforeThePoint() {
    assertEquals("0", Unit.BYTES.format(0));
    assertEquals("1,023 B", Unit.BYTES.format(1_023));
    assertEquals("1.5 KiB", Unit.BYTES.format(1_536));
    assertEquals("4,096 TiB", Unit.BYTES.format(0x1p52));
    assertEquals("250 µs", Unit.MILLIS.format(0.25));
    assertEquals("12.3 ms", Unit.MILLIS.format(12.34));
    assertEquals("90 s", Unit.SECONDS.format(90));
    assertEquals("12,345", Unit.COUNT.format(12_345));
    assertEquals("1.23 M", Unit.COUNT.format(1_234_000));
    assertEquals("0.05 %", Unit.SHARE.format(0.0005));
    assertEquals("not a number", Unit.digits(Double.NaN));
  }
}
