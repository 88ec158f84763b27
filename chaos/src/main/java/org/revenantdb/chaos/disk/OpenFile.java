package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.FileLock;

/**
 * An open file: the base of every kind of channel.
 *
 * <p>Threads: any. Every operation is atomic with regard to others on the same file. After {@link
 * #close} has returned, each operation throws {@link AsynchronousCloseException}, even if it had
 * begun before.
 */
final class OpenFile {

  /** The largest size. A larger file would cost memory for the empty blocks before the data. */
  static final long MAX_SIZE = 1L << 36;

  private final NameSpace names;
  private final Node node;
  private final OpenMode mode;
  // Changed under the node's write lock, so that close waits for every holder of the lock.
  private boolean closed;

  OpenFile(NameSpace names, Node node, OpenMode mode) {
    this.names = names;
    this.node = node;
    this.mode = mode;
  }

  OpenMode mode() {
    return mode;
  }

  /** Reads into one buffer after the other. Returns -1 at the end if there is room for a byte. */
  long read(long position, ByteBuffer... targets) throws IOException {
    for (ByteBuffer target : targets) {
      if (target.isReadOnly()) {
        throw new IllegalArgumentException("Read-only buffer");
      }
    }
    node.lock.readLock().lock();
    try {
      checkOpen();
      if (remaining(targets) == 0) {
        return 0;
      }
      checkIsFile();
      long done = 0;
      for (ByteBuffer target : targets) {
        int n = node.content().read(position + done, target);
        if (n < 0) {
          return done == 0 ? -1 : done;
        }
        done += n;
      }
      return done;
    } finally {
      node.lock.readLock().unlock();
    }
  }

  /** Writes one buffer after the other, at the end if the mode says so. */
  long write(long position, ByteBuffer... sources) throws IOException {
    node.lock.writeLock().lock();
    try {
      checkOpen();
      FileContent content = node.content();
      long start = mode.append() ? content.size() : position;
      long end = start + remaining(sources);
      if (end == start) {
        return 0;
      }
      checkSize(end);
      if (end > content.size()) {
        names.grow(end - content.size());
      }
      long at = start;
      for (ByteBuffer source : sources) {
        int length = source.remaining();
        content.write(at, source);
        at += length;
      }
      node.changed(start, end);
      node.modified = names.tick();
      return end - start;
    } finally {
      node.lock.writeLock().unlock();
    }
  }

  long size() throws IOException {
    node.lock.readLock().lock();
    try {
      checkOpen();
      return node.size();
    } finally {
      node.lock.readLock().unlock();
    }
  }

  /** Makes the file shorter. A size that is not smaller changes nothing. */
  void truncate(long size) throws IOException {
    node.lock.writeLock().lock();
    try {
      checkOpen();
      FileContent content = node.content();
      if (size < content.size()) {
        long end = content.size();
        content.setSize(size);
        node.changed(size, end);
        node.modified = names.tick();
      }
    } finally {
      node.lock.writeLock().unlock();
    }
  }

  /**
   * Checks that the file is open. There is nothing to force: an image is the content of the disk.
   */
  void force() throws IOException {
    node.lock.readLock().lock();
    try {
      checkOpen();
    } finally {
      node.lock.readLock().unlock();
    }
  }

  /** Maps a part of the file for reading. */
  interface Mapper<T> {
    CopiedMapping.Made<T> map(FileContent content) throws IOException;
  }

  /**
   * Maps a part of the file. The file gets longer if it ends before that part and may be written.
   */
  <T> T map(long end, Mapper<T> mapper) throws IOException {
    node.lock.writeLock().lock();
    try {
      checkOpen();
      checkIsFile();
      checkSize(end);
      FileContent content = node.content();
      if (end > content.size()) {
        if (!mode.write()) {
          throw new IOException(
              "Channel not open for writing - cannot extend file to required size");
        }
        names.grow(end - content.size());
        content.write(end - 1, ByteBuffer.allocate(1));
        node.changed(end - 1, end);
        node.modified = names.tick();
      }
      CopiedMapping.Made<T> made = mapper.map(content);
      node.mapped(made.mapping());
      return made.result();
    } finally {
      node.lock.writeLock().unlock();
    }
  }

  void lock(FileLock lock) throws IOException {
    node.lock.readLock().lock();
    try {
      checkOpen();
      node.locks.add(lock);
    } finally {
      node.lock.readLock().unlock();
    }
  }

  void unlock(FileLock lock) {
    node.locks.remove(lock);
  }

  /**
   * Closes the file and releases all its locks. The file is deleted if it has no name and this was
   * its last handle.
   */
  void close() {
    node.lock.writeLock().lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
    } finally {
      node.lock.writeLock().unlock();
    }
    node.locks.removeAll(this);
    names.release(node);
  }

  private static long remaining(ByteBuffer... buffers) {
    long sum = 0;
    for (ByteBuffer buffer : buffers) {
      sum += buffer.remaining();
    }
    return sum;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new AsynchronousCloseException();
    }
  }

  private void checkIsFile() throws IOException {
    if (node.isDirectory()) {
      throw new IOException("Is a directory");
    }
  }

  private static void checkSize(long size) throws IOException {
    if (size < 0 || size > MAX_SIZE) {
      throw new IOException("File too large");
    }
  }
}
