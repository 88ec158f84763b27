package org.revenantdb.jmh.insert;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.WaitCounts;
import org.revenantdb.engine.Waits;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.fork.WarmUp;

/**
 * A JVM in which many sessions insert a number of rows into one table, each in a separate
 * transaction, without a pause.
 *
 * <p>Arguments: directory, class of the engine or a way of ours, sessions, rows, bytes of its
 * cache, {@code lazy} or {@code durable}.
 */
public final class InsertFork {
  private static final byte[] VALUE =
      "testing heavy".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

  /** Rows of a round of inserts into another store before, which has the code compiled. */
  private static final int WARM_ROWS = 200_000;

  private static final int WARM_ROWS_DURABLE = 10_000;

  private InsertFork() {}

  /**
   * Prints {@code = inserts} a second, {@code = seconds}; of ours the waits for latches of pages:
   * {@code page_waits_per_insert}, {@code page_wait_avg_us}, {@code page_wait_max_us}, {@code
   * page_wait_ms} of all sessions together.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    String engine = arguments[1];
    int sessions = Integer.parseInt(arguments[2]);
    int rows = Integer.parseInt(arguments[3]) / sessions * sessions;
    long cache = Long.parseLong(arguments[4]);
    Durability durability = Durability.valueOf(arguments[5].toUpperCase(Locale.ROOT));
    int warm = durability == Durability.LAZY ? WARM_ROWS : WARM_ROWS_DURABLE;
    try (InsertStore store =
        open(engine, Files.createDirectories(directory.resolve("warm")), durability, cache)) {
      int each = Math.min(rows, warm) / sessions;
      WarmUp.untilSteady(() -> insert(store, sessions, each));
    }
    try (InsertStore store =
        open(engine, Files.createDirectories(directory.resolve("measured")), durability, cache)) {
      Waits before = store instanceof RevenantInserts ours ? ours.waits() : null;
      double seconds = insert(store, sessions, rows / sessions);
      Told.tell("inserts", rows / seconds);
      Told.tell("seconds", seconds);
      if (store instanceof RevenantInserts ours && before != null) {
        tell(RevenantInserts.pageLatches(ours.waits().since(before)), rows);
      }
      long there = store.rows();
      if (there != rows) {
        throw new IllegalStateException(there + " rows of " + rows + " are there");
      }
    }
  }

  private static void tell(WaitCounts waits, int rows) {
    Told.tell("page_waits_per_insert", (double) waits.count() / rows);
    Told.tell("page_wait_avg_us", waits.averageNanos() / 1e3);
    Told.tell("page_wait_max_us", waits.maxNanos() / 1e3);
    Told.tell("page_wait_ms", waits.totalNanos() / 1e6);
  }

  private static InsertStore open(
      String engine, Path directory, Durability durability, long cacheBytes)
      throws ReflectiveOperationException {
    for (RevenantInserts.Way way : RevenantInserts.Way.values()) {
      if (way.name().equals(engine)) {
        return new RevenantInserts(directory, way, durability, cacheBytes);
      }
    }
    return Class.forName(engine)
        .asSubclass(InsertStore.class)
        .getDeclaredConstructor(Path.class, boolean.class, long.class)
        .newInstance(directory, durability == Durability.DURABLE, cacheBytes);
  }

  /** Has each session insert its rows; how many seconds that took. */
  static double insert(InsertStore store, int sessions, int each) throws Exception {
    CountDownLatch go = new CountDownLatch(1);
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < sessions; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  go.await();
                  for (int row = 0; row < each && failure.get() == null; row++) {
                    store.insert(VALUE);
                  }
                } catch (Throwable thrown) {
                  failure.compareAndSet(null, thrown);
                }
              }));
    }
    long start = System.nanoTime();
    go.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("a session failed", thrown);
    }
    return seconds;
  }
}
