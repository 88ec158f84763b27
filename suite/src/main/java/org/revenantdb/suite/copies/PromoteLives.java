package org.revenantdb.suite.copies;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.IsolationLevel;
import org.revenantdb.suite.model.ModelFailure;

/**
 * After a crash the follower is promoted, beside a former writer that goes on, or before it comes
 * back. The promoted database has all that was shipped, and nothing of what the former writer
 * commits behind the promotion. The former writer is refused by its archive.
 */
class PromoteLives extends FollowLives {

  /** No history has it. */
  private static final int FOREIGN = Integer.MAX_VALUE;

  PromoteLives(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
    super(machines, level, seed, random);
  }

  @Override
  void check(Crashed crashed) throws Exception {
    Follower follower = followAgain(crashed);
    if (follower == null) {
      return;
    }
    try (follower) {
      Shown last = shownBefore(crashed.place());
      if (last == null || random.nextBoolean()) {
        besideZombie(crashed, follower);
      } else {
        beforeZombie(crashed, follower, last);
      }
    }
    demandRefused(crashed);
  }

  private Database promoted(Crashed crashed, Follower follower) {
    return promote(follower, promotedOptions(crashed));
  }

  /** Promotes the follower. */
  Database promote(Follower follower, DatabaseOptions options) {
    return follower.promote(options);
  }

  private DatabaseOptions promotedOptions(Crashed crashed) {
    return random.nextBoolean() ? small() : with(crashed.path(Machine.FOLLOWER, ARCHIVE));
  }

  private void beforeZombie(Crashed crashed, Follower follower, Shown last) throws Exception {
    copy(
        "promoted after the crash, from " + last.least(),
        history().cutBetween(last.least(), crashed.place()),
        promoted(crashed, follower));
  }

  private void besideZombie(Crashed crashed, Follower follower) throws Exception {
    History before = history().cutAt(crashed.place());
    HistoryRecorder recorder = HistoryRecorder.after(before);
    int life = before.lives() - 1;
    Database db = opened(crashed);
    HistoryStore zombie = on(db);
    try {
      live(recorder, life, zombie);
      ship(db);
      recorder.closed(); // for the history: the next transactions are those of the promoted one
      try (Database promoted = promoted(crashed, follower)) {
        goOn(zombie);
        demandFenced(db);
        live(recorder, life + 1, promoted);
      }
      goOn(zombie);
    } finally {
      closeStopped(db);
    }
    judge(recorder.history(), "promoted beside a former writer");
  }

  /** Commits what the promoted database must not have, unless the engine has stopped. */
  private static void goOn(HistoryStore zombie) {
    try (HistoryStore.Tx tx = zombie.begin(/* lazy= */ false)) {
      tx.append(0, FOREIGN);
      tx.write(1, FOREIGN);
      tx.commit();
    } catch (DatabaseStoppedException | OutcomeUnknownException stopped) {
      // So it has to be, sooner or later.
    }
  }

  private static void demandFenced(Database zombie) {
    try {
      zombie.archiveNow();
    } catch (StorageException told) {
      if (told.reason() == StorageException.Reason.FENCED) {
        return;
      }
      throw told;
    }
    throw new ModelFailure("a former writer still writes to its archive");
  }

  private static void closeStopped(@Nullable Database db) {
    if (db != null) {
      try {
        db.close();
      } catch (DatabaseStoppedException stopped) {
        // It was fenced.
      }
    }
  }

  private void demandRefused(Crashed crashed) {
    try {
      opened(crashed).close();
    } catch (StorageException told) {
      refused(told, StorageException.Reason.FENCED);
      return;
    }
    throw new ModelFailure("a former writer that comes back is not refused");
  }
}
