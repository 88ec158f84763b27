package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.cojen.tupl.Database;
import org.cojen.tupl.DurabilityMode;
import org.cojen.tupl.Index;
import org.revenantdb.jmh.insert.InsertStore;
import org.revenantdb.jmh.insert.RowNumbers;

/** TuplDB: a {@code store} without a transaction object each, which commits by itself. */
public final class TuplInserts implements InsertStore {
  private final Database database;
  private final Index rows;
  private final AtomicLong numbers = new AtomicLong();

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param durable whether each insert is forced
   * @param cacheBytes memory for pages, all of it taken at once
   * @throws IOException if it cannot
   */
  public TuplInserts(Path directory, boolean durable, long cacheBytes) throws IOException {
    database =
        TuplTree.open(
            directory, cacheBytes, durable ? DurabilityMode.SYNC : DurabilityMode.NO_FLUSH);
    rows = database.openIndex("rows");
  }

  @Override
  public void insert(byte[] value) throws IOException {
    rows.store(null, RowNumbers.key(numbers.getAndIncrement()), value);
  }

  @Override
  public long rows() throws IOException {
    return rows.count(null, null);
  }

  @Override
  public void close() throws IOException {
    database.close();
  }
}
