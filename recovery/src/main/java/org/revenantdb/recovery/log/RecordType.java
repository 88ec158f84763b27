package org.revenantdb.recovery.log;

import org.jspecify.annotations.Nullable;

/** The type of a log record; {@code docs/format.md} §2.2. */
public enum RecordType {
  /** Changes of pages that belong together: one mini-transaction. */
  PAGES(1),
  /** A transaction has committed. */
  COMMIT(2),
  /** A transaction has been aborted; its rows are reverted later. */
  ABORT(3),
  /** Everything of these aborted transactions has been removed. */
  FORGET(4),
  /** A part of a checkpoint's image of the transactions. */
  CHECKPOINT(5),
  /** A reservation whose record failed. */
  PAD(6),
  /** The first record of a life. */
  LIFE(7),
  /** Pages are forced in the data file, each with all changes up to an LSN. */
  FLUSHED(8),
  /** A transaction waits for its outcome, across restarts. */
  PREPARE(9);

  private static final RecordType[] VALUES = values();

  private final int code;

  RecordType(int code) {
    this.code = code;
  }

  /**
   * The type's byte in a record.
   *
   * @return the code
   */
  public int code() {
    return code;
  }

  /**
   * The type of a code.
   *
   * @param code the byte in a record
   * @return the type, or null if there is none
   */
  public static @Nullable RecordType of(int code) {
    return code >= 1 && code <= VALUES.length ? VALUES[code - 1] : null;
  }
}
