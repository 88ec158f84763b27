package org.revenantdb.jmh.contend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Slots without gaps, and percentiles compared with those of a sorted array. */
class WaitHistogramTest {
  @Test
  void slots_meetWithoutGapOrOverlap() {
    long value = 0;
    for (int slot = 0; WaitHistogram.upperEnd(slot) < 1L << 36; slot++) {
      long last = WaitHistogram.upperEnd(slot);
      assertEquals(slot, WaitHistogram.slotOf(value), "first of slot " + slot);
      assertEquals(slot, WaitHistogram.slotOf(last), "last of slot " + slot);
      assertTrue(last - value <= value / 32, "slot " + slot + " is too wide");
      value = last + 1;
    }
    assertEquals(1L << 36, value);
  }

  @Test
  void values_outOfRangeAreCountedAtTheEnds() {
    WaitHistogram histogram = new WaitHistogram();
    histogram.record(-5);
    histogram.record(Long.MAX_VALUE);
    assertEquals(2, histogram.count());
    assertEquals(0, histogram.percentile(0.5));
    assertEquals(Long.MAX_VALUE, histogram.max());
  }

  @Test
  void percentile_isThatOfASortedArray_toThreePerCent() {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("WaitHistogramTest seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    long[] values = new long[9_999];
    WaitHistogram even = new WaitHistogram();
    WaitHistogram odd = new WaitHistogram();
    for (int i = 0; i < values.length; i++) {
      values[i] = random.nextLong(1L << random.nextInt(1, 36));
      (i % 2 == 0 ? even : odd).record(values[i]);
    }
    even.add(odd);
    Arrays.sort(values);
    for (double share : new double[] {0.001, 0.5, 0.99, 0.999, 1}) {
      long exact = values[(int) Math.ceil(share * values.length) - 1];
      long told = even.percentile(share);
      assertTrue(exact <= told && told <= exact + exact / 32, share + ": " + exact + ", " + told);
    }
    assertEquals(values[values.length - 1], even.max());
    assertEquals(values.length, even.count());
  }

  @Test
  void percentile_ofFewIsTheFirstThatCoversTheShare() {
    WaitHistogram histogram = new WaitHistogram();
    for (int nanos = 1; nanos <= 3; nanos++) {
      histogram.record(nanos);
    }
    assertEquals(1, histogram.percentile(0));
    assertEquals(2, histogram.percentile(0.5));
    assertEquals(3, histogram.percentile(0.99));
  }

  @Test
  void nothing_hasNoWaits() {
    assertEquals(0, new WaitHistogram().percentile(0.99));
    assertThrows(IllegalArgumentException.class, () -> new WaitHistogram().percentile(99));
  }
}
