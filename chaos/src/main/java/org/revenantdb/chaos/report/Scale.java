package org.revenantdb.chaos.report;

import java.util.ArrayList;
import java.util.List;

/**
 * Maps a range of numbers to a range of pixels, with ticks at round numbers.
 *
 * @param unit of the numbers
 * @param log whether the scale is logarithmic
 * @param low the number at the first pixel
 * @param high the number at the last pixel
 * @param first pixel
 * @param last pixel; smaller than {@code first} on an axis that points up
 */
record Scale(Unit unit, boolean log, double low, double high, double first, double last) {

  /*
   * Round    linear: 1, 2 or 5 times a power of ten; bytes: powers of two. log: powers of ten, with
   *          2 and 5 between if there are few; bytes: every n-th power of two.
   * Bounds   I1 low < high. I2 log implies low > 0.
   */

  Scale {
    if (!(low < high) || (log && low <= 0)) {
      throw new IllegalArgumentException("no scale from " + low + " to " + high);
    }
  }

  /** A linear scale that begins at {@code low} and ends at the tick at or after {@code high}. */
  static Scale linear(Unit unit, double low, double high, int ticks, double first, double last) {
    double top = high > low ? high : low + 1;
    double step = step(unit, top - low, ticks);
    return new Scale(unit, false, low, Math.ceil(top / step - 1e-9) * step, first, last);
  }

  /** A linear scale of exactly this range. */
  static Scale exact(Unit unit, double low, double high, double first, double last) {
    return new Scale(unit, false, low, high > low ? high : low + 1, first, last);
  }

  /** A logarithmic scale with a little space at both ends. */
  static Scale log(Unit unit, double low, double high, double first, double last) {
    double room = Math.max(Math.pow(high / low, 0.06), 1.2);
    return new Scale(unit, true, low / room, high * room, first, last);
  }

  boolean shows(double value) {
    return Double.isFinite(value) && value >= low && value <= high;
  }

  double at(double value) {
    double share =
        log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return first + share * (last - first);
  }

  /** Round numbers, about as many as wanted. */
  List<Double> ticks(int wanted) {
    List<Double> ticks = log ? logTicks(wanted) : linearTicks(wanted);
    // Rounding may place a tick just outside its end. The tolerance is in pixels, because on a
    // logarithmic scale a share of (high - low) could be many times low.
    double room = 1e-9 * Math.abs(last - first);
    ticks.removeIf(tick -> beyond(at(tick)) > room);
    return ticks;
  }

  /** How far a pixel is outside the range. */
  private double beyond(double pixel) {
    return Math.max(Math.min(first, last) - pixel, pixel - Math.max(first, last));
  }

  private List<Double> linearTicks(int wanted) {
    double step = step(unit, high - low, wanted);
    List<Double> ticks = new ArrayList<>();
    long from = (long) Math.ceil(low / step - 1e-9);
    long to = (long) Math.floor(high / step + 1e-9);
    for (long i = from; i <= to; i++) {
      ticks.add(i * step);
    }
    return ticks;
  }

  private List<Double> logTicks(int wanted) {
    int base = unit.binary() ? 2 : 10;
    double span = Math.log(high / low) / Math.log(base);
    int step = logStep(span, wanted, base);
    int from = Math.floorDiv((int) Math.floor(Math.log(low) / Math.log(base)), step) * step;
    double[] between = base == 10 && step == 1 && span * 3 <= wanted ? ONE_TWO_FIVE : ONE;
    List<Double> ticks = new ArrayList<>();
    for (int power = from; Math.pow(base, power) <= high; power += step) {
      for (double factor : between) {
        ticks.add(factor * Math.pow(base, power));
      }
    }
    return ticks;
  }

  private static int logStep(double span, int wanted, int base) {
    for (int step : base == 2 ? new int[] {1, 2, 3, 4, 5, 10} : new int[] {1, 2, 3, 5}) {
      if (span / step <= wanted) {
        return step;
      }
    }
    return base == 2 ? 20 : 10;
  }

  /** The round step that divides a range into {@code wanted} parts or fewer. */
  static double step(Unit unit, double span, int wanted) {
    double raw = span / wanted;
    if (unit.binary()) {
      return Math.max(1, Math.pow(2, Math.ceil(Math.log(raw) / Math.log(2) - 1e-9)));
    }
    double power = Math.pow(10, Math.floor(Math.log10(raw)));
    double step = 10 * power;
    for (double factor : new double[] {5, 2, 1}) {
      if (factor * power >= raw * (1 - 1e-9)) {
        step = factor * power;
      }
    }
    return unit == Unit.COUNT ? Math.max(1, step) : step;
  }

  private static final double[] ONE = {1};
  private static final double[] ONE_TWO_FIVE = {1, 2, 5};
}
