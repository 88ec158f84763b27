package org.revenantdb.chaos.report;

import java.util.List;

/**
 * A size that was measured repeatedly, for instance the size of the log.
 *
 * @param label of the curve
 * @param along the x axis
 * @param points in the order of measurement
 */
public record SizeSeries(String label, Along along, List<Point> points) {

  /** Copies the list. */
  public SizeSeries {
    points = List.copyOf(points);
  }

  /** The kinds of x axis. */
  public enum Along {
    /** Time, in seconds since the run began. */
    SECONDS,
    /** Operations, by number. */
    OPERATIONS
  }

  /**
   * One measurement.
   *
   * @param at seconds or number of the operation
   * @param bytes the size
   */
  public record Point(double at, long bytes) {}
}
