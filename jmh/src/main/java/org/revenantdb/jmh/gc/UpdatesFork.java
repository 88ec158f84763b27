package org.revenantdb.jmh.gc;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Sweep;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.insert.RowNumbers;
import org.revenantdb.jmh.tree.RowChoice;

/**
 * A JVM in which sessions update single rows, some far more often than others, or read the whole
 * table, each in a separate lazy transaction.
 *
 * <p>Arguments: directory, rows, skew of Zipf's law, sessions, how many transactions of a hundred
 * read the table, milliseconds to warm up, milliseconds to measure, seed, what varies ({@link
 * Sweep}: {@code skew} or {@code reads}; empty: nothing), round. Each value has a table of its own.
 */
public final class UpdatesFork {
  private static final int VALUE = 100;
  private static final int PERCENT = 100;
  private static final int LOADED_AT_ONCE = 1_000;

  /** A scan takes as long as hundreds of updates. */
  private static final int READS_TO_COMPILE = 5;

  /** Of two that update one row the second tries it again, as often as it takes. */
  private static final int MAX_ATTEMPTS = 1_000_000;

  private final Database database;
  private final Table table;
  private final int rows;
  private final LongAdder updates = new LongAdder();
  private final LongAdder scans = new LongAdder();

  private UpdatesFork(Database database, int rows) {
    this.database = database;
    this.table = database.getOrCreateTable("rows");
    this.rows = rows;
  }

  /**
   * Prints {@code = key_updates} and {@code = table_scans} a second, and the results of {@link
   * GarbageCounts}; after all names is the value of what varies, as in {@code =
   * key_updates,skew=1.0}.
   *
   * @param arguments see the class
   * @throws Exception if a session fails, or reads too few rows
   */
  public static void main(String[] arguments) throws Exception {
    Sweep sweep = Sweep.of(arguments[8], Integer.parseInt(arguments[9]));
    boolean isFirst = true;
    for (String value : sweep.values()) {
      turn(arguments, sweep, value, isFirst);
      isFirst = false;
    }
  }

  private static void turn(String[] arguments, Sweep sweep, String value, boolean isFirst)
      throws Exception {
    int rows = Integer.parseInt(arguments[1]);
    double skew = Double.parseDouble(sweep.value("skew", value, arguments[2]));
    int readPercent = Integer.parseInt(sweep.value("reads", value, arguments[4]));
    Sessions.Times times =
        new Sessions.Times(
            Long.parseLong(arguments[5]), Long.parseLong(arguments[6]), /* warmSteps= */ 0);
    long seed = Long.parseLong(arguments[7]);
    RowChoice choice = RowChoice.zipfian(rows, skew);
    DatabaseOptions options = DatabaseOptions.defaults().withMaxAttempts(MAX_ATTEMPTS);
    Path directory = Path.of(arguments[0]).resolve("updates");
    try (Database database = Database.open(directory, options)) {
      UpdatesFork fork = new UpdatesFork(database, rows);
      fork.load();
      if (isFirst) {
        fork.compile(choice.choices(~seed), readPercent, sweep);
      }
      fork.measure(
          Integer.parseInt(arguments[3]),
          times,
          number -> fork.session(choice.choices(seed + number), readPercent, seed + number),
          sweep.suffix(value));
      GarbageCounts.tellAll(database.statistics(), sweep.suffix(value));
    }
    FileTrees.delete(directory);
  }

  /**
   * What comes in any turn: the first has no more reads or updates than the others to learn from.
   */
  private void compile(IntSupplier choice, int readPercent, Sweep sweep) throws Exception {
    boolean isMixed = sweep.name().equals("reads");
    Sessions.compile(session(choice, isMixed ? READS_TO_COMPILE : readPercent, 0));
  }

  private void load() {
    for (int from = 0; from < rows; from += LOADED_AT_ONCE) {
      int begin = from;
      database.run(
          TransactionOptions.lazy(),
          transaction -> {
            for (int row = begin; row < Math.min(rows, begin + LOADED_AT_ONCE); row++) {
              transaction.put(table, RowNumbers.key(row), new byte[VALUE]);
            }
          });
    }
  }

  private void measure(int sessions, Sessions.Times times, Sessions.Factory factory, String suffix)
      throws Exception {
    long[] counts = new long[4];
    Sessions.Result result =
        Sessions.run(
            sessions,
            /* virtual= */ false,
            times,
            factory,
            () -> {
              counts[0] = updates.sum();
              counts[1] = scans.sum();
            },
            () -> {
              counts[2] = updates.sum();
              counts[3] = scans.sum();
            });
    double seconds = result.steps() / Math.max(1, result.perSecond());
    Told.tell("key_updates" + suffix, (counts[2] - counts[0]) / seconds);
    Told.tell("table_scans" + suffix, (counts[3] - counts[1]) / seconds);
  }

  private Sessions.Session session(IntSupplier choice, int readPercent, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    ByteBuffer value = ByteBuffer.allocate(VALUE);
    byte[] into = new byte[VALUE];
    return () -> {
      if (random.nextInt(PERCENT) < readPercent) {
        scan(into);
        scans.increment();
      } else {
        byte[] key = RowNumbers.key(choice.getAsInt());
        value.putLong(0, random.nextLong()).putLong(VALUE / 2, random.nextLong());
        database.run(
            TransactionOptions.lazy(), transaction -> transaction.put(table, key, value.array()));
        updates.increment();
      }
    };
  }

  private void scan(byte[] into) {
    int found = 0;
    try (Transaction reader = database.begin(TransactionOptions.lazy());
        Cursor cursor = reader.scan(table, null, null)) {
      while (cursor.next()) {
        cursor.value(into, 0);
        found++;
      }
    }
    if (found != rows) {
      throw new IllegalStateException("a snapshot has %d rows of %d".formatted(found, rows));
    }
  }
}
