package org.revenantdb.jmh.contend;

import java.util.Locale;

/**
 * One point of a contended measurement. Its text is its name in results, and the argument of a
 * forked JVM.
 *
 * @param threads how many compete
 * @param virtual virtual threads on the default scheduler, else platform threads
 * @param sectionMicros how long the critical section works, besides changing two fields
 */
public record ContentionPoint(int threads, boolean virtual, int sectionMicros) {
  private static final int LONG_SECTION = 10;
  private static final int RARELY = 64;

  /** Checks that there is something to run. */
  public ContentionPoint {
    if (threads < 1 || sectionMicros < 0) {
      throw new IllegalArgumentException(threads + " threads, " + sectionMicros + " us");
    }
  }

  /**
   * How often a thread reads the clock for its wait. Two reads of the clock cost as much as a short
   * section, but little compared with a long one. Always a power of two.
   *
   * @return each how many-th acquisition of a thread is timed, beginning with its first
   */
  public int timedEvery() {
    return sectionMicros >= LONG_SECTION ? 1 : RARELY;
  }

  /**
   * Reads what {@link #toString} has written.
   *
   * @param text a point
   * @return the point
   */
  public static ContentionPoint parse(String text) {
    String[] parts = text.split("[=,]", -1);
    if (parts.length != 6) {
      throw new IllegalArgumentException("not a point: " + text);
    }
    return new ContentionPoint(
        Integer.parseInt(parts[1]),
        parts[3].equals("virtual"),
        Integer.parseInt(parts[5].replace("us", "")));
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "threads=%d,kind=%s,section=%dus",
        threads,
        virtual ? "virtual" : "platform",
        sectionMicros);
  }
}
