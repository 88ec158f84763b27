package org.revenantdb.collections;

import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.feed.FeedRecord;
import org.revenantdb.collections.feed.FeedState;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;

/**
 * What a transaction has changed in the tables of a {@link ChangeFeed}. Valid only while the
 * listener that has received it runs. A transaction of any size can be read: changes are read from
 * the database when they are asked for.
 */
public final class FeedCommit {
  private final FeedState feed;
  private final Transaction transaction;
  private final long position;
  private final long batch;

  FeedCommit(FeedState feed, Transaction transaction, long position, long batch) {
    this.feed = feed;
    this.transaction = transaction;
    this.position = position;
    this.batch = batch;
  }

  /**
   * Its position. Later commits have larger ones; not all numbers are positions.
   *
   * @return the position, to be stored by the consumer
   */
  public long position() {
    return position;
  }

  /**
   * All changes, in the order in which the transaction has made them. A row that it has changed
   * several times has several.
   *
   * @param action receives them
   */
  public void forEach(Consumer<? super FeedChange> action) {
    try (Cursor rows = rows()) {
      while (rows.next()) {
        FeedRecord.read(
            rows.value(), (table, key, value) -> action.accept(new FeedChange(table, key, value)));
      }
    }
  }

  /**
   * The changes of one table.
   *
   * @param table the table
   * @param action receives key and value; the value is null if the row was deleted
   * @param <K> type of the keys
   * @param <V> type of the values
   */
  public <K, V> void forEach(
      TypedTable<K, V> table, BiConsumer<? super K, ? super @Nullable V> action) {
    forEach(change -> {
      if (change.isOf(table)) {
        byte[] value = change.value();
        action.accept(
            table.readKey(change.key()),
            value == null ? null : table.readValue(change.key(), value));
      }
    });
  }

  /** Whether all its changes were taken back to a savepoint. */
  boolean isEmpty() {
    try (Cursor rows = rows()) {
      return !rows.next();
    }
  }

  private Cursor rows() {
    return transaction.scan(feed.changes(), FeedState.startOf(batch), FeedState.endOf(batch));
  }

  @Override
  public String toString() {
    return "FeedCommit[" + feed.name() + ", " + position + "]";
  }
}
