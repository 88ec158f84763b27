package org.revenantdb.engine;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.engine.version.RowScan;

/**
 * Rows of a range in key order, or backwards, as the transaction sees them.
 *
 * <p>Rows are taken in batches; what the transaction itself writes while the cursor is open shows
 * up in later batches. Valid as long as its transaction; used by one thread at a time, as its
 * transaction is. Closing it releases nothing that the end of the transaction would not.
 */
public final class Cursor implements AutoCloseable {
  private final Transaction transaction;
  private final RowScan scan;
  private final List<RowScan.Row> batch = new ArrayList<>();
  private int at = -1;
  private boolean closed;
  private boolean failed;

  Cursor(Transaction transaction, RowScan scan) {
    this.transaction = transaction;
    this.scan = scan;
  }

  /**
   * Goes to the next row.
   *
   * @return false when there is none
   * @throws IllegalStateException if it is closed, or has thrown before: it may stand behind rows
   *     that nobody was given
   */
  public boolean next() {
    if (closed) {
      throw new IllegalStateException("the cursor is closed");
    }
    if (failed) {
      transaction.checkOpen();
      throw new IllegalStateException("the cursor has failed before; open another one");
    }
    if (at + 1 < batch.size()) {
      transaction.checkOpen();
      at++;
      return true;
    }
    batch.clear();
    at = -1;
    failed = true; // the batch may be full and the wait for what it depends on fail (R10)
    transaction.inside(() -> {
      scan.fill(batch);
      return null;
    });
    failed = false;
    if (batch.isEmpty()) {
      return false;
    }
    at = 0;
    return true;
  }

  private RowScan.Row row() {
    transaction.checkOpen();
    if (at < 0 || at >= batch.size()) {
      throw new IllegalStateException("the cursor is not on a row; call next first");
    }
    return batch.get(at);
  }

  /**
   * Key of the row.
   *
   * @return a copy
   */
  public byte[] key() {
    return row().key().clone();
  }

  /**
   * Value of the row.
   *
   * @return a copy
   * @throws ValueTooLargeException if it does not fit in an array; use {@link #openValue}
   */
  public byte[] value() {
    return transaction.materialise(row().value());
  }

  /**
   * Length of the row's value, without reading it.
   *
   * @return bytes
   */
  public long valueLength() {
    return row().value().length();
  }

  /**
   * The row's value as a stream.
   *
   * @return a stream that is valid as long as the transaction
   */
  public InputStream openValue() {
    return transaction.stream(row().value());
  }

  /** Ends the cursor. */
  @Override
  public void close() {
    closed = true;
    batch.clear();
    at = -1;
  }
}
