package org.revenantdb.jmh.gc;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which a queue is drained, once alone and once beside an old snapshot that sees all its
 * rows, an old transaction that has written elsewhere, and files of older versions: what does it
 * cost to look at the first row?
 *
 * <p>Arguments: directory, rows to delete, seed.
 */
public final class PollFork {
  private static final int ROW_BYTES = 100;

  private static final int LEFT = 1_000;

  private static final int IN_A_TRANSACTION = 100;

  /** More versions than memory is for with default options. */
  private static final int UPDATES = 700_000;

  /** Looks in a window, whose median counts. */
  private static final int WINDOW = 2_000;

  /** Two windows that differ by less are steady. */
  private static final double STEADY = 0.05;

  private static final int MOST_WINDOWS = 60;

  private final Database database;
  private final Random random;

  private PollFork(Database database, long seed) {
    this.database = database;
    this.random = new Random(seed);
  }

  /**
   * Prints {@code = poll_us,alone}, {@code = poll_us,beside}, the microseconds of a look after the
   * deletes, {@code = poll_growth}, the second divided by the first, and {@code =
   * version_file_bytes}.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    int deletes = Integer.parseInt(arguments[1]);
    DatabaseOptions options = DatabaseOptions.defaults().withDurability(Durability.LAZY);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("queue"), options)) {
      PollFork fork = new PollFork(database, Long.parseLong(arguments[2]));
      double alone = fork.alone(deletes);
      double beside = fork.beside(deletes);
      Told.tell("poll_us,alone", alone);
      Told.tell("poll_us,beside", beside);
      Told.tell("poll_growth", beside / alone);
    }
  }

  private double alone(int deletes) {
    Table queue = filled("alone", deletes);
    drain(queue, deletes);
    database.cleanNow();
    return look(queue);
  }

  private double beside(int deletes) {
    Table queue = filled("beside", deletes);
    Table other = filled("other", UPDATES);
    try (Transaction reader = database.begin();
        Transaction writer = database.begin()) {
      reader.get(queue, key(0));
      writer.put(other, key(UPDATES), new byte[1]);
      Told.tell("version_file_bytes", (double) spill(other));
      drain(queue, deletes);
      double micros = look(queue);
      long seen = reader.count(queue, null, null);
      if (seen != deletes + LEFT) {
        throw new IllegalStateException("the old snapshot sees " + seen + " rows");
      }
      return micros;
    }
  }

  /**
   * Updates rows that the old snapshot sees, twice, since the first update leaves the version
   * beside its row.
   *
   * @return bytes of files of older versions
   */
  private long spill(Table other) {
    for (int begin = 0; begin < 2 * UPDATES; begin += LEFT) {
      int first = begin % UPDATES;
      database.run(tx -> {
        for (int i = first; i < first + LEFT; i++) {
          tx.put(other, key(i), new byte[ROW_BYTES]);
        }
      });
    }
    long files = database.statistics().value(Statistic.VERSIONS_RUN_BYTES);
    if (files == 0) {
      throw new IllegalStateException("no version went to a file: that is another case");
    }
    return files;
  }

  private Table filled(String name, int deletes) {
    Table table = database.createTable(name);
    byte[] value = new byte[ROW_BYTES];
    for (int begin = 0; begin < deletes + LEFT; begin += LEFT) {
      int first = begin;
      database.run(tx -> {
        for (int i = first; i < Math.min(first + LEFT, deletes + LEFT); i++) {
          random.nextBytes(value);
          tx.put(table, key(i), value);
        }
      });
    }
    return table;
  }

  private void drain(Table queue, int deletes) {
    for (int begin = 0; begin < deletes; begin += IN_A_TRANSACTION) {
      int first = begin;
      database.run(tx -> {
        for (int i = first; i < Math.min(first + IN_A_TRANSACTION, deletes); i++) {
          tx.delete(queue, key(i));
        }
      });
    }
  }

  /** Microseconds of a look at the first row, when the code is compiled and nothing changes. */
  private double look(Table queue) {
    double before = window(queue);
    for (int i = 0; i < MOST_WINDOWS; i++) {
      double now = window(queue);
      if (Math.abs(now - before) <= STEADY * before) {
        return Math.min(now, before);
      }
      before = now;
    }
    return before;
  }

  private double window(Table queue) {
    long[] nanos = new long[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
      long start = System.nanoTime();
      try (Transaction tx = database.begin();
          Cursor rows = tx.scan(queue, null, null)) {
        if (!rows.next()) {
          throw new IllegalStateException("the queue is empty");
        }
      }
      nanos[i] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    return nanos[WINDOW / 2] / 1e3;
  }

  private static byte[] key(long number) {
    return ByteBuffer.allocate(2 * Long.BYTES).putLong(Long.BYTES, number).array();
  }
}
