package org.revenantdb.chaos.report;

import java.util.List;

/**
 * A size that was looked at again and again, for instance that of the log.
 *
 * @param label of the curve
 * @param along what it is drawn against
 * @param points in the order they were taken
 */
public record SizeSeries(String label, Along along, List<Point> points) {

  /** Copies the list. */
  public SizeSeries {
    points = List.copyOf(points);
  }

  /** What passes while a size changes. */
  public enum Along {
    /** Time, in seconds since the run began. */
    SECONDS,
    /** Operations, by number. */
    OPERATIONS
  }

  /**
   * One look.
   *
   * @param at seconds or number of the operation
   * @param bytes the size
   */
  public record Point(double at, long bytes) {}
}
