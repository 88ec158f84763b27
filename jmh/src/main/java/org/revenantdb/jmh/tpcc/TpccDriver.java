package org.revenantdb.jmh.tpcc;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.Waits;
import org.revenantdb.jmh.fork.Sessions;

/**
 * Sessions on platform threads, for a number of transactions each or for a time, without thinking
 * or typing times. To be used once, by one thread.
 */
public final class TpccDriver {
  private final Database database;
  private final TpccTables tables;
  private final TpccScale scale;
  private final TransactionOptions options;
  private final int sessions;
  private final long seed;

  /** Those that were made, for their counts. */
  private final List<TpccSession> made = new CopyOnWriteArrayList<>();

  /**
   * Describes a run.
   *
   * @param database that was loaded
   * @param tables of it
   * @param scale with which it was
   * @param options of each transaction
   * @param sessions how many
   * @param seed of all that is drawn
   */
  public TpccDriver(
      Database database,
      TpccTables tables,
      TpccScale scale,
      TransactionOptions options,
      int sessions,
      long seed) {
    this.database = database;
    this.tables = tables;
    this.scale = scale;
    this.options = options;
    this.sessions = sessions;
    this.seed = seed;
  }

  /**
   * Lets the code be compiled by a single session, because many sessions that wait for each other
   * take long.
   *
   * @param database that was loaded
   * @param tables of it
   * @param scale with which it was
   * @param seed of the random choices
   * @throws Exception if the session failed
   */
  public static void compile(Database database, TpccTables tables, TpccScale scale, long seed)
      throws Exception {
    Sessions.compile(
        new TpccSession(database, TransactionOptions.lazy(), new TpccMix(tables, scale, 0, ~seed)));
  }

  /**
   * The work done in a window of time.
   *
   * @param counts of the window
   * @param waits of the database in it
   * @param nanos how long it was
   * @param logBytes that came to the log in it
   * @param processorMicros of the whole process, for each transaction
   */
  public record Window(
      TpccCounts counts, Waits waits, long nanos, long logBytes, double processorMicros) {
    /**
     * Transactions a second of all types, rolled back ones among them.
     *
     * @return the rate
     */
    public double transactionsPerSecond() {
      return counts.total() * 1e9 / nanos;
    }

    /**
     * New-Orders that were committed, a minute.
     *
     * @return the rate
     */
    public double newOrdersPerMinute() {
      return counts.committed(TpccType.NEW_ORDER) * 60e9 / nanos;
    }
  }

  /** One end of a window. */
  private record Moment(TpccCounts counts, Waits waits, long logTail, long nanoTime) {}

  private Moment now() {
    return new Moment(
        counts(),
        database.waitStatistics(),
        database.statistics().files().logTail(),
        System.nanoTime());
  }

  /**
   * Runs all sessions for a time.
   *
   * @param times how long, to warm up and to count
   * @return the work done in the time that counts
   * @throws Exception if a session failed
   */
  public Window runFor(Sessions.Times times) throws Exception {
    return runFor(times, () -> {}, () -> {});
  }

  /**
   * Runs all sessions for a time.
   *
   * @param times how long, to warm up and to count
   * @param atStart run when it begins to count
   * @param atEnd run when that ends
   * @return the work done in the time that counts
   * @throws Exception if a session failed
   */
  public Window runFor(Sessions.Times times, Runnable atStart, Runnable atEnd) throws Exception {
    Moment[] ends = new Moment[2];
    Sessions.Result result =
        Sessions.run(
            sessions,
            /* virtual= */ false,
            times,
            this::session,
            () -> {
              ends[0] = now();
              atStart.run();
            },
            () -> {
              atEnd.run();
              ends[1] = now();
            });
    Moment start = ends[0];
    Moment end = ends[1];
    return new Window(
        end.counts().since(start.counts()),
        end.waits().since(start.waits()),
        end.nanoTime() - start.nanoTime(),
        end.logTail() - start.logTail(),
        result.processorMicros());
  }

  /**
   * Runs all sessions until each has done a number of transactions.
   *
   * @param transactions of each session
   * @return the work done
   * @throws InterruptedException if the caller is interrupted while it waits
   */
  public TpccCounts runEach(int transactions) throws InterruptedException {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < sessions; i++) {
      TpccSession session = session(i);
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int n = 0; n < transactions && failure.get() == null; n++) {
                    session.step();
                  }
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
    return counts();
  }

  private TpccSession session(int number) {
    TpccSession session =
        new TpccSession(database, options, new TpccMix(tables, scale, number, seed));
    made.add(session);
    return session;
  }

  /**
   * What all sessions have done, those that are done with among them; any thread may ask.
   *
   * @return counts since they began
   */
  public TpccCounts counts() {
    Map<TpccType, Long> committed = new EnumMap<>(TpccType.class);
    long rolledBack = 0;
    long conflicts = 0;
    for (TpccSession session : made) {
      TpccCounts counts = session.counts();
      counts.committed().forEach((type, count) -> committed.merge(type, count, Long::sum));
      rolledBack += counts.rolledBack();
      conflicts += counts.conflicts();
    }
    return new TpccCounts(committed, rolledBack, conflicts);
  }
}
