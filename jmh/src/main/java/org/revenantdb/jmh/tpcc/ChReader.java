package org.revenantdb.jmh.tpcc;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Sessions;

/**
 * A session that analyses: one query after the other, each with a new snapshot or all with one. One
 * thread; any thread may read how many rows it has read.
 *
 * <p>With a single snapshot each query must always have the same result.
 */
public final class ChReader implements Sessions.Session, AutoCloseable {
  private static final ChQuery[] QUERIES = ChQuery.values();

  private final Database database;
  private final TpccTables tables;
  private final @Nullable Transaction held;
  private final Map<ChQuery, ChQuery.Answer> answers = new EnumMap<>(ChQuery.class);
  private final AtomicLong rows = new AtomicLong();
  private int next;

  /**
   * Makes one.
   *
   * @param database that was loaded
   * @param tables of it
   * @param holds whether all its queries are over one snapshot, of now
   * @param first with which query it begins
   */
  public ChReader(Database database, TpccTables tables, boolean holds, int first) {
    this.database = database;
    this.tables = tables;
    this.held = holds ? database.begin(TransactionOptions.lazy()) : null;
    this.next = first;
  }

  /** Asks the next query. */
  @Override
  public void step() {
    ChQuery query = QUERIES[Math.floorMod(next++, QUERIES.length)];
    ChQuery.Answer answer;
    Transaction open = held;
    if (open == null) {
      try (Transaction own = database.begin(TransactionOptions.lazy())) {
        answer = query.run(own, tables);
      }
    } else {
      answer = query.run(open, tables);
      ChQuery.Answer before = answers.putIfAbsent(query, answer);
      if (before != null && !before.equals(answer)) {
        throw new IllegalStateException(
            "%s of one snapshot was %s, and is %s".formatted(query, before, answer));
      }
    }
    rows.setOpaque(rows.getPlain() + answer.rows());
  }

  /**
   * Rows that it has read.
   *
   * @return how many; perhaps without those of the last query
   */
  public long rows() {
    return rows.getOpaque();
  }

  /** Ends the snapshot that it holds. */
  @Override
  public void close() {
    if (held != null) {
      held.close();
    }
  }
}
