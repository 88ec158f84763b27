package org.revenantdb.kafka.streams;

import java.util.Arrays;
import java.util.NoSuchElementException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Transaction;

/**
 * Rows of a store in the order of their keys, or in reverse. Inside the task it reads the task's
 * transaction as long as that is open, and goes on with what is committed after that. From outside
 * it reads a snapshot.
 *
 * <p>Threads: one at a time; {@link #close} may come from another one.
 */
final class RowIterator implements KeyValueIterator<Bytes, byte[]> {
  private final RevenantStore store;
  private final TaskTransaction task;
  private final boolean descending;
  private byte @Nullable [] from;
  private byte @Nullable [] to;

  /** A snapshot of its own; null while it reads the transaction of the task. */
  private @Nullable Transaction own;

  private @Nullable Cursor cursor;

  /** Which transaction of the task the cursor belongs to. */
  private long epoch;

  private @Nullable KeyValue<Bytes, byte[]> next;
  private boolean closed;

  RowIterator(
      RevenantStore store,
      TaskTransaction task,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean descending,
      boolean inside) {
    this.store = store;
    this.task = task;
    this.from = from;
    this.to = to;
    this.descending = descending;
    if (inside) {
      synchronized (task) {
        Transaction tx = task.open();
        if (tx != null) {
          epoch = task.ended();
          cursor = cursor(tx);
          return;
        }
      }
    }
    snapshot();
  }

  private void snapshot() {
    Transaction tx = store.read();
    try {
      cursor = cursor(tx);
      own = tx;
    } catch (Throwable failure) {
      tx.close();
      throw failure;
    }
  }

  private Cursor cursor(Transaction tx) {
    return descending
        ? tx.scanDescending(store.table(), from, to)
        : tx.scan(store.table(), from, to);
  }

  @Override
  public synchronized boolean hasNext() {
    checkOpen();
    if (next == null) {
      try {
        next = own == null ? nextOfTask() : step();
      } catch (RevenantException failure) {
        throw store.told("rows cannot be read", failure);
      }
    }
    return next != null;
  }

  private @Nullable KeyValue<Bytes, byte[]> nextOfTask() {
    synchronized (task) {
      if (epoch == task.ended()) {
        return step();
      }
    }
    snapshot(); // the task has committed
    return step();
  }

  private @Nullable KeyValue<Bytes, byte[]> step() {
    Cursor rows = cursor;
    while (rows != null && rows.next()) {
      byte[] row = rows.key();
      byte[] key = StoreKeys.key(row);
      if (key != null) {
        if (descending) {
          to = row;
        } else {
          from = Arrays.copyOf(row, row.length + 1);
        }
        return KeyValue.pair(Bytes.wrap(key), rows.value());
      }
    }
    return null;
  }

  @Override
  public synchronized KeyValue<Bytes, byte[]> next() {
    KeyValue<Bytes, byte[]> row = peek();
    next = null;
    return row;
  }

  @Override
  public synchronized Bytes peekNextKey() {
    return peek().key;
  }

  private KeyValue<Bytes, byte[]> peek() {
    if (!hasNext() || next == null) {
      throw new NoSuchElementException("the iterator of store " + store.name() + " has no more");
    }
    return next;
  }

  private void checkOpen() {
    if (closed) {
      throw new InvalidStateStoreException(
          "the iterator of store " + store.name() + " is closed; open another one");
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    store.iteratorCloses(this);
    if (own != null) {
      own.close();
    } else if (cursor != null) {
      synchronized (task) {
        if (epoch == task.ended()) {
          cursor.close();
        }
      }
    }
  }
}
