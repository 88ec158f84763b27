package org.revenantdb.engine;

/**
 * Classes of waits of threads inside a database, both of callers and of the engine. {@link
 * Database#waitStatistics} has the counts of each.
 *
 * <p>A call is counted if it waits, whether it spins or sleeps. A call that does not wait is not
 * counted and costs nothing.
 */
public enum WaitClass {
  /* The order is part of the counters file (docs/format.md §7): new classes come last. */

  /** The latch of a leaf, to read it. */
  LEAF_SHARED("page latch, leaf, shared"),
  /** The latch of a leaf, to change it. */
  LEAF_EXCLUSIVE("page latch, leaf, exclusive"),
  /** The latch of an inner page of a tree, to read it. */
  INNER_SHARED("page latch, inner, shared"),
  /** The latch of an inner page of a tree, to change it. */
  INNER_EXCLUSIVE("page latch, inner, exclusive"),
  /** The latch of a page of a large value, to read it. */
  OVERFLOW_SHARED("page latch, overflow, shared"),
  /** The latch of a page of a large value, to change it. */
  OVERFLOW_EXCLUSIVE("page latch, overflow, exclusive"),
  /** The latch of a space map, shared. */
  MAP_SHARED("page latch, space map, shared"),
  /** The latch of a space map, exclusive. */
  MAP_EXCLUSIVE("page latch, space map, exclusive"),
  /** The latch of a page of another type, or of a page without a type yet, to read it. */
  OTHER_SHARED("page latch, other, shared"),
  /** The latch of a page of another type, or of a page without a type yet, to change it. */
  OTHER_EXCLUSIVE("page latch, other, exclusive"),
  /**
   * Another transaction that has written a row. The wait ends when its commit is published, or,
   * with a lock timeout, when it has ended.
   */
  ROW("row"),
  /** Room in the log buffer, for a record that is being published. */
  LOG_WRITE("log write"),
  /** The force of the log, by commits, durable reads, and {@link Database#sync}. */
  LOG_FORCE("log force"),
  /** The force of the log, by the engine's own threads: ahead of pages, for checkpoints. */
  LOG_FORCE_AHEAD("log force ahead"),
  /** A new segment file of the log. */
  LOG_FILE("log file"),
  /**
   * Credit for log, which {@link DatabaseOptions#maxRecoveryLog} bounds. Includes writers that are
   * only slowed down.
   */
  LOG_CREDIT("credit for log"),
  /** Credit for pages, which {@link DatabaseOptions#maxRecoveryPages} bounds. */
  PAGE_CREDIT("credit for pages"),
  /**
   * The read of a page from the data file, by this thread or by another one. Includes the reads of
   * a restart.
   */
  BUFFER_READ("buffer read"),
  /** Memory for a page, if all of it has to be written first or is in use. */
  FREE_FRAME("free frame"),
  /** Memory for older versions, by writers; {@link DatabaseOptions#versionMemory} bounds it. */
  VERSION_MEMORY("memory for versions"),
  /**
   * A pause before another attempt of {@link Database#run}, after a conflict; {@link
   * DatabaseOptions#maxBackoff} bounds each.
   */
  RETRY_PAUSE("retry pause");

  private final String text;

  WaitClass(String text) {
    this.text = text;
  }

  /**
   * The name under which it is shown, by {@code stat} and in the event {@code org.revenantdb.Wait}.
   *
   * @return a few words
   */
  public String text() {
    return text;
  }
}
