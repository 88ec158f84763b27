package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** An open file of a {@link CrashDisk}; without an inode, a directory. */
final class CrashChannel extends FileChannel {
  private final CrashDisk disk;
  private final CrashDisk.Inode inode;

  CrashChannel(CrashDisk disk, CrashDisk.Inode inode) {
    this.disk = disk;
    this.inode = inode;
  }

  @Override
  public int read(ByteBuffer target, long position) {
    byte[] bytes = new byte[target.remaining()];
    int read = disk.read(inode, position, bytes);
    if (read > 0) {
      target.put(bytes, 0, read);
    }
    return read;
  }

  @Override
  public int write(ByteBuffer source, long position) throws IOException {
    byte[] bytes = new byte[source.remaining()];
    source.get(bytes);
    disk.write(inode, position, bytes);
    return bytes.length;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    if (inode == null) {
      disk.forceNames();
    } else {
      disk.force(inode);
    }
  }

  @Override
  public long size() {
    return disk.size(inode);
  }

  @Override
  public FileChannel truncate(long size) {
    disk.truncate(inode, size);
    return this;
  }

  @Override
  protected void implCloseChannel() {}

  @Override
  public int read(ByteBuffer target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int write(ByteBuffer source) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long position() {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileChannel position(long newPosition) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long position, long count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }
}
