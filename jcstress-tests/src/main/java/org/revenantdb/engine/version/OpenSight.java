package org.revenantdb.engine.version;

import org.jspecify.annotations.NullMarked;
import org.revenantdb.engine.txn.TransactionTable;

/** What a snapshot sees of a row, by its writer; package-private, for the jcstress tests. */
@NullMarked
public final class OpenSight {
  private OpenSight() {}

  /** Whether it sees what one has written, who is waited for if he commits. */
  public static boolean sees(long writer, Reading reading, TransactionTable transactions) {
    return RowReader.sees(writer, reading, transactions);
  }
}
