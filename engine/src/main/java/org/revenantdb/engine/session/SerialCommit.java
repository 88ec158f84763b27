package org.revenantdb.engine.session;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.serial.ChangedException;
import org.revenantdb.engine.serial.Commit;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.version.RowRange;
import org.revenantdb.engine.version.RowWriter;

/**
 * The steps of a commit for serializable transactions: the validation of their reads, their place
 * in the order of commits, and the data about a commit that the certifier receives.
 *
 * <p>Threads: the thread that is inside the transaction. {@link #run} is called outside of the
 * gate, everything else inside.
 */
final class SerialCommit {
  /*
   * Protocol    docs/protocols.md §34.
   *
   * Steps       1  validate   outside of the gate, as it may take as long as all reads did: what was committed since the
   *                           snapshot has changed nothing that was read
   *             2  enter      with the gate of the certifier alone: nor has what was committed since step 1
   *             3  publish    in that gate, so nothing comes between
   *             Step 2 may find that it cannot tell, as the certifier does not know the rows of some commit. Then step 1
   *             is repeated; after three times that counts as a conflict.
   *
   * Skipped     a transaction that has only read, in its snapshot, is as of its snapshot. It needs no validation, unless
   *             another one was prepared meanwhile: that may have been before or after the snapshot.
   *
   * Conflict    the transaction can only be rolled back, and no savepoint is far enough back. The answer depends on the
   *             commit that was in the way, or on all that is in the log, if that commit is not known (R10).
   */
  /** The number of leaves that are read before others may close or check the database. */
  private static final int LEAVES_AT_ONCE = 64;

  /** How often a transaction is validated. */
  private static final int MOST_LOOKS = 3;

  private SerialCommit() {}

  /**
   * Thrown if step 2 cannot decide: others have committed since step 1, and their changes are not
   * known.
   */
  private static final class StaleException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    StaleException() {
      super(null, null, /* enableSuppression= */ false, /* writableStackTrace= */ false);
    }
  }

  /**
   * Validates a serializable transaction, and runs the publication of its outcome inside the gate.
   */
  static void run(TransactionCore core, CommitPath.Publication publication) {
    for (int looks = 1; ; looks++) {
      Certifier.Validated validated = validate(core);
      try {
        CommitPath.runInGate(core, publication, validated);
        return;
      } catch (StaleException e) {
        if (looks == MOST_LOOKS) {
          throw changed(core, 0);
        }
      }
    }
  }

  /** Step 1; null if it is skipped. */
  private static Certifier.@Nullable Validated validate(TransactionCore core) {
    SerialReads own = core.reads();
    if (own == null || isAsOfItsSnapshot(core, own)) {
      return null;
    }
    core.checkOpen();
    try {
      return core.engine()
          .certifier()
          .validate(own, (tree, from, to) -> isChanged(core, tree, from, to));
    } catch (ChangedException told) {
      throw changed(core, told.lsn());
    }
  }

  private static boolean isAsOfItsSnapshot(TransactionCore core, SerialReads own) {
    return core.id() == 0
        && !own.isOfNow()
        && !core.engine().storage().transactions().hasPreparedAbove(core.snapshot());
  }

  /** Whether rows of a range were changed since; in steps, each inside the gate. */
  private static boolean isChanged(
      TransactionCore core, Tree tree, byte[] from, byte @Nullable [] to) {
    Engine engine = core.engine();
    RowRange range =
        new RowRange(engine.storage(), engine.reader(), tree, core.reading(), from, to);
    boolean changed = false;
    while (!changed && range.hasMore()) {
      changed =
          core.insideGate(() -> {
            boolean found = false;
            for (int leaf = 0; leaf < LEAVES_AT_ONCE && !found && range.hasMore(); leaf++) {
              found = range.findChange();
            }
            return found;
          });
    }
    return changed;
  }

  /**
   * Takes the place of a transaction among commits.
   *
   * @param validated the result of step 1; null if that was not necessary
   * @return the pass for {@link Certifier#leave}
   */
  static long enter(TransactionCore core, Certifier.@Nullable Validated validated) {
    Certifier certifier = core.engine().certifier();
    SerialReads own = core.reads();
    if (own == null || validated == null) {
      return certifier.enter();
    }
    long pass;
    try {
      pass = certifier.enter(own, validated);
    } catch (ChangedException told) {
      throw changed(core, told.lsn());
    }
    if (pass == Certifier.UNGATED) {
      throw new StaleException();
    }
    return pass;
  }

  private static ConflictException changed(TransactionCore core, long lsn) {
    core.setCannotBeSerialized();
    core.witness().saw(lsn != 0 ? lsn : core.engine().storage().log().tail());
    return ApiAccess.api()
        .serializationConflict(
            "what this serializable transaction has read was changed by another transaction, which has committed since",
            core.cure());
  }

  /** The writes of a transaction, for the certifier; it was committed or prepared at this LSN. */
  static Commit written(TransactionCore core, long lsn) {
    List<Commit.Row> rows = new ArrayList<>();
    RowWriter used = core.usedWriter();
    boolean isKnown =
        used == null
            || used.history().forEachWritten((tree, key) -> rows.add(new Commit.Row(tree, key)));
    List<Integer> gone = new ArrayList<>();
    List<String> names = new ArrayList<>();
    OwnTables own = core.ownTables();
    if (own != null) {
      own.forEach((table, now) -> {
        names.add(table.name());
        TableState.of(table)
            .newest()
            .all()
            .forEach(tree -> gone.add(tree.table())); // the trees that others see until now
      });
    }
    return new Commit(lsn, rows, isKnown, gone, names);
  }
}
