package org.revenantdb.jmh.commit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Bare forced appends of 4 KiB to a preallocated file: the limit of the disk. The file is written
 * once with zeros and forced before. At its end, appending begins again at its start.
 */
final class Forces implements AutoCloseable {
  private static final int BLOCK = 4096;
  private static final int SIZE = 4 << 20;

  private final FileChannel file;
  private final ByteBuffer block = ByteBuffer.allocateDirect(BLOCK);
  private long position;

  /** Makes the file. */
  Forces(Path path) throws IOException {
    file =
        FileChannel.open(
            path,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    fill(file, SIZE);
    file.force(true);
  }

  /** Writes zeros. */
  static void fill(FileChannel file, long size) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
    for (long at = 0; at < size; at += zeros.capacity()) {
      zeros.clear();
      while (zeros.hasRemaining()) {
        file.write(zeros, at + zeros.position());
      }
    }
  }

  /** One append, forced. */
  void append() throws IOException {
    block.clear();
    block.putLong(0, position + 1);
    while (block.hasRemaining()) {
      file.write(block, position + block.position());
    }
    file.force(false);
    position = (position + BLOCK) % SIZE;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
