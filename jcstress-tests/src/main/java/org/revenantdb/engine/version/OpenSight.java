package org.revenantdb.engine.version;

import org.jspecify.annotations.NullMarked;
import org.revenantdb.engine.txn.TransactionTable;

/** Gives the jcstress tests access to the package-private visibility of a row to a snapshot. */
@NullMarked
public final class OpenSight {
  private OpenSight() {}

  /** Whether a snapshot sees rows of a writer; waits for a writer that is committing. */
  public static boolean sees(long writer, Reading reading, TransactionTable transactions) {
    return RowReader.sees(writer, reading, transactions);
  }
}
