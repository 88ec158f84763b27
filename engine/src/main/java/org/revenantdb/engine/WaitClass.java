package org.revenantdb.engine;

/**
 * What a thread of a caller, or of the engine, may wait for inside a database. The classes are
 * counted apart: {@link Database#waitStatistics}.
 *
 * <p>Only who really has to wait is counted, spinning and sleeping together; what is served at once
 * is not, and costs nothing.
 */
public enum WaitClass {
  /* The order is part of the counters file (docs/format.md §7): new ones come last. */

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
  /** The latch of a space map, exclusively. */
  MAP_EXCLUSIVE("page latch, space map, exclusive"),
  /** The latch of a page that is none of these, or not yet, to read it. */
  OTHER_SHARED("page latch, other, shared"),
  /** The latch of a page that is none of these, or not yet, to change it. */
  OTHER_EXCLUSIVE("page latch, other, exclusive"),
  /**
   * The outcome of a transaction whose row was met while its commit was being published; or its
   * end, where there is a lock timeout.
   */
  ROW("row"),
  /** Room in the log buffer, for a record that is being published. */
  LOG_WRITE("log write"),
  /** The force of the log, by those who commit, who read what is to be durable, or who sync. */
  LOG_FORCE("log force"),
  /** The force of the log, by the engine's own threads: ahead of pages, for checkpoints. */
  LOG_FORCE_AHEAD("log force ahead"),
  /** A file of the log that had to be made first. */
  LOG_FILE("log file"),
  /**
   * Credit for log, which {@link DatabaseOptions#maxRecoveryLog} bounds, be it only slowed down.
   */
  LOG_CREDIT("credit for log"),
  /** Credit for pages, which {@link DatabaseOptions#maxRecoveryPages} bounds. */
  PAGE_CREDIT("credit for pages"),
  /**
   * A page that is read from the data file, by the thread itself, for it, or for another one that
   * came before. Reads of the restart are among them.
   */
  BUFFER_READ("buffer read"),
  /** Memory for a page, where all had to be written first, or was in use. */
  FREE_FRAME("free frame"),
  /**
   * Memory for older versions, which {@link DatabaseOptions#versionMemory} bounds, by those who
   * write.
   */
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
