package org.revenantdb.engine.session;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.catalog.TableTrees;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.session.OpenTransactions.Holder;
import org.revenantdb.engine.txn.Holds;

/**
 * Which tables a transaction sees, which trees they have for it, and whether it may write to them.
 *
 * <p>Threads: the thread that is inside the transaction. {@link #trees} is called outside of the
 * gate, everything else inside.
 */
final class TablesSeen {
  /*
   * Protocol    docs/protocols.md §24 (drops), §31 (tables in transactions).
   *
   * Trees       what the transaction itself has made of the table; else the trees that the table had at the snapshot
   *
   * Entering    before the first write to a table:
   *               1  the table is entered in what the transaction holds; that ends with a full fence (Holds)
   *               2  the transaction looks whether another transaction is dropping the table
   *             A drop announces itself first, makes a full fence, and then looks at what transactions hold. So at
   *             least one of the two sees the other. If step 2 refuses, step 1 is taken back.
   *
   * Answers     a refusal depends on the record that changed the table, and a crash can take that record back. So the
   *             witness receives its LSN before the exception is made (R10).
   */
  private TablesSeen() {}

  /**
   * Enters a table that the transaction does not hold yet. From then on the table cannot be dropped
   * or truncated before the transaction has ended.
   *
   * @throws CatalogException with {@link CatalogException.Reason#DROPPED} if the table was dropped,
   *     {@link CatalogException.Reason#NOT_COMMITTED} if its creation has not been committed
   * @throws ConflictException if another transaction is dropping the table, or has truncated it
   *     after this one began: the trees that this one reads are no longer the trees of the table
   */
  static void enter(TransactionCore core, Holds holds, Table table) {
    holds.enter(table);
    boolean isAllowed = false;
    try {
      if (!TableState.of(table).isWritable()) {
        throw unreadable(core, table);
      }
      demandNewest(core, table);
      isAllowed = true;
    } finally {
      if (!isAllowed) {
        holds.leave();
      }
    }
  }

  /**
   * Enters a table that the transaction is about to create or change, without checking its state.
   *
   * @return false if the transaction held the table before
   */
  static boolean hold(TransactionCore core, Table table) {
    Holds holds = core.writer().holds();
    if (holds.has(table)) {
      return false;
    }
    holds.enter(table);
    return true;
  }

  /** Takes back the last {@link #hold}. */
  static void letGo(TransactionCore core) {
    core.writer().holds().leave();
  }

  /** Refuses a table that has no trees any more, or other trees than the transaction sees. */
  static void demandNewest(TransactionCore core, Table table) {
    if (core.readsCommitted()) {
      core.advance(); // the trees do not change any more, except by this transaction
    }
    TableTrees trees = TableState.of(table).newest();
    if (trees.below() != TableTrees.NEVER || trees.since() == TableTrees.NEVER) {
      throw unreadable(core, table);
    }
    if (trees.since() > core.snapshot()) {
      throw tooNew(core, table, trees.since());
    }
  }

  /** Refuses a table that the transaction itself has dropped. */
  static void demandThere(TransactionCore core, Table table) {
    OwnTables own = core.ownTables();
    if (own != null && own.has(table) && own.of(table) == null) {
      throw new CatalogException(
          CatalogException.Reason.DROPPED,
          "table " + table.name() + " was dropped by this transaction; roll back to have it again");
    }
  }

  /**
   * The trees that a table has in a snapshot of the transaction.
   *
   * @throws CatalogException with {@link CatalogException.Reason#DROPPED} if the table was dropped
   *     before the snapshot, or by the transaction
   */
  static TableTrees trees(TransactionCore core, Table table, long snapshot) {
    TableState.of(table).demandOf(core.engine());
    OwnTables own = core.ownTables();
    if (own != null && own.has(table)) {
      core.checkOpen();
      demandThere(core, table);
      return Objects.requireNonNull(own.of(table));
    }
    TableTrees trees = TableState.of(table).readableAt(snapshot);
    if (trees == null) {
      trees = core.inside(() -> decided(core, table, snapshot));
    }
    if (trees.since() != 0) {
      core.witness().saw(trees.since()); // the absence of older trees depends on it (R10)
    }
    return trees;
  }

  /** Waits until the transaction that is changing the table has its outcome. */
  private static TableTrees decided(TransactionCore core, Table table, long snapshot) {
    TableTrees trees = TableState.of(table).decidedAt(snapshot);
    if (trees == null) {
      throw unreadable(core, table);
    }
    return trees;
  }

  /** The table of a name, as the transaction sees it; null if there is none. */
  static @Nullable Table find(TransactionCore core, String name) {
    TableSteps tables = core.engine().tables();
    SerialReads reads = core.reads();
    if (reads != null) {
      reads.read(name);
    }
    if (core.isSerializable()) {
      tables.changedAt(name); // a change that is under way lies behind the snapshot, or is done
    }
    Table found = tables.find(core.ownTables(), name);
    core.witness().saw(tables.changedAt(name));
    if (core.isSerializable() && reads == null) {
      demandNoTableChanged(core);
    }
    return found;
  }

  /**
   * For a serializable transaction that was begun read-only, so that its reads are not validated: a
   * name leads to the present table, which may differ from the table of that name in the snapshot.
   */
  private static void demandNoTableChanged(TransactionCore core) {
    long changed = core.engine().tables().changedAt();
    if (changed > core.snapshot()) {
      core.witness().saw(changed);
      throw ApiAccess.api()
          .serializationConflict(
              "a table was created, dropped or truncated after this serializable transaction began, so the transaction cannot find"
                  + " out which table had this name then",
              "use the tables that it has already looked up, or " + core.cure());
    }
  }

  private static ConflictException tooNew(TransactionCore core, Table table, long since) {
    core.witness().saw(since);
    return ApiAccess.api()
        .conflict(
            ConflictReason.TABLE_CHANGED,
            "table " + table.name() + " was truncated, or created, after this transaction began",
            core.cure(),
            /* holder= */ 0);
  }

  /** Why a table has no trees for the transaction. */
  private static RevenantException unreadable(TransactionCore core, Table table) {
    long lsn = TableState.of(table).droppedAt();
    if (lsn != TableTrees.NEVER) {
      core.witness().saw(lsn);
      return new CatalogException(
          CatalogException.Reason.DROPPED,
          "table "
              + table.name()
              + " was dropped, or its creation was rolled back; if the database has a new table of this name, get that one");
    }
    long since = TableState.of(table).newest().since();
    if (since == TableTrees.NEVER) {
      return new CatalogException(
          CatalogException.Reason.NOT_COMMITTED,
          "table "
              + table.name()
              + " was created by another transaction, which has not committed; use it after that commit");
    }
    if (since > core.snapshot()) {
      return tooNew(core, table, since);
    }
    return beingChanged(core, table);
  }

  private static ConflictException beingChanged(TransactionCore core, Table table) {
    TransactionCore own = core.engine().open().ofThisThreadThatHas(table);
    ConflictException told =
        ApiAccess.api()
            .conflict(
                ConflictReason.TABLE_IN_USE,
                own == null
                    ? "another transaction or thread is dropping or truncating table "
                        + table.name()
                        + ", and no transaction can begin to write to it meanwhile"
                    : Holder.of(own).described()
                        + ", which this thread has open, has dropped or truncated table "
                        + table.name()
                        + ", and no other transaction can begin to write to it before that one has ended",
                own == null ? core.cure() : TransactionCore.OWN_CURE,
                own == null ? 0 : own.id());
    ApiAccess.api().isBecauseOf(told, own, /* isAlone= */ true);
    return told;
  }
}
