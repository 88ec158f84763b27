package org.revenantdb.jmh.space;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.WaitCounts;
import org.revenantdb.engine.Waits;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which sessions create a small table each, fill it and drop it, repeatedly and without a
 * pause. Nearly all their work with pages is to allocate them; the cleaner frees them.
 *
 * <p>In the form of "Concurrent Updates to Pages with Fixed-Size Rows Using Lock-Free Algorithms"
 * (VLDB 2020), Figures 9 and 10: a procedure that copies rows into a temporary table, run by
 * hundreds of sessions. There nothing is durable. Here the creation and the drop of a table are
 * durable, and its rows are not waited for.
 *
 * <p>Arguments: directory, sessions, milliseconds to warm up, milliseconds that count.
 */
public final class AllocationFork {
  /** Rows of a table: with those of {@link #ROW} bytes it has a dozen pages. */
  private static final int ROWS = 64;

  private static final int ROW = 1_000;

  /** Memory for pages: of what waits to be freed as well. */
  private static final long POOL = 512L << 20;

  private static final int RESTART_LOG = 64 << 20;

  private AllocationFork() {}

  /** What both ends of the window are compared by. */
  private record Seen(DatabaseStatistics statistics, Waits waits) {
    static Seen of(Database database) {
      return new Seen(database.statistics(), database.waitStatistics());
    }
  }

  /**
   * Prints {@code = tables} a second, {@code = processors} in use, {@code = map_updates_per_table},
   * latchings of space maps; {@code = map_wait_share}, waits for such a latch divided by latchings;
   * {@code = map_wait_ms} of all sessions together, {@code = force_wait_ms} and {@code =
   * page_wait_ms}, for forces of the log and for latches of other pages; {@code = file_pages} in
   * the end.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int sessions = Integer.parseInt(arguments[1]);
    Sessions.Times times =
        new Sessions.Times(
            Long.parseLong(arguments[2]), Long.parseLong(arguments[3]), /* warmSteps= */ 0);
    DatabaseOptions options =
        DatabaseOptions.defaults().withPoolBytes(POOL).withMaxRecoveryLog(RESTART_LOG);
    try (Database database = Database.open(Path.of(arguments[0]).resolve("db"), options)) {
      Sessions.compile(session(database, sessions));
      AtomicReference<Seen> start = new AtomicReference<>(Seen.of(database));
      AtomicReference<Seen> end = new AtomicReference<>(start.get());
      Sessions.Result result =
          Sessions.run(
              sessions,
              /* virtual= */ false,
              times,
              number -> session(database, number),
              () -> start.set(Seen.of(database)),
              () -> end.set(Seen.of(database)));
      tell(result, start.get(), end.get());
      if (!database.tableNames().isEmpty()) {
        throw new IllegalStateException("tables are left: " + database.tableNames());
      }
    }
  }

  /** A session: its step is one table. */
  static Sessions.Session session(Database database, int number) {
    byte[] row = new byte[ROW];
    byte[] key = new byte[Integer.BYTES];
    String name = "work" + number;
    return () -> {
      Table table = database.getOrCreateTable(name);
      database.run(
          TransactionOptions.lazy(),
          tx -> {
            for (int i = 0; i < ROWS; i++) {
              key[Integer.BYTES - 1] = (byte) i;
              tx.put(table, key, row);
            }
          });
      if (!database.dropTable(name)) {
        throw new IllegalStateException("table " + name + " was not there");
      }
    };
  }

  private static void tell(Sessions.Result result, Seen start, Seen end) {
    Waits waits = end.waits().since(start.waits());
    WaitCounts shared = waits.of(WaitClass.MAP_SHARED);
    WaitCounts exclusive = waits.of(WaitClass.MAP_EXCLUSIVE);
    long latchings = end.statistics().pool().map().hits() - start.statistics().pool().map().hits();
    Told.tell("tables", result.perSecond());
    Told.tell("processors", result.processorMicros() * result.perSecond() / 1e6);
    Told.tell("map_updates_per_table", (double) latchings / Math.max(1, result.steps()));
    Told.tell(
        "map_wait_share", (double) (shared.count() + exclusive.count()) / Math.max(1, latchings));
    Told.tell("map_wait_ms", (shared.totalNanos() + exclusive.totalNanos()) / 1e6);
    Told.tell("force_wait_ms", waits.of(WaitClass.LOG_FORCE).totalNanos() / 1e6);
    Told.tell("page_wait_ms", pages(waits) / 1e6);
    Told.tell("file_pages", (double) end.statistics().files().dataFilePages());
  }

  private static long pages(Waits waits) {
    return waits.of(WaitClass.LEAF_SHARED).totalNanos()
        + waits.of(WaitClass.LEAF_EXCLUSIVE).totalNanos()
        + waits.of(WaitClass.INNER_SHARED).totalNanos()
        + waits.of(WaitClass.INNER_EXCLUSIVE).totalNanos();
  }
}
