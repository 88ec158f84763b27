package org.revenantdb.jmh.gc;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.Waits;
import org.revenantdb.jmh.commit.Rows;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.tree.RowChoice;

/**
 * A JVM in which sessions read rows of one table and write them back incremented, some far more
 * often than others: figure 29 of the thesis. Each transaction is repeated until it is committed.
 *
 * <p>Arguments: directory, sessions, skew of Zipf's law, handling of conflicts, rows in a
 * transaction, {@code lazy} or {@code durable}, milliseconds to warm up, milliseconds to measure,
 * seed. The handling of conflicts is {@code retry}, at once; {@code backoff}, the default of the
 * database; or they are avoided: {@code assigned} sessions have their own rows, every n-th, and
 * choose among them by the same law.
 */
public final class SkewFork {
  private static final int ROWS = 100_000;
  private static final int LOADED_AT_ONCE = 1_000;

  private final Database database;
  private final Table table;
  private final TransactionOptions options;
  private final int rows;

  private SkewFork(Database database, TransactionOptions options, int rows) {
    this.database = database;
    this.table = database.getOrCreateTable("rows");
    this.options = options;
    this.rows = rows;
  }

  /**
   * Prints {@code = transactions} a second, {@code = aborts} for each of them, {@code = cpu_us} of
   * one, their durations ({@code = p50_us}, {@code = p99_us}), the {@code = ceiling_us} of pauses
   * in the end, and {@code = pauses} for each transaction.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int sessions = Integer.parseInt(arguments[1]);
    double skew = Double.parseDouble(arguments[2]);
    String handling = arguments[3];
    int rows = Integer.parseInt(arguments[4]);
    Durability durability = arguments[5].equals("durable") ? Durability.DURABLE : Durability.LAZY;
    Sessions.Times times =
        new Sessions.Times(Long.parseLong(arguments[6]), Long.parseLong(arguments[7]));
    long seed = Long.parseLong(arguments[8]);
    DatabaseOptions usual = DatabaseOptions.defaults().withMaxAttempts(Integer.MAX_VALUE);
    DatabaseOptions options =
        handling.equals("retry") ? usual.withMaxBackoff(Duration.ZERO) : usual;
    try (Database database = Database.open(Path.of(arguments[0]).resolve("database"), options)) {
      SkewFork run = new SkewFork(database, TransactionOptions.of(durability), rows);
      run.load();
      RowChoice choice = RowChoice.zipfian(ROWS, skew);
      boolean isAssigned = handling.equals("assigned");
      // By one session: with ten more on two processors the compilers take 15 s.
      Sessions.compile(run.session(choice.choices(~seed)));
      DatabaseStatistics[] ends = {database.statistics(), database.statistics()};
      Waits[] waits = {database.waitStatistics(), database.waitStatistics()};
      Sessions.Result result =
          Sessions.run(
              sessions,
              /* virtual= */ false,
              times,
              number -> {
                IntSupplier any = choice.choices(seed + number);
                return run.session(isAssigned ? () -> own(any, number, sessions) : any);
              },
              () -> {
                ends[0] = database.statistics();
                waits[0] = database.waitStatistics();
              },
              () -> {
                ends[1] = database.statistics();
                waits[1] = database.waitStatistics();
              });
      long aborts = ends[1].retries().repeated() - ends[0].retries().repeated();
      long steps = Math.max(1, result.steps());
      long pauses = waits[1].since(waits[0]).of(WaitClass.RETRY_PAUSE).count();
      Told.tell("transactions", result.perSecond());
      Told.tell("aborts", (double) aborts / steps);
      Told.tell("cpu_us", result.processorMicros());
      Told.tell("p50_us", result.waits().percentile(0.5) / 1e3);
      Told.tell("p99_us", result.waits().percentile(0.99) / 1e3);
      Told.tell("ceiling_us", ends[1].retries().ceilingNanos() / 1e3);
      Told.tell("pauses", (double) pauses / steps);
    }
  }

  private void load() {
    for (int first = 0; first < ROWS; first += LOADED_AT_ONCE) {
      int from = first;
      database.run(
          TransactionOptions.lazy(),
          transaction -> {
            for (int row = from; row < from + LOADED_AT_ONCE; row++) {
              transaction.put(table, Rows.key(row), new byte[Rows.VALUE]);
            }
          });
    }
    database.checkpoint();
  }

  /** The next that is this session's. */
  private static int own(IntSupplier any, int number, int sessions) {
    int row = any.getAsInt();
    while (row % sessions != number) {
      row = any.getAsInt();
    }
    return row;
  }

  private Sessions.Session session(IntSupplier choice) {
    byte[][] keys = new byte[rows][];
    return () -> {
      for (int i = 0; i < rows; i++) {
        keys[i] = Rows.key(choice.getAsInt());
      }
      database.run(
          options,
          transaction -> {
            for (byte[] key : keys) {
              increment(transaction, key);
            }
          });
    };
  }

  private void increment(Transaction transaction, byte[] key) {
    ByteBuffer row = ByteBuffer.wrap(Objects.requireNonNull(transaction.get(table, key)));
    row.putLong(0, row.getLong(0) + 1);
    transaction.put(table, key, row.array());
  }
}
