package org.revenantdb.engine.session;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.access.Misuse;

/**
 * The statements of a transaction that create, drop and truncate tables: the work around a {@link
 * TableSteps step}.
 *
 * <p>Threads: the thread of the transaction, outside of the transaction and of the gate.
 */
final class TableChanges {
  /*
   * Protocol    docs/protocols.md §31.
   *
   * Statement   1  writes are allowed, and a transaction that reads committed takes a new snapshot
   *             2  inside: no savepoint is set, the transaction gets its id, and a place for its own tables
   *             3  the step: create inside the gate; drop and truncate outside, as they may wait for other writers
   *             4  the answer leaves when it is durable (R10)
   *
   * Crash       a crash behind step 3 leaves a transaction without outcome, with changes in the SLog: the restart rolls
   *             them back
   */
  private TableChanges() {}

  static Table create(TransactionCore core, String name, TableOptions options) {
    core.demandWrites();
    core.beginStatement();
    core.note(noted -> noted.read(name));
    return step(
        core,
        own -> core.insideGate(() -> core.engine().tables().create(core, own, name, options)));
  }

  static void drop(TransactionCore core, Table table) {
    core.demandWrites();
    change(core, table, core.engine().tables()::drop);
  }

  static void truncate(TransactionCore core, Table table) {
    core.demandWrites();
    change(core, table, core.engine().tables()::truncate);
  }

  private static void change(TransactionCore core, Table table, TableSteps.Step change) {
    core.beginStatement();
    core.trees(table);
    step(
        core,
        own -> {
          core.engine().tables().exclusively(core, own, table, change);
          return null;
        });
  }

  /**
   * Runs a step.
   *
   * @param step receives the tables that the transaction has changed so far
   */
  private static <T extends @Nullable Object> T step(
      TransactionCore core, Function<OwnTables, T> step) {
    core.enterAlone();
    try {
      T result;
      try {
        OwnTables own = core.insideGate(() -> begin(core));
        core.ownTables(own);
        result = step.apply(own);
      } catch (ConflictException told) {
        core.awaitAnswer();
        throw told;
      } catch (CatalogException told) {
        if (told.reason() == CatalogException.Reason.IN_USE) {
          Engine engine = core.engine();
          engine.awaitDurable(
              engine.prepared().lastLsn()); // a prepared transaction may be the reason
        } else {
          core.awaitAnswer();
        }
        throw told;
      }
      core.awaitAnswer();
      return result;
    } finally {
      core.leaveAlone();
    }
  }

  private static OwnTables begin(TransactionCore core) {
    if (core.hasSavepoint()) {
      throw new Misuse.OfState(
          "a transaction that has a savepoint cannot create, drop or truncate tables: a rollback to it would not"
              + " undo that; release the savepoint first");
    }
    core.writer().holds().useHere(); // and it has an id from now on
    OwnTables before = core.ownTables();
    return before != null ? before : new OwnTables();
  }
}
