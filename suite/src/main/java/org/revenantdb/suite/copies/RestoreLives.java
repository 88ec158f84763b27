package org.revenantdb.suite.copies;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.IsolationLevel;

/**
 * Restores to a moment. A moment that was shipped before a crash has exactly the commits until
 * then. The end of the archive is a prefix with all that was shipped. The database goes on after
 * the crash, with the same archive.
 */
class RestoreLives extends ArchivedLives {

  /**
   * A moment.
   *
   * @param lsn the tail of the log, read between two places
   */
  private record Moment(long lsn, long least, long most) {}

  private final List<Moment> moments = new CopyOnWriteArrayList<>();
  private int targets;

  RestoreLives(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
    super(machines, level, seed, random);
  }

  @Override
  void beside(Database db) {
    if (places().isEmpty()) {
      ship(db); // the archive has no moment before its first base
    }
    long least = now();
    long lsn = db.statistics().files().logTail();
    moments.add(new Moment(lsn, least, now()));
    if (random.nextInt(3) > 0) {
      ship(db);
    }
  }

  @Override
  void check(Crashed crashed) throws Exception {
    Shipped shipped = shippedBefore(crashed.place());
    if (shipped != null) {
      List<Moment> ready = moments.stream().filter(one -> one.most < shipped.least()).toList();
      if (!ready.isEmpty()) {
        Moment one = ready.get(random.nextInt(ready.size()));
        copy(
            "restored to LSN " + one.lsn + ", from " + one.least + " to " + one.most,
            history().cutBetween(one.least, one.most),
            restored(crashed, RestoreRequest.atLsn(one.lsn)));
      }
    }
    end(crashed, shipped);
    proceed(crashed);
  }

  private void end(Crashed crashed, @Nullable Shipped shipped) throws Exception {
    Database copy;
    try {
      copy = restored(crashed, RestoreRequest.latest());
    } catch (StorageException told) {
      if (shipped != null) {
        throw told;
      }
      refused(
          told,
          StorageException.Reason.ARCHIVE_LACKS_MOMENT,
          StorageException.Reason.NOT_A_DATABASE,
          StorageException.Reason.MISSING_FILE);
      return;
    }
    long least = shipped == null ? 0 : shipped.least();
    copy("restored to the end, from " + least, history().cutBetween(least, crashed.place()), copy);
  }

  private void proceed(Crashed crashed) throws Exception {
    History before = history().cutAt(crashed.place());
    HistoryRecorder recorder = HistoryRecorder.after(before);
    int life = before.lives() - 1;
    Database db = opened(crashed);
    try (HistoryStore store = on(db)) {
      live(recorder, life, store);
      ship(db);
    }
    recorder.closed();
    live(recorder, life + 1, restored(crashed, RestoreRequest.latest()));
    judge(recorder.history(), "restored after the crash");
  }

  /** Restores to a moment, and opens the result. */
  Database restored(Crashed crashed, RestoreRequest moment) {
    Path target = crashed.path(Machine.ARCHIVE, "restored" + targets++);
    Database.restore(crashed.path(Machine.ARCHIVE, ARCHIVE), target, moment);
    return Database.open(target, small().withCreate(false));
  }
}
