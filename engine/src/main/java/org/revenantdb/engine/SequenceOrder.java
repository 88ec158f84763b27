package org.revenantdb.engine;

import org.revenantdb.engine.page.SequenceRow;

/** The order in which a {@link Sequence} returns its values. */
public enum SequenceOrder {
  /** Start, start + increment, start + 2 * increment, and so on. */
  PLAIN(SequenceRow.PLAIN),

  /**
   * The same numbers, each with its lower 63 bits reversed. Consecutive values lie far apart, so
   * rows with such keys spread over the whole table. Values are positive. The numbers before the
   * reversal go from 1 to {@link Long#MAX_VALUE}.
   *
   * <p>Source: "PAGELATCH_EX waits and heavy inserts", the cure by a bit-reversed sequence. The
   * reversal is the last step and keeps numbers unique.
   */
  BIT_REVERSED(SequenceRow.BIT_REVERSED);

  private final int code;

  SequenceOrder(int code) {
    this.code = code;
  }

  /** Its code on disk. */
  int code() {
    return code;
  }

  /** The order of a code that {@link SequenceRow#problem} accepts. */
  static SequenceOrder of(int code) {
    return code == SequenceRow.BIT_REVERSED ? BIT_REVERSED : PLAIN;
  }
}
