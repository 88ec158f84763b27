package org.revenantdb.kafka.streams;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * Rows of a store in the order of their keys, or in reverse. Inside the task it reads the task's
 * transaction as long as that is open, and goes on with what is committed after that. Of a store of
 * keys and values it does not show keys that the task inserts meanwhile, so a loop that writes a
 * row for each row comes to an end. From outside it reads a snapshot.
 *
 * <p>Threads: one at a time; {@link #close} may come from another one.
 */
final class RowIterator implements KeyValueIterator<Bytes, byte[]> {
  private final TaskStore store;
  private final TaskTransaction task;
  private final Iterator<Table> tables;
  private final boolean descending;
  private final boolean inside;
  private final Predicate<byte[]> accepted;
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;

  /** What is still to come of the current table. */
  private @Nullable Table table;

  private byte @Nullable [] first;
  private byte @Nullable [] end;

  /** A snapshot of its own; null while it reads the transaction of the task. */
  private @Nullable Transaction own;

  /** The one that the cursor reads in. */
  private @Nullable Transaction transaction;

  private @Nullable Cursor cursor;

  /** Which transaction of the task the cursor belongs to. */
  private long epoch;

  /** Rows that the task inserts; null if those do not matter. */
  private @Nullable Insertions insertions;

  private int insertedBefore;

  private @Nullable KeyValue<Bytes, byte[]> next;
  private boolean closed;

  RowIterator(
      TaskStore store,
      TaskTransaction task,
      List<Table> tables,
      byte @Nullable [] from,
      byte @Nullable [] to,
      boolean descending,
      boolean inside,
      Predicate<byte[]> accepted) {
    this.store = store;
    this.task = task;
    this.tables = tables.iterator();
    this.from = from;
    this.to = to;
    this.descending = descending;
    this.inside = inside;
    this.accepted = accepted;
    nextTable();
    if (inside) {
      synchronized (task) {
        task.demandCurrent();
        Transaction tx = task.open();
        if (tx != null) {
          epoch = task.ended();
          transaction = tx;
          cursor = cursor(tx);
          if (!store.iteratesAsWindows()) {
            insertions = task.insertions();
            insertedBefore = insertions.last();
          }
          return;
        }
      }
    }
    snapshot();
  }

  /** Whether the task has inserted a row since this was opened. */
  private boolean isInserted(Table of, byte[] row) {
    return insertions != null && insertions.isBehind(insertedBefore, of, row);
  }

  private void snapshot() {
    Transaction tx = store.read();
    try {
      cursor = cursor(tx);
      transaction = tx;
      own = tx;
    } catch (Throwable failure) {
      tx.close();
      throw failure;
    }
  }

  private boolean nextTable() {
    table = tables.hasNext() ? tables.next() : null;
    first = from;
    end = to;
    return table != null;
  }

  private @Nullable Cursor cursor(Transaction tx) {
    Table of = table;
    if (of == null) {
      return null;
    }
    try {
      return descending ? tx.scanDescending(of, first, end) : tx.scan(of, first, end);
    } catch (CatalogException | ConflictException over) {
      return null; // a segment whose rows are over, or begin behind this snapshot
    }
  }

  @Override
  public synchronized boolean hasNext() {
    if (closed && inside && store.iteratesAsWindows()) {
      return false;
    }
    checkOpen();
    if (next == null) {
      try {
        next = own == null ? nextOfTask() : step();
      } catch (RevenantException failure) {
        if (inside) {
          task.readHasFailed(failure);
        }
        throw store.told("rows cannot be read", failure);
      }
    }
    return next != null;
  }

  private @Nullable KeyValue<Bytes, byte[]> nextOfTask() {
    synchronized (task) {
      task.demandCurrent();
      if (epoch == task.ended()) {
        return step();
      }
    }
    snapshot(); // the task has committed
    return step();
  }

  private @Nullable KeyValue<Bytes, byte[]> step() {
    while (table != null) {
      KeyValue<Bytes, byte[]> row = stepInTable();
      if (row != null) {
        return row;
      }
      if (cursor != null) {
        cursor.close();
        cursor = null;
      }
      if (nextTable() && transaction != null) {
        cursor = cursor(transaction);
      }
    }
    return null;
  }

  /** A table that was dropped, because its rows have expired, has no more rows. */
  private @Nullable KeyValue<Bytes, byte[]> stepInTable() {
    try {
      Cursor rows = cursor;
      Table of = table;
      while (rows != null && of != null && rows.next()) {
        byte[] row = rows.key();
        byte[] key = StoreKeys.key(row);
        if (descending) {
          end = row;
        } else {
          first = Arrays.copyOf(row, row.length + 1);
        }
        if (key != null && accepted.test(key) && !isInserted(of, row)) {
          byte[] value = rows.value();
          store.counted(value);
          return KeyValue.pair(Bytes.wrap(key), value);
        }
      }
    } catch (CatalogException | ConflictException over) {
      // as a table without rows
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
    if (insertions != null) {
      task.readsNoMore(insertions);
      insertions = null;
    }
    store.iteratorCloses(this, task.shared());
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
