package org.revenantdb.suite.copies;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.history.HistoryDriver;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.chaos.history.HistoryWorkload;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.StorageException;
import org.revenantdb.history.CheckResult;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryChecker;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.HistorySession;
import org.revenantdb.history.IsolationLevel;
import org.revenantdb.history.Precedence;
import org.revenantdb.suite.crash.HistoryBinding;
import org.revenantdb.suite.model.ModelFailure;

/**
 * Recorded lives of a database of which copies are made, and what must be true of the copies after
 * a crash.
 */
abstract class CopyLives {

  private static final int LIVES = 2;
  private static final HistoryWorkload WORKLOAD = new HistoryWorkload(3, 30, 16, 5);

  /** After a crash: its first reads already show whether the content is right. */
  private static final HistoryWorkload FEW = WORKLOAD.withTransactions(5);

  /** Nothing happens by itself in a recording. */
  static final Duration LONG = Duration.ofHours(12);

  static final String DATABASE = "db";

  final Machines machines;
  final RandomGenerator random;
  private final IsolationLevel level;
  private final long seed;
  private @Nullable History history;
  private int checks;
  private int refused;

  CopyLives(Machines machines, IsolationLevel level, long seed, RandomGenerator random) {
    this.machines = machines;
    this.level = level;
    this.seed = seed;
    this.random = random;
  }

  /** A place of the clock of all machines. */
  final long now() {
    return machines.clock().next();
  }

  /** The small database of the crash suite. */
  static DatabaseOptions small() {
    return DatabaseOptions.defaults()
        .withPoolBytes(2 << 20)
        .withLogSegmentBytes(1 << 20)
        .withMaxRecoveryLog(4 << 20)
        .withShortTransactionRows(4)
        .withCountersFile(false)
        .withLeakListener(forgotten -> {});
  }

  /** Opens the database on the recorded machines. */
  abstract Database open();

  /** Works on copies, now and then; one thread at a time. */
  abstract void beside(Database db);

  /** The clients of a life are done. */
  void ending(Database db) {}

  /** Begins a transaction that only reads, from a copy; null: from the database. */
  HistoryStore.@Nullable Tx beginToRead(Database db, boolean lazy) {
    return null;
  }

  /** A step that a failure must not skip, and whose own failure must not hide it. */
  private interface Ending extends AutoCloseable {
    @Override
    void close();
  }

  /** Ends what is open, after the last life, or after a failure. */
  void closed() {}

  /** Places at which a copy was finished. */
  abstract List<Long> places();

  /** Checks copies after a crash. */
  abstract void check(Crashed crashed) throws Exception;

  /** Records all lives. */
  final void record() throws Exception {
    HistoryRecorder recorder = new HistoryRecorder(machines.clock()::next);
    try (Ending _ = this::closed) {
      for (int life = 0; life < LIVES; life++) {
        Database db = open();
        try (HistoryStore store = new CopiedStore(this, db, on(db))) {
          new HistoryDriver(WORKLOAD, seed, life).run(store, recorder::session);
          ending(db);
        }
        recorder.closed();
      }
    }
    history = recorder.history();
    judge(history(), "beside its copies");
  }

  final History history() {
    return Objects.requireNonNull(history);
  }

  final HistoryBinding on(Database db) {
    return HistoryBinding.on(db, level);
  }

  /** The next life after a history, on a database that is then closed. */
  final void live(HistoryRecorder recorder, int life, Database db) throws Exception {
    try (HistoryStore store = on(db)) {
      live(recorder, life, store);
      if (!db.check().isSound()) {
        throw new ModelFailure("a copy is not sound: " + db.check().problems());
      }
    }
    recorder.closed();
  }

  /** The next life after a history, on a store that stays open. */
  final void live(HistoryRecorder recorder, int life, HistoryStore store) throws Exception {
    new HistoryDriver(FEW, seed, life).run(store, recorder::session);
  }

  /** Reads all that earlier lives have written. */
  final void look(int life, HistoryStore store, IntFunction<HistorySession> sessions) {
    new HistoryDriver(FEW, seed, life).look(store, sessions);
  }

  /** A copy is opened and used; it must be a legal end of a history. */
  final void copy(String what, History before, Database copy) throws Exception {
    HistoryRecorder recorder = HistoryRecorder.after(before);
    live(recorder, before.lives() - 1, copy);
    judge(recorder.history(), what);
  }

  /** Checks a history at its level and those below it, with real time. */
  final void judge(History whole, String what) {
    for (IsolationLevel one : IsolationLevel.values()) {
      if (one.compareTo(level) <= 0) {
        CheckResult result = HistoryChecker.check(whole, one, Precedence.REAL_TIME);
        if (!result.holds()) {
          throw new ModelFailure(what + ": " + one + " forbids " + result.counts() + "\n" + result);
        }
      }
    }
    checks++;
  }

  /** A copy that was not finished was refused, as it has to be. */
  final void refused(StorageException told, StorageException.Reason... allowed) {
    if (!List.of(allowed).contains(told.reason())) {
      throw told;
    }
    refused++;
  }

  /** Since the last call. */
  final int takeChecks() {
    int taken = checks;
    checks = 0;
    return taken;
  }

  /** Since the last call. */
  final int takeRefused() {
    int taken = refused;
    refused = 0;
    return taken;
  }
}
