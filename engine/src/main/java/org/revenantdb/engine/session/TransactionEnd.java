package org.revenantdb.engine.session;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.version.RowWriter;

/**
 * The end of a transaction, whatever its outcome: frees everything that the engine has given to it.
 *
 * <p>Threads: a thread that is inside the transaction and the gate, or the thread that closes the
 * database.
 */
final class TransactionEnd {
  /*
   * Steps       1  state      the new one: from here on each use is refused
   *             2  slots      its own, and those of its cursors and streams: first out of the list of open transactions,
   *                           then the snapshot, as the slot may be another transaction's at once
   *             3  reads      the certifier keeps no commits for it any more
   *             4  writer     what it holds is cleared; the next transaction may use the writer
   *             5  attempt    heirs that have no id to sleep behind are woken; others may have its turn
   *             Each step is made also if the one before it throws.
   *
   * Order       the outcome is in the table before step 1. So a drop that finds a table not held any more, behind step
   *             4, finds the outcome, too.
   *
   * Memory      1 to 4 allocate nothing: they may follow the record of a commit (R18)
   */
  private TransactionEnd() {}

  /** Loads the class, so that this cannot fail after the record of a commit. */
  static void load() {}

  static void end(TransactionCore core, TransactionState.State end) {
    core.setStateRelease(end); // 1
    try {
      endSlots(core); // 2
    } finally {
      try {
        SerialReads reads = core.reads();
        if (reads != null) {
          core.engine().certifier().end(reads); // 3
        }
      } finally {
        endWriter(core);
      }
    }
  }

  private static void endSlots(TransactionCore core) {
    Engine engine = core.engine();
    engine.open().end(core.slot());
    engine.snapshots().close(core.slot());
    KeptReadings kept = core.kept();
    if (kept != null) {
      kept.end();
    }
  }

  private static void endWriter(TransactionCore core) {
    try {
      RowWriter used = core.usedWriter();
      if (used != null) {
        core.setWriterRelease(null); // 4
        used.end();
        core.engine().giveBack(used);
      }
    } finally {
      RepeatedAttempt repeated = core.repeated();
      if (repeated != null) {
        repeated.end(); // 5
      }
    }
  }

  /** Other transactions may begin to write to the tables that it had blocked. */
  static void endTables(@Nullable OwnTables own) {
    if (own != null) {
      own.end();
    }
  }
}
