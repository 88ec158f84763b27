package org.revenantdb.suite.copies;

import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.FollowerOptions;
import org.revenantdb.engine.StorageException;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.IsolationLevel;
import org.revenantdb.suite.model.ModelFailure;

/**
 * Reads from a follower are transactions of the history: each sees all that was shipped before it
 * began, and none goes back. After a crash the follower shows at least what it has shown. The
 * database goes on, and the follower with it.
 */
class FollowLives extends ArchivedLives {

  private static final String FOLLOWER = "follower";

  /**
   * What the follower has shown.
   *
   * @param least it had all transactions that were acknowledged before this place
   * @param lsn it had the log until there
   * @param done the place at which that was known
   */
  record Shown(long least, long lsn, long done) {}

  private final List<Shown> shown = new CopyOnWriteArrayList<>();

  /** Shared by readers, exclusive for a change of the follower. */
  private final ReentrantReadWriteLock inUse = new ReentrantReadWriteLock();

  private @Nullable Follower follower;

  FollowLives(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
    super(machines, level, seed, random);
  }

  private static FollowerOptions options() {
    return FollowerOptions.defaults()
        .withDatabase(small())
        .withInterval(LONG)
        .withFoldBytes(1 << 20);
  }

  @Override
  final void beside(Database db) {
    ship(db);
    inUse.writeLock().lock();
    try {
      Follower now = follower;
      if (now == null || random.nextInt(8) == 0) {
        if (now != null) {
          now.close();
        }
        follower = follow(machines.path(Machine.FOLLOWER, FOLLOWER));
      }
    } finally {
      inUse.writeLock().unlock();
    }
  }

  private Follower follow(Path own) {
    return Database.follow(machines.path(Machine.ARCHIVE, ARCHIVE), own, options());
  }

  @Override
  final HistoryStore.@Nullable Tx beginToRead(Database db, boolean lazy) {
    inUse.readLock().lock();
    boolean begun = false;
    try {
      Follower now = follower;
      if (now == null) {
        return null;
      }
      HistoryStore.Tx tx = lastTx(refreshed(db, now), lazy, inUse.readLock()::unlock);
      begun = true;
      return tx;
    } finally {
      if (!begun) {
        inUse.readLock().unlock();
      }
    }
  }

  /** The follower as a store, when it has all that was acknowledged. */
  private Snapshot refreshed(Database db, Follower of) {
    long least = ship(db);
    refresh(of);
    Snapshot snapshot = new Snapshot(of.snapshot());
    try {
      shown.add(new Shown(least, of.statistics().lsn(), now()));
    } catch (Throwable failed) {
      snapshot.close();
      throw failed;
    }
    return snapshot;
  }

  /** Begins the only transaction of a snapshot. If it cannot begin, the snapshot is closed. */
  private static HistoryStore.Tx lastTx(Snapshot snapshot, boolean lazy, Runnable ended) {
    try {
      return new LastTx(snapshot.begin(lazy), snapshot, ended);
    } catch (Throwable failed) {
      snapshot.close();
      throw failed;
    }
  }

  /** Lets a follower take all that was shipped. */
  void refresh(Follower of) {
    of.refresh();
  }

  @Override
  final void ending(Database db) {
    Follower now = follower;
    if (now == null) {
      ship(db);
    } else {
      refreshed(db, now).close();
    }
  }

  @Override
  final void closed() {
    Follower now = follower;
    if (now != null) {
      now.close();
    }
  }

  @Override
  void check(Crashed crashed) throws Exception {
    Follower again = followAgain(crashed);
    if (again == null) {
      return;
    }
    try (again) {
      proceed(crashed, again);
    }
  }

  /** What was shown last before a crash; null if nothing was. */
  final @Nullable Shown shownBefore(long place) {
    return shown.stream().filter(one -> one.done < place).reduce(null, FollowLives::later);
  }

  private static Shown later(@Nullable Shown one, Shown other) {
    return one == null || other.least > one.least ? other : one;
  }

  /** Begins to follow after a crash; null if it is refused as it may be. */
  final @Nullable Follower followAgain(Crashed crashed) {
    Shown last = shownBefore(crashed.place());
    Follower again;
    try {
      again =
          Database.follow(
              crashed.path(Machine.ARCHIVE, ARCHIVE),
              crashed.path(Machine.FOLLOWER, FOLLOWER),
              options());
    } catch (StorageException told) {
      if (last != null) {
        throw told;
      }
      refused(
          told,
          StorageException.Reason.ARCHIVE_LACKS_MOMENT,
          StorageException.Reason.NOT_A_DATABASE,
          StorageException.Reason.FOLLOWER,
          StorageException.Reason.MISSING_FILE);
      return null;
    }
    if (last != null) {
      try {
        demandShown(again, last, crashed);
      } catch (Throwable failed) {
        again.close();
        throw failed;
      }
    }
    return again;
  }

  /** A follower shows at least what it has shown before the crash. */
  private void demandShown(Follower again, Shown last, Crashed crashed) {
    if (again.statistics().lsn() < last.lsn) {
      throw new ModelFailure(
          "the follower shows LSN " + again.statistics().lsn() + " after " + last.lsn);
    }
    History before = history().cutBetween(last.least, crashed.place());
    HistoryRecorder recorder = HistoryRecorder.after(before);
    try (Snapshot snapshot = new Snapshot(again.snapshot())) {
      look(before.lives() - 1, snapshot, recorder::session);
    }
    recorder.closed();
    judge(recorder.history(), "the follower after the crash, from " + last.least);
  }

  private void proceed(Crashed crashed, Follower again) throws Exception {
    History before = history().cutAt(crashed.place());
    HistoryRecorder recorder = HistoryRecorder.after(before);
    int life = before.lives() - 1;
    Database db = opened(crashed);
    try (HistoryStore store = new Following(on(db), db, again)) {
      live(recorder, life, store);
      ship(db);
      again.refresh();
    }
    recorder.closed();
    try (Snapshot snapshot = new Snapshot(again.snapshot())) {
      look(life + 1, snapshot, recorder::session);
    }
    recorder.closed();
    judge(recorder.history(), "the follower of the recovered database");
  }

  /** The database after a crash, with reads from its follower. */
  private final class Following implements HistoryStore {
    private final HistoryStore own;
    private final Database db;
    private final Follower of;

    Following(HistoryStore own, Database db, Follower of) {
      this.own = own;
      this.db = db;
      this.of = of;
    }

    @Override
    public Tx begin(boolean lazy) {
      return own.begin(lazy);
    }

    @Override
    public Tx beginToRead(boolean lazy) {
      return lastTx(refreshed(db, of), lazy, () -> {});
    }

    @Override
    public void sync() {
      own.sync();
    }

    @Override
    public void close() {
      own.close();
    }
  }

  /** A snapshot of a follower; each transaction reads it. */
  private final class Snapshot implements HistoryStore {
    private final HistoryStore view;

    Snapshot(Database db) {
      view = on(db);
    }

    @Override
    public Tx begin(boolean lazy) {
      return view.beginToRead(lazy);
    }

    @Override
    public void sync() {}

    @Override
    public void close() {
      view.close();
    }
  }

  /** The only transaction of a snapshot, which ends with it. */
  private record LastTx(HistoryStore.Tx tx, Snapshot of, Runnable ended)
      implements HistoryStore.Tx {
    @Override
    public int[] readList(int key) {
      return tx.readList(key);
    }

    @Override
    public int readRegister(int key) {
      return tx.readRegister(key);
    }

    @Override
    public SortedMap<Integer, int[]> readLists(int from, int to) {
      return tx.readLists(from, to);
    }

    @Override
    public SortedMap<Integer, Integer> readRegisters(int from, int to) {
      return tx.readRegisters(from, to);
    }

    @Override
    public void append(int key, int value) {
      tx.append(key, value);
    }

    @Override
    public void write(int key, int value) {
      tx.write(key, value);
    }

    @Override
    public void commit() {
      tx.commit();
    }

    @Override
    public void close() {
      try (of) {
        tx.close();
      } finally {
        ended.run();
      }
    }
  }
}
