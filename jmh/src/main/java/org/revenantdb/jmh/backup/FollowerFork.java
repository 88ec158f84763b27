package org.revenantdb.jmh.backup;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.Follower;
import org.revenantdb.engine.FollowerOptions;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM with a database that commits at a fixed rate, and a follower of its archive: how old is
 * what a reader of the follower sees, and how long does a promotion take?
 *
 * <p>Arguments: directory, rows, seconds, commits a second, seed.
 */
public final class FollowerFork {
  private static final int VALUE = 100;

  /** Of archive and follower. */
  private static final Duration INTERVAL = Duration.ofMillis(200);

  private static final long WARM_UP = TimeUnit.SECONDS.toNanos(5);
  private static final byte[] STAMP = {0};

  private final Database db;
  private final Table table;
  private final int rows;
  private final long rate;
  private volatile boolean stopped;
  private long commits;

  private FollowerFork(Database db, Table table, int rows, long rate) {
    this.db = db;
    this.table = table;
    this.rows = rows;
    this.rate = rate;
  }

  /**
   * Prints {@code = follower_lag_ms} and {@code = promote_seconds}.
   *
   * @param arguments see the class
   * @throws Exception whatever goes wrong
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    int rows = Integer.parseInt(arguments[1]);
    long seconds = Long.parseLong(arguments[2]);
    long rate = Long.parseLong(arguments[3]);
    long seed = Long.parseLong(arguments[4]);
    Path archive = folder.resolve("archive");
    ArchiveOptions shipping =
        ArchiveOptions.to(archive).withInterval(INTERVAL).withListener(event -> {});
    try (Database db =
        Database.open(folder.resolve("writer"), DatabaseOptions.defaults().withArchive(shipping))) {
      FollowerFork fork = new FollowerFork(db, db.createTable("rows"), rows, rate);
      fork.load();
      db.archiveNow();
      Follower follower =
          Database.follow(
              archive,
              folder.resolve("follower"),
              FollowerOptions.defaults().withInterval(INTERVAL));
      follower.refresh();
      Thread writer = Thread.ofPlatform().start(() -> fork.write(new Random(seed)));
      long begun = System.nanoTime();
      List<Long> ages = fork.read(follower, TimeUnit.SECONDS.toNanos(seconds));
      fork.stopped = true;
      writer.join();
      Told.tell("commits_per_second", fork.commits * 1e9 / (System.nanoTime() - begun));
      Collections.sort(ages);
      Told.tell("follower_lag_median_ms", ages.get(ages.size() / 2));
      Told.tell("follower_lag_ms", ages.get(ages.size() * 99 / 100));
      Told.tell("folds", (double) follower.statistics().folds());
      Told.tell("promote_seconds", promote(follower));
    } catch (DatabaseStoppedException | StorageException fenced) {
      if (!String.valueOf(fenced.getMessage()).contains("fence")) {
        throw fenced;
      }
    }
  }

  private void load() {
    for (int from = 0; from < rows; from += 1_000) {
      int first = from;
      db.run(
          TransactionOptions.lazy(),
          tx -> {
            for (int i = first; i < Math.min(rows, first + 1_000); i++) {
              tx.put(table, key(i), new byte[VALUE]);
            }
          });
    }
    db.run(tx -> tx.put(table, STAMP, number(System.nanoTime())));
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(5).put((byte) 1).putInt(number).array();
  }

  private static byte[] number(long number) {
    return ByteBuffer.allocate(8).putLong(number).array();
  }

  /** So many commits as are due; one in twenty says when it was made. */
  private void write(Random random) {
    long begun = System.nanoTime();
    TransactionOptions lazy = TransactionOptions.lazy();
    while (!stopped) {
      long due = (long) ((System.nanoTime() - begun) / 1e9 * rate);
      while (commits < due && !stopped) {
        byte[] row = commits % 20 == 0 ? STAMP : key(random.nextInt(rows));
        byte[] value = commits % 20 == 0 ? number(System.nanoTime()) : new byte[VALUE];
        db.run(lazy, tx -> tx.put(table, row, value));
        commits++;
      }
      pause(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** How old the last stamp is that a new snapshot has, again and again. */
  private List<Long> read(Follower follower, long nanos) {
    List<Long> ages = new ArrayList<>();
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < WARM_UP + nanos) {
      try (Database snapshot = follower.snapshot()) {
        Table there = snapshot.table("rows");
        byte[] stamp = snapshot.read(tx -> tx.get(there, STAMP));
        if (stamp != null && System.nanoTime() - begun > WARM_UP) {
          ages.add(
              TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - ByteBuffer.wrap(stamp).getLong()));
        }
      }
      pause(TimeUnit.MILLISECONDS.toNanos(5));
    }
    return ages;
  }

  private static void pause(long nanos) {
    LockSupport.parkNanos(nanos);
  }

  /** From the call to the first durable write. */
  private static double promote(Follower follower) {
    long begun = System.nanoTime();
    try (Database promoted = follower.promote(DatabaseOptions.defaults())) {
      Table table = promoted.table("rows");
      promoted.run(TransactionOptions.durable(), tx -> tx.put(table, STAMP, number(0)));
      return (System.nanoTime() - begun) / 1e9;
    }
  }
}
