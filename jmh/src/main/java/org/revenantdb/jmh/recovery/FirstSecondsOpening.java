package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.contend.WaitHistogram;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;

/**
 * A fresh JVM that opens a database, and two threads that read and update random rows from the
 * moment on in which {@code open} returns: half and half, a transaction each, lazily committed.
 * They go on while the pages are redone, and after that: then is the <em>steady state</em>, of the
 * same threads in the same JVM.
 *
 * <p>Arguments: directory, rows to choose from, bytes of memory for pages, milliseconds of the
 * first window, milliseconds before the second one, milliseconds of that, seed, the suffix of the
 * names of its figures.
 */
public final class FirstSecondsOpening {
  /*
   * Each thread counts its steps by the tenth of a second in which they ended, in an array of its own. The main thread
   * reads the arrays when it has joined the threads. So both windows are sums over the same counts.
   */
  private static final int THREADS = 2;
  private static final long SLOT = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long LOOK_MILLIS = 50;

  /** If redo takes longer than this, the result is useless. */
  private static final long LONGEST = TimeUnit.MINUTES.toNanos(2);

  private static final int MORE_SECONDS = 300;
  private static final int SLOTS = (int) ((LONGEST + MORE_SECONDS * SECOND) / SLOT);

  private final Database database;
  private final Table table;
  private final int rows;
  private final long opened;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile boolean isOver;

  private FirstSecondsOpening(Database database, Table table, int rows, long opened) {
    this.database = database;
    this.table = table;
    this.rows = rows;
    this.opened = opened;
  }

  /**
   * Prints {@code = first_seconds_ratio}, {@code = first_second_p99_ms}, the rates that they are
   * made from, and {@code = all_redone_beside_seconds}.
   *
   * @param arguments see the class
   * @throws Exception if a thread met something that it should not
   */
  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[1]);
    DatabaseOptions options = CrashImage.options(Long.parseLong(arguments[2]));
    long first = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[3]));
    long pause = Long.parseLong(arguments[4]);
    long steady = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments[5]));
    long seed = Long.parseLong(arguments[6]);
    String suffix = "," + arguments[7];
    try (Database database = Database.open(Path.of(arguments[0]), options)) {
      long opened = System.nanoTime();
      Table table = database.getOrCreateTable(CrashImage.ROWS);
      new FirstSecondsOpening(database, table, rows, opened)
          .run(first, pause, steady, seed, suffix);
      System.out.flush();
      Runtime.getRuntime().halt(0); // a close would write all pages: it is not opened again
    }
  }

  private void run(long first, long pauseMillis, long steady, long seed, String suffix)
      throws InterruptedException {
    List<Work> works = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Work work = new Work(seed + i);
      works.add(work);
      threads.add(Thread.ofPlatform().start(work));
    }
    Thread.sleep(TimeUnit.NANOSECONDS.toMillis(first));
    while (database.statistics().files().pendingPages() > 0) {
      if (System.nanoTime() - opened > LONGEST) {
        throw new IllegalStateException("not all is redone yet");
      }
      Thread.sleep(LOOK_MILLIS);
    }
    long redone = System.nanoTime() - opened;
    Thread.sleep(pauseMillis);
    long begin = System.nanoTime() - opened;
    Thread.sleep(TimeUnit.NANOSECONDS.toMillis(steady));
    isOver = true;
    WaitHistogram reads = new WaitHistogram();
    for (int i = 0; i < THREADS; i++) {
      threads.get(i).join();
      reads.add(works.get(i).reads);
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("a session failed", thrown);
    }
    double early = rate(works, 0, first);
    double late = rate(works, begin, steady);
    Told.tell("first_seconds_ratio" + suffix, early / late);
    Told.tell("first_second_p99_ms" + suffix, reads.percentile(0.99) / 1e6);
    Told.tell("first_second_longest_ms" + suffix, reads.max() / 1e6);
    Told.tell("first_seconds_rate" + suffix, early);
    Told.tell("steady_rate" + suffix, late);
    for (long second = 0; second * SECOND < first; second++) {
      double one = rate(works, second * SECOND, Math.min(SECOND, first - second * SECOND));
      Told.tell("rate_in_second,second=" + (second + 1) + suffix, one);
    }
    Told.tell("all_redone_beside_seconds" + suffix, redone / 1e9);
  }

  /** Steps a second of all threads, in whole tenths of a second. */
  private static double rate(List<Work> works, long from, long nanos) {
    int firstSlot = (int) (from / SLOT);
    int slots = (int) Math.max(1, nanos / SLOT);
    long steps = 0;
    for (Work work : works) {
      for (int slot = firstSlot; slot < firstSlot + slots; slot++) {
        steps += work.steps[slot];
      }
    }
    return steps * 1e9 / (slots * SLOT);
  }

  private final class Work implements Runnable {
    private final int[] steps = new int[SLOTS];
    private final WaitHistogram reads = new WaitHistogram();
    private final SplittableRandom random;

    private Work(long seed) {
      random = new SplittableRandom(seed);
    }

    @Override
    public void run() {
      try {
        while (!isOver) {
          step();
        }
      } catch (Throwable thrown) {
        failure.compareAndSet(null, thrown);
      }
    }

    private void step() {
      long key = random.nextInt(rows);
      long start = System.nanoTime();
      boolean isRead = random.nextBoolean();
      if (isRead) {
        byte[] row;
        try (Transaction tx = database.begin(TransactionOptions.lazy())) {
          row = tx.get(table, RowNumbers.key(key));
          tx.commit();
        }
        BigRows.demand(key, row);
      } else {
        byte[] row = BigRows.row(key, random.nextInt());
        database.run(TransactionOptions.lazy(), tx -> tx.put(table, RowNumbers.key(key), row));
      }
      long end = System.nanoTime();
      steps[(int) ((end - opened) / SLOT)]++;
      if (isRead && end - opened < SECOND) {
        reads.record(end - start);
      }
    }
  }
}
