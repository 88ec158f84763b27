package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;

/** A lock on a range of a file. */
final class MemoryFileLock extends FileLock {

  private final OpenFile file;
  private volatile boolean released;

  private MemoryFileLock(
      FileChannel channel, OpenFile file, long position, long size, boolean shared) {
    super(channel, position, size, shared);
    this.file = file;
  }

  private MemoryFileLock(
      AsynchronousFileChannel channel, OpenFile file, long position, long size, boolean shared) {
    super(channel, position, size, shared);
    this.file = file;
  }

  static MemoryFileLock take(
      FileChannel channel, OpenFile file, long position, long size, boolean shared)
      throws IOException {
    checkMode(file, shared);
    return new MemoryFileLock(channel, file, position, length(position, size), shared).held();
  }

  static MemoryFileLock take(
      AsynchronousFileChannel channel, OpenFile file, long position, long size, boolean shared)
      throws IOException {
    checkMode(file, shared);
    return new MemoryFileLock(channel, file, position, length(position, size), shared).held();
  }

  private static void checkMode(OpenFile file, boolean shared) {
    if (shared && !file.mode().read()) {
      throw new NonReadableChannelException();
    }
    if (!shared && !file.mode().write()) {
      throw new NonWritableChannelException();
    }
  }

  /** A size of zero means everything behind the position, without limit. */
  private static long length(long position, long size) {
    return size == 0 ? Long.MAX_VALUE - Math.max(0, position) : size;
  }

  private MemoryFileLock held() throws IOException {
    file.lock(this);
    return this;
  }

  boolean isOf(OpenFile other) {
    return file == other;
  }

  @Override
  public boolean isValid() {
    return !released && acquiredBy().isOpen();
  }

  @Override
  public void release() throws IOException {
    if (!acquiredBy().isOpen()) {
      throw new ClosedChannelException();
    }
    released = true;
    file.unlock(this);
  }
}
