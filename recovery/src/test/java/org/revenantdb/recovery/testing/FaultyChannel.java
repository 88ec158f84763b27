package org.revenantdb.recovery.testing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/** A channel that asks its file system before it does anything. */
final class FaultyChannel extends FileChannel {
  private final FaultyFileSystem system;
  private final Path file;
  private final FileChannel real;

  FaultyChannel(FaultyFileSystem system, Path file, FileChannel real) {
    this.system = system;
    this.file = file;
    this.real = real;
    system.opened(file);
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    system.happens(IoEvent.Kind.READ, file, real.position(), target.remaining());
    return real.read(target);
  }

  @Override
  public int read(ByteBuffer target, long position) throws IOException {
    system.happens(IoEvent.Kind.READ, file, position, target.remaining());
    return real.read(target, position);
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) {
    throw new UnsupportedOperationException("not used by the engine");
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int written = write(source, real.position());
    real.position(real.position() + written);
    return written;
  }

  @Override
  public int write(ByteBuffer source, long position) throws IOException {
    system.happens(IoEvent.Kind.WRITE, file, position, source.remaining());
    int taken = system.takeRoom(source.remaining());
    byte[] bytes = new byte[taken];
    source.get(bytes);
    system.misplaced().write(file, real, bytes, position);
    system.wrote(file, position, bytes);
    return taken;
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) {
    throw new UnsupportedOperationException("not used by the engine");
  }

  @Override
  public long position() throws IOException {
    return real.position();
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    real.position(newPosition);
    return this;
  }

  @Override
  public long size() throws IOException {
    return real.size();
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    system.happens(IoEvent.Kind.TRUNCATE, file, size, 0);
    real.truncate(size);
    system.truncated(file, size);
    return this;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    system.happens(IoEvent.Kind.FORCE, file, 0, 0);
    system.forces(file);
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) {
    throw new UnsupportedOperationException("not used by the engine");
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long position, long count) {
    throw new UnsupportedOperationException("not used by the engine");
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) {
    throw new UnsupportedOperationException("not used by the engine");
  }

  @Override
  public MemorySegment map(MapMode mode, long position, long size, Arena arena) throws IOException {
    if (!system.isMappable() || mode != MapMode.READ_WRITE) {
      throw new UnsupportedOperationException("as in memory");
    }
    system.happens(IoEvent.Kind.MAP, file, position, size);
    return real.map(mode, position, size, arena);
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) throws IOException {
    return real.lock(position, size, shared);
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) throws IOException {
    return real.tryLock(position, size, shared);
  }

  @Override
  protected void implCloseChannel() throws IOException {
    real.close();
    system.closed(file);
  }
}
