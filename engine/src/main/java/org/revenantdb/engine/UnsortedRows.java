package org.revenantdb.engine;

import java.io.IOException;
import java.io.InputStream;
import org.revenantdb.engine.session.StreamedValue;
import org.revenantdb.engine.sort.ExternalSort;
import org.revenantdb.engine.sort.SortFiles;
import org.revenantdb.engine.sort.SortedChanges;
import org.revenantdb.engine.version.RowWriter;

/**
 * The rows of a bulk load that came unsorted, until they are stored (docs/protocols.md §61). Its
 * files are deleted when the transaction of the load has ended.
 *
 * <p>Threads: one at a time, that of the load.
 */
final class UnsortedRows {
  private final long maxValueBytes;
  private final SortFiles files;
  private final ExternalSort sort;

  UnsortedRows(
      Transaction transaction, RowWriter writer, long memory, ExternalSort.Listener listener) {
    maxValueBytes = transaction.engine().maxValueBytes;
    files = new SortFiles(transaction.engine().storage().spill(), transaction::inside);
    sort = new ExternalSort(files, memory, listener);
    SortFiles.Left left = files.left(); // without the transaction, which could not leak else
    transaction.inside(() -> {
      writer.whenEnded(left::deleteAll);
      return files;
    });
  }

  /** Adds a row if it needs nothing but memory. */
  boolean addToMemory(byte[] key, byte[] value) {
    return sort.addToMemory(key, value);
  }

  void add(byte[] key, byte[] value) {
    sort.add(key, value);
  }

  /**
   * Adds a row whose value is a stream.
   *
   * @param first the first bytes of the value, in an array that is full
   * @throws StreamFailure if the stream throws something that is not checked, or does not end in
   *     time
   * @throws IOException if the stream throws it
   */
  void add(byte[] key, byte[] first, InputStream rest) throws IOException {
    sort.add(key, first, new CheckedStream(rest, first.length, maxValueBytes));
  }

  /** The rows in the order of their keys. */
  SortedChanges sorted() {
    return sort.sorted();
  }

  /** The large value of a row. */
  InputStream valueOf(SortedChanges row) {
    return sort.valueOf(row);
  }

  /** Deletes the files, which are not needed any more; called in a step. */
  void deleteFiles() {
    files.left().deleteAll();
  }

  /** What the stream of a user has thrown, or why it was refused: not a failure of the engine. */
  static final class StreamFailure extends IOException {
    private static final long serialVersionUID = 1L;

    StreamFailure(RuntimeException thrown) {
      super(thrown);
    }
  }

  /** The stream of a user, up to the longest value. */
  private static final class CheckedStream extends InputStream {
    private final InputStream in;
    private final long most;
    private long length;

    CheckedStream(InputStream in, long length, long most) {
      this.in = in;
      this.length = length;
      this.most = most;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int count) throws IOException {
      try {
        int read = in.read(into, offset, count);
        length += Math.max(read, 0);
        StreamedValue.checkLength(most, length);
        return read;
      } catch (RuntimeException ofUser) {
        throw new StreamFailure(ofUser);
      }
    }
  }
}
