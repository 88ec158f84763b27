package org.revenantdb.jmh.tpcc;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * The smallest TPC-C as a subject of the crash-testing framework: after each crash the conditions
 * of the specification hold, and all promises are kept.
 *
 * <p>The promises are about a separate table: each transaction also writes its number in a row of
 * its session. So the last acknowledged number must be there, and the conditions show that the rest
 * is complete.
 */
class TpccSubject implements CrashSubject<Database> {
  private static final TpccScale SCALE = TpccScale.of(2, 0.0001);
  private static final int SESSIONS = 2;
  private static final int TRANSACTIONS = 40;
  private static final int TRANSACTIONS_OF_A_RESUME = 4;
  private static final String MARKS = "marks";

  /** The mark of a load that has ended. */
  private static final String LOADED = "loaded";

  private static final TransactionOptions OPTIONS =
      TransactionOptions.durable().withDeferReadWaitsToCommit(true);

  @Override
  public Database open(Path dir) {
    return Database.open(
        dir.resolve("db"),
        DatabaseOptions.defaults()
            .withPoolBytes(2L << 20)
            .withLogSegmentBytes(1 << 20)
            .withMaxRecoveryLog(4L << 20)
            .withCountersFile(false));
  }

  @Override
  public void work(Database db, Promises promises) throws Exception {
    TpccTables tables = TpccTables.of(db);
    TpccLoader.load(db, tables, SCALE, promises.seed());
    mark(db, promises, LOADED, transaction -> {});
    workTogether(db, tables, promises, TRANSACTIONS / 2);
    db.checkpoint();
    workTogether(db, tables, promises, TRANSACTIONS / 2);
  }

  @Override
  public void resume(Database db, Promises promises) throws Exception {
    TpccTables tables = TpccTables.of(db);
    TpccLoader.load(db, tables, SCALE, promises.seed());
    work(db, tables, promises, 0, TRANSACTIONS_OF_A_RESUME);
  }

  private static void workTogether(
      Database db, TpccTables tables, Promises promises, int transactions) throws Exception {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      int session = i;
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  work(db, tables, promises, session, transactions);
                } catch (Throwable thrown) {
                  failure.compareAndSet(null, thrown);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("a session failed", thrown);
    }
  }

  private static void work(
      Database db, TpccTables tables, Promises promises, int session, int transactions) {
    TpccMix mix = new TpccMix(tables, SCALE, session, promises.seed());
    for (int i = 0; i < transactions; i++) {
      mark(db, promises, "session " + session, mix.next()::run);
    }
  }

  /** The work beside the mark. */
  @FunctionalInterface
  private interface Work {
    void run(Transaction transaction);
  }

  /** Each attempt is a separate group: a rolled back one must not be there. */
  private static void mark(Database db, Promises promises, String key, Work work) {
    Table marks = db.getOrCreateTable(MARKS);
    AtomicReference<Promises.@Nullable Group> group = new AtomicReference<>();
    int[] attempt = {0};
    try {
      db.run(
          OPTIONS,
          transaction -> {
            Promises.Group former = group.get();
            if (former != null) {
              former.rolledBack();
            }
            Promises.Group said = promises.begin();
            group.set(said);
            work.run(transaction);
            byte[] bytes = key.getBytes(US_ASCII);
            byte[] before = transaction.get(marks, bytes);
            int count = before == null ? 0 : TpccRows.getInt(before, 0);
            byte[] value = new byte[2 * Integer.BYTES + Long.BYTES];
            TpccRows.putInt(value, 0, count + 1);
            TpccRows.putInt(value, Integer.BYTES, attempt[0]++);
            TpccRows.putLong(value, 2 * Integer.BYTES, promises.seed());
            transaction.put(marks, bytes, value);
            said.put(bytes, value);
            said.committing();
          });
      Promises.Group committed = group.get();
      if (committed != null) {
        committed.durable();
      }
    } catch (UnusedItemException _) {
      Promises.Group unused = group.get();
      if (unused != null) {
        unused.rolledBack();
      }
    }
  }

  @Override
  public void check(Database db, Recovered recovered) {
    CheckReport report = db.check();
    for (String problem : report.problems()) {
      recovered.demand(false, problem);
    }
    TpccTables tables = TpccTables.of(db);
    for (TpccViolation violation : TpccChecker.check(db, tables)) {
      recovered.demand(false, violation.toString());
    }
    List<Map.Entry<byte[], byte[]>> marks = new ArrayList<>();
    try (Transaction transaction = db.begin();
        Cursor cursor = transaction.scan(db.getOrCreateTable(MARKS), null, null)) {
      while (cursor.next()) {
        marks.add(Map.entry(cursor.key(), cursor.value()));
      }
      boolean loaded = transaction.exists(db.getOrCreateTable(MARKS), LOADED.getBytes(US_ASCII));
      long warehouses = transaction.count(tables.warehouse(), null, null);
      recovered.demand(
          !loaded || warehouses == SCALE.warehouses(), "there are " + warehouses + " warehouses");
    }
    recovered.verifyAllBytes(marks);
  }
}
