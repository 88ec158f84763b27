package org.revenantdb.jmh.tpcc;

import java.nio.file.Path;
import java.util.Locale;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.WaitCounts;
import org.revenantdb.engine.Waits;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that loads TPC-C, runs it for a time, and checks the conditions of the specification.
 *
 * <p>Arguments: directory, warehouses, scale (a part of the specification's cardinalities),
 * sessions, milliseconds to warm up, milliseconds to measure, seed, and, if it should not be {@code
 * durable}, {@code lazy}.
 */
public final class TpccFork {
  private static final long MIB = 1L << 20;

  /** Memory for pages: a warehouse of the specification takes 110 MB, and what comes to it. */
  private static final long POOL_OF_WAREHOUSE = 160 * MIB;

  private static final long LEAST_POOL = 256 * MIB;
  private static final long LARGEST_POOL = 4096 * MIB;

  /** Hundreds of sessions at few warehouses may lose often. */
  private static final int MAX_ATTEMPTS = 1_000_000;

  private TpccFork() {}

  /**
   * Prints {@code = new_orders} a minute, committed ones, {@code = transactions} a second, of all
   * types; {@code = conflicts_per_tx}, {@code = rollback_percent} of New-Orders; {@code =
   * map_waits_per_tx}, waits for latches of space maps, {@code = map_wait_avg_us}, {@code =
   * map_wait_ms} of all sessions together; {@code = cpu_us_per_tx} of the whole process, {@code =
   * log_bytes_per_tx}.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured, or a condition does not hold in the end
   */
  public static void main(String[] arguments) throws Exception {
    double fraction = Double.parseDouble(arguments[2]);
    TpccScale scale = TpccScale.of(Integer.parseInt(arguments[1]), fraction);
    int sessions = Integer.parseInt(arguments[3]);
    Sessions.Times times =
        new Sessions.Times(
            Long.parseLong(arguments[4]), Long.parseLong(arguments[5]), /* warmSteps= */ 0);
    long seed = Long.parseLong(arguments[6]);
    Durability durability =
        arguments.length > 7
            ? Durability.valueOf(arguments[7].toUpperCase(Locale.ROOT))
            : Durability.DURABLE;
    // A terminal shows the result of a transaction only after the commit.
    TransactionOptions options =
        durability == Durability.DURABLE
            ? TransactionOptions.durable().withDeferReadWaitsToCommit(true)
            : TransactionOptions.lazy();
    try (Database database =
        Database.open(
            Path.of(arguments[0]).resolve("tpcc"), options(scale.warehouses() * fraction))) {
      TpccTables tables = TpccTables.of(database);
      TpccLoader.load(database, tables, scale, seed);
      database.checkpoint();
      TpccDriver.compile(database, tables, scale, seed);
      tell(new TpccDriver(database, tables, scale, options, sessions, seed).runFor(times));
      TpccChecker.demand(database, tables);
    }
  }

  /**
   * Options for a number of warehouses: memory for the data of a run, and no limit of attempts.
   *
   * @param warehouses of the specification's size; a part of one is a fraction
   * @return options
   */
  public static DatabaseOptions options(double warehouses) {
    long pool = LEAST_POOL + (long) (warehouses * POOL_OF_WAREHOUSE);
    return DatabaseOptions.defaults()
        .withPoolBytes(Math.min(pool, LARGEST_POOL))
        .withMaxAttempts(MAX_ATTEMPTS);
  }

  private static void tell(TpccDriver.Window window) {
    TpccCounts counts = window.counts();
    double total = Math.max(1, counts.total());
    double ordered = Math.max(1, counts.committed(TpccType.NEW_ORDER) + counts.rolledBack());
    Told.tell("new_orders", window.newOrdersPerMinute());
    Told.tell("transactions", window.transactionsPerSecond());
    Told.tell("conflicts_per_tx", counts.conflicts() / total);
    Told.tell("rollback_percent", 100 * counts.rolledBack() / ordered);
    Waits waits = window.waits();
    WaitCounts shared = waits.of(WaitClass.MAP_SHARED);
    WaitCounts exclusive = waits.of(WaitClass.MAP_EXCLUSIVE);
    long count = shared.count() + exclusive.count();
    long nanos = shared.totalNanos() + exclusive.totalNanos();
    Told.tell("map_waits_per_tx", count / total);
    Told.tell("map_wait_avg_us", nanos / 1e3 / Math.max(1, count));
    Told.tell("map_wait_ms", nanos / 1e6);
    Told.tell("cpu_us_per_tx", window.processorMicros());
    Told.tell("log_bytes_per_tx", window.logBytes() / total);
  }
}
