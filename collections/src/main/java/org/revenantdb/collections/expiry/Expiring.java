package org.revenantdb.collections.expiry;

import java.time.InstantSource;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.index.IndexCatalog;
import org.revenantdb.collections.index.Maintained;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * When rows of a table expire, and the index that has them by that time.
 *
 * @param at the time at which a row expires, in milliseconds; {@link Long#MAX_VALUE} for never
 * @param clock what time it is
 * @param index an entry for each row that expires, by its time
 * @param catalog what is stored of indexes
 * @param <V> type of the rows
 */
public record Expiring<V>(
    ToLongFunction<V> at, InstantSource clock, Maintained<V> index, Table catalog) {
  /** The name under which it is stored. */
  public static final String NAME = "revenant.expiry";

  /**
   * The time for a transaction. It is the same for all its statements, so that they fit together,
   * unless each of them has a snapshot of its own.
   */
  public long moment(Transaction transaction) {
    return transaction.options().isolation() == Isolation.READ_COMMITTED
        ? clock.millis()
        : transaction.attachment(clock, clock::millis);
  }

  /** Whether a row has expired for a transaction. */
  public boolean isOver(Transaction transaction, V row) {
    return isOver(row, moment(transaction));
  }

  /** Whether a row has expired at a moment. */
  public boolean isOver(@Nullable V row, long moment) {
    return row != null && at.applyAsLong(row) <= moment;
  }

  /** Where the entries of rows end that have expired at a moment. */
  public static byte[] endOf(long moment) {
    return Keys.longs().toBytes(moment == Long.MAX_VALUE ? moment : moment + 1);
  }

  /** Whether a transaction sees all entries. */
  public boolean isComplete(Transaction transaction) {
    IndexCatalog.Stored stored =
        IndexCatalog.find(transaction, catalog, index.tableName(), index.name());
    return stored != null && stored.isComplete();
  }
}
