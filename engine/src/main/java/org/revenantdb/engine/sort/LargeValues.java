package org.revenantdb.engine.sort;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.spill.SpilledBlocks;

/**
 * Large values of changes that are being sorted, in a file of their own (README.md, §61). A value
 * is a sequence of blocks; all but its last one have {@link #CHUNK} bytes of it.
 *
 * <p>Threads: one at a time.
 */
final class LargeValues {
  /** Bytes of a value in a block. */
  static final int CHUNK = 1 << 16;

  private static final int FULL = SpilledBlocks.HEADER + CHUNK;

  private static final byte[] NOTHING = {};

  private final SortFiles files;
  private @Nullable SpilledBlocks file;

  /** Where the first value begins. */
  private long start;

  /** For the block that is being written. */
  private byte[] block = NOTHING;

  /** A value in the file. */
  record Place(long position, long length) {}

  LargeValues(SortFiles files) {
    this.files = files;
  }

  /** Bytes of all values in the file. */
  long bytes() {
    SpilledBlocks there = file;
    return there == null ? 0 : there.end() - start;
  }

  /** Writes a value and returns where it is. After a failure there is nothing of it. */
  long write(byte[] bytes, int from, int length) {
    try {
      return write(NOTHING, new ByteArrayInputStream(bytes, from, length)).position();
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** Writes a value that comes in pieces. After a failure there is nothing of it. */
  Place write(byte[] first, InputStream rest) throws IOException {
    SpilledBlocks there = file;
    if (there == null) {
      there = files.create();
      file = there;
      start = there.end();
      block = new byte[FULL];
    }
    long position = there.end();
    boolean isDone = false;
    try {
      long length = append(there, first, rest);
      isDone = true;
      return new Place(position, length);
    } finally {
      if (!isDone) {
        there.cut(position);
      }
    }
  }

  private long append(SpilledBlocks there, byte[] first, InputStream rest) throws IOException {
    InputStream all =
        first.length == 0 ? rest : new SequenceInputStream(new ByteArrayInputStream(first), rest);
    long length = 0;
    for (int count = chunk(all); count > 0; count = chunk(all)) {
      length += count;
      int bytes = SpilledBlocks.HEADER + count;
      there.seal(block, 0, bytes, there.end(), 1);
      files.append(there, block, bytes);
    }
    return length;
  }

  private int chunk(InputStream all) throws IOException {
    return all.readNBytes(block, SpilledBlocks.HEADER, CHUNK);
  }

  /** Removes the values that were written last, until there are so many bytes. */
  void cut(long bytes) {
    SpilledBlocks there = file;
    if (there != null && bytes < bytes()) {
      there.cut(start + bytes);
    }
  }

  /** A value, which is read piece by piece. */
  InputStream read(long position, long length) {
    SpilledBlocks there = file;
    if (there == null) {
      throw new IllegalStateException("there are no large values");
    }
    return new Value(there, files, position, length);
  }

  private static final class Value extends InputStream {
    private final SpilledBlocks file;
    private final SortFiles files;
    private final byte[] block;

    /** Where the next block begins, and how many bytes of the value are from there on. */
    private long next;

    private long unread;

    private int at;
    private int end;

    Value(SpilledBlocks file, SortFiles files, long position, long length) {
      this.file = file;
      this.files = files;
      this.next = position;
      this.unread = length;
      this.block = new byte[SpilledBlocks.HEADER + (int) Math.min(length, CHUNK)];
    }

    @Override
    public int read() {
      return isAtEnd() ? -1 : block[at++] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int most) {
      if (most == 0) {
        return 0;
      }
      if (isAtEnd()) {
        return -1;
      }
      int count = Math.min(most, end - at);
      System.arraycopy(block, at, into, offset, count);
      at += count;
      return count;
    }

    private boolean isAtEnd() {
      if (at < end) {
        return false;
      }
      if (unread == 0) {
        return true;
      }
      int count = (int) Math.min(unread, CHUNK);
      int bytes = SpilledBlocks.HEADER + count;
      files.read(file, next, block, bytes);
      next += bytes;
      unread -= count;
      at = SpilledBlocks.HEADER;
      end = bytes;
      return false;
    }
  }
}
