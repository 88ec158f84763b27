package org.revenantdb.engine;

import java.io.InputStream;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.serial.SerialReads;
import org.revenantdb.engine.session.KeptReading;
import org.revenantdb.engine.session.KeyText;
import org.revenantdb.engine.version.RowBatch;
import org.revenantdb.engine.version.RowSource;
import org.revenantdb.engine.version.StoredValue;

/**
 * Rows of a range in key order, or in reverse, as the transaction sees them.
 *
 * <p>The cursor reads rows in batches; in a table with partitions it reads a batch of each. A later
 * batch shows what the transaction has written meanwhile; {@link #seek} shows it at once. A cursor
 * is valid until its transaction ends. It is used by one thread at a time, as its transaction is.
 *
 * <p>The end of the transaction releases everything that {@link #close} releases. A cursor of a
 * {@link Isolation#READ_COMMITTED} transaction keeps a snapshot open, so close it early.
 */
public final class Cursor implements AutoCloseable {
  private final Transaction transaction;
  private final Range range;
  private final boolean descending;
  private final byte @Nullable [] from;
  private final byte @Nullable [] to;
  private final RowBatch batch;
  private final @Nullable KeptReading kept;
  private final @Nullable Notes notes;
  private RowSource scan;

  /** The end of the part that was noted as read, in the cursor's direction. */
  private byte @Nullable [] noted;

  private boolean isAllNoted;

  /** The number of writes of the transaction when the oldest part of the batch was read. */
  private long writesBefore;

  private int at = -1;

  /** The only thread that may hand the batch on to other cursors, since no other thread uses it. */
  private final long opener = Thread.currentThread().threadId();

  private volatile boolean closed;
  private boolean failed;

  /** Makes a scan of a part of the cursor's range. The previous scan is no longer used. */
  @FunctionalInterface
  interface Range {
    /** Scans the rows from the first key, inclusive, to the second, exclusive. */
    RowSource scan(byte @Nullable [] from, byte @Nullable [] to);
  }

  /** Receives the part of the range whose rows the user has seen. */
  @FunctionalInterface
  interface Notes {
    /** From a key, inclusive, null for the first, to another, exclusive, null for all. */
    void read(byte @Nullable [] from, byte @Nullable [] to);
  }

  /**
   * A cursor before its first row.
   *
   * @param kept the snapshot that it reads in, if it has one of its own
   * @param notes receives what was read; may be null
   */
  Cursor(
      Transaction transaction,
      @Nullable KeptReading kept,
      @Nullable Notes notes,
      Range range,
      boolean descending,
      byte @Nullable [] from,
      byte @Nullable [] to) {
    this.transaction = transaction;
    this.batch = transaction.core().engine().takeBatch();
    this.range = range;
    this.descending = descending;
    this.from = from;
    this.to = to;
    this.kept = kept;
    this.notes = notes;
    this.noted = descending ? to : from;
    this.scan = range.scan(from, to);
  }

  /**
   * Goes to the next row.
   *
   * @return false when there is none
   * @throws ConflictException as {@link Transaction#get(Table, byte[])}; open another cursor then
   * @throws IllegalStateException if the cursor is closed, or has thrown before, since it may have
   *     skipped rows
   */
  public boolean next() {
    try {
      checkUsable();
      if (at + 1 < batch.size()) {
        transaction.checkOpen();
        at++;
        return note();
      }
      return fill();
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /** Notes what the user is about to see: a row, or that there is none. */
  private boolean note() {
    boolean isOnRow = at >= 0;
    if (notes != null && !isAllNoted) {
      isAllNoted = !isOnRow;
      byte[] key = isOnRow ? batch.key(at) : null;
      if (descending) {
        byte[] first = key == null ? from : key;
        notes.read(first, noted);
        noted = first;
      } else {
        byte[] behind = key == null ? to : SerialReads.behind(key);
        notes.read(noted, behind);
        noted = behind;
      }
    }
    return isOnRow;
  }

  /**
   * Goes to the row with this key. If there is none, goes to the next row in the direction of the
   * cursor: the next larger key, or the next smaller one of a descending cursor. A cursor can seek
   * forwards and backwards, any number of times, also after its last row. {@link #next} continues
   * from there.
   *
   * <p>A seek stays in the range of the cursor. A key before the range leads to its first row, and
   * a key behind it to none. A seek sees all earlier writes of the transaction.
   *
   * @param key the key, of any length; the empty key is below all others
   * @return false when there is no such row
   * @throws ConflictException as {@link #next}
   * @throws IllegalStateException as {@link #next}
   */
  public boolean seek(byte[] key) {
    Objects.requireNonNull(key, "key must not be null");
    try {
      checkUsable();
      transaction.checkOpen();
      isAllNoted = false;
      if (descending) {
        // The smallest key above this one bounds the rows at or before it.
        byte[] above = Arrays.copyOf(key, key.length + 1);
        noted = to != null && compare(to, above) < 0 ? to : above;
      } else {
        noted = from != null && compare(from, key) > 0 ? from : key.clone();
      }
      if (seekInBatch(key)) {
        return note();
      }
      scan = descending ? range.scan(from, noted) : range.scan(noted, to);
      return fill();
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * Whether the row is in the batch. The batch is a part of the range without a gap, as it was when
   * it was read.
   */
  private boolean seekInBatch(byte[] key) {
    if (batch.isEmpty() || writesBefore != transaction.core().writes()) {
      return false;
    }
    if (distance(0, key) > 0 || distance(batch.size() - 1, key) < 0) {
      return false;
    }
    int low = 0;
    int high = batch.size() - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (distance(middle, key) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    at = low;
    return true;
  }

  /** Below 0: the row comes before the key in the cursor's direction. */
  private int distance(int row, byte[] key) {
    int order = batch.compareKey(row, key);
    return descending ? -order : order;
  }

  private static int compare(byte[] one, byte[] other) {
    return Arrays.compareUnsigned(one, other);
  }

  private void checkUsable() {
    if (closed) {
      throw new Misuse.OfState("the cursor is closed");
    }
    if (failed) {
      transaction.checkOpen();
      throw new Misuse.OfState("the cursor has failed before; open another one");
    }
  }

  /** Takes the next batch and goes to its first row. */
  private boolean fill() {
    at = -1;
    failed = true; // the batch may be filled, and then the wait for durability may fail (R10)
    transaction.inside(() -> {
      writesBefore = scan.fill(batch, transaction.core().writes());
      return null;
    });
    failed = false;
    at = batch.isEmpty() ? -1 : 0;
    return note();
  }

  /** The row's place in the batch. */
  private int row() {
    transaction.checkOpen();
    if (closed || at < 0 || at >= batch.size()) {
      throw new Misuse.OfState("the cursor is not on a row; call next first");
    }
    return at;
  }

  /**
   * Key of the row.
   *
   * @return a copy
   */
  public byte[] key() {
    try {
      byte[] key = batch.key(row());
      stillOpen();
      return key;
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * Copies the key of the row into an array of the caller. Allocates nothing.
   *
   * @param into receives the key, or its beginning if the array is too short
   * @param offset where the key begins in the array
   * @return the length of the key, which may be more than was copied
   */
  public int key(byte[] into, int offset) {
    Objects.checkFromIndexSize(offset, 0, into.length);
    try {
      int length = batch.key(row(), into, offset);
      stillOpen();
      return length;
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * Value of the row.
   *
   * @return a copy
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if it does not fit in an
   *     array; use {@link #openValue}
   */
  public byte[] value() {
    try {
      return transaction.materialise(stored(row()));
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * Copies the value of the row into an array of the caller. Allocates nothing for a small value.
   *
   * @param into receives the value, or its beginning if the array is too short
   * @param offset where the value begins in the array
   * @return the length of the value, which may be more than was copied
   * @throws LimitException with {@link LimitException.Reason#VALUE_LENGTH} if the value is longer
   *     than the longest array; use {@link #openValue}
   */
  public int value(byte[] into, int offset) {
    Objects.checkFromIndexSize(offset, 0, into.length);
    try {
      int row = row();
      if (batch.isOverflow(row)) {
        return transaction.copy(stored(row), into, offset);
      }
      int length = batch.value(row, into, offset);
      stillOpen();
      return length;
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * Length of the row's value, without reading it.
   *
   * @return bytes
   */
  public long valueLength() {
    try {
      return stored(row()).length();
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /**
   * The row's value as a stream.
   *
   * @return a stream that is valid until the transaction ends; a {@link Isolation#READ_COMMITTED}
   *     transaction must close it
   */
  public InputStream openValue() {
    try {
      return transaction.stream(stored(row()), kept);
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  private StoredValue stored(int row) {
    StoredValue value = batch.value(row);
    stillOpen();
    return value;
  }

  /**
   * After a copy: checks that the cursor was not closed meanwhile. If another thread closes it,
   * which is forbidden, the batch may contain rows of another transaction.
   */
  private void stillOpen() {
    VarHandle.acquireFence();
    if (closed) {
      throw new Misuse.OfState("the cursor is closed");
    }
  }

  /** Ends the cursor. */
  @Override
  public void close() {
    try {
      if (closed) {
        return;
      }
      closed = true;
      at = -1;
      transaction.letGo(kept);
      if (!failed && Thread.currentThread().threadId() == opener) {
        transaction.core().engine().giveBack(batch); // from here on another cursor may use it
      }
    } catch (RuntimeException failure) {
      throw transaction.told(failure);
    }
  }

  /** Range, direction and state, for messages and debuggers. */
  @Override
  public String toString() {
    return "Cursor["
        + (from == null ? "the first key" : KeyText.of(from))
        + " to "
        + (to == null ? "the last key" : KeyText.of(to))
        + (descending ? ", descending" : "")
        + (closed ? ", closed]" : "]");
  }
}
