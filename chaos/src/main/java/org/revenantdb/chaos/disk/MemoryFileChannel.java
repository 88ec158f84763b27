package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import java.util.Objects;

/** A file channel over a file in memory, interruptible like that of the default file system. */
final class MemoryFileChannel extends FileChannel {
  /*
   * Every operation is between begin and end of AbstractInterruptibleChannel, although none blocks.
   * A thread that is interrupted before or during an operation must find the channel closed. begin
   * closes it, then the open file refuses the operation, and end replaces the exception. The
   * streams of java.nio.file are not interruptible, so they skip begin and end.
   */

  private static final int TRANSFER = 1 << 16;

  private final OpenFile file;
  private final boolean interruptible;
  private final NameSpace names;
  private final Object positionLock = new Object();
  private long position;

  MemoryFileChannel(OpenFile file, NameSpace names, boolean interruptible) {
    this.file = file;
    this.names = names;
    this.interruptible = interruptible;
  }

  /** What an operation does between begin and end. */
  @FunctionalInterface
  private interface Body {
    long run() throws IOException;
  }

  private long guarded(Body body) throws IOException {
    if (!interruptible) {
      return body.run();
    }
    boolean completed = false;
    try {
      begin();
      long result = body.run();
      completed = true;
      return result;
    } finally {
      end(completed);
    }
  }

  private void ensureOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  private void ensureReadable() throws ClosedChannelException {
    ensureOpen();
    if (!file.mode().read()) {
      throw new NonReadableChannelException();
    }
  }

  private void ensureWritable() throws ClosedChannelException {
    ensureOpen();
    if (!file.mode().write()) {
      throw new NonWritableChannelException();
    }
  }

  private static void checkPosition(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("Negative position");
    }
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    ensureReadable();
    return (int) readOn(target);
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, targets.length);
    ensureReadable();
    return readOn(Arrays.copyOfRange(targets, offset, offset + length));
  }

  private long readOn(ByteBuffer... targets) throws IOException {
    synchronized (positionLock) {
      return guarded(() -> {
        long n = file.read(position, targets);
        position += Math.max(0, n);
        return n;
      });
    }
  }

  @Override
  public int read(ByteBuffer target, long at) throws IOException {
    Objects.requireNonNull(target);
    checkPosition(at);
    ensureReadable();
    return (int) guarded(() -> file.read(at, target));
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    ensureWritable();
    return (int) writeOn(source);
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, sources.length);
    ensureWritable();
    return writeOn(Arrays.copyOfRange(sources, offset, offset + length));
  }

  private long writeOn(ByteBuffer... sources) throws IOException {
    synchronized (positionLock) {
      return guarded(() -> {
        long n = file.write(position, sources);
        position += n;
        return n;
      });
    }
  }

  @Override
  public int write(ByteBuffer source, long at) throws IOException {
    Objects.requireNonNull(source);
    checkPosition(at);
    ensureWritable();
    return (int) guarded(() -> file.write(at, source));
  }

  @Override
  public long position() throws IOException {
    ensureOpen();
    synchronized (positionLock) {
      return guarded(() -> {
        long size = file.size();
        return file.mode().append() ? size : position;
      });
    }
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    ensureOpen();
    checkPosition(newPosition);
    synchronized (positionLock) {
      guarded(() -> {
        file.size();
        position = newPosition;
        return 0;
      });
    }
    return this;
  }

  @Override
  public long size() throws IOException {
    ensureOpen();
    return guarded(file::size);
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    ensureOpen();
    if (size < 0) {
      throw new IllegalArgumentException("Negative size");
    }
    ensureWritable();
    synchronized (positionLock) {
      guarded(() -> {
        file.truncate(size);
        position = Math.min(position, size);
        return 0;
      });
    }
    return this;
  }

  @Override
  public void force(boolean metadata) throws IOException {
    ensureOpen();
    guarded(() -> {
      file.force();
      return 0;
    });
  }

  @Override
  public long transferTo(long from, long count, WritableByteChannel target) throws IOException {
    ensureOpen();
    if (!target.isOpen()) {
      throw new ClosedChannelException();
    }
    ensureReadable();
    if (target instanceof MemoryFileChannel channel) {
      channel.ensureWritable();
    }
    checkRange(from, count);
    long available = Math.clamp(size() - from, 0, count);
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(available, TRANSFER));
    long done = 0;
    try {
      while (done < available) {
        buffer.clear().limit((int) Math.min(available - done, buffer.capacity()));
        int n = read(buffer, from + done);
        if (n <= 0) {
          break;
        }
        int written = target.write(buffer.flip());
        done += written;
        if (written < n) {
          break;
        }
      }
    } catch (IOException e) {
      return movedUntil(e, done);
    }
    return done;
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long to, long count) throws IOException {
    ensureOpen();
    if (!source.isOpen()) {
      throw new ClosedChannelException();
    }
    if (source instanceof MemoryFileChannel channel) {
      channel.ensureReadable();
    }
    ensureWritable();
    checkRange(to, count);
    long wanted = count;
    if (source instanceof FileChannel channel) {
      // Only the bytes that are there now: a file copied behind its own end would
      // never be finished.
      wanted = Math.clamp(channel.size() - channel.position(), 0, count);
    }
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(wanted, TRANSFER));
    long done = 0;
    try {
      while (done < wanted) {
        buffer.clear().limit((int) Math.min(wanted - done, buffer.capacity()));
        int n = source.read(buffer);
        if (n <= 0) {
          break;
        }
        done += write(buffer.flip(), to + done);
      }
    } catch (IOException e) {
      return movedUntil(e, done);
    }
    return done;
  }

  private static void checkRange(long from, long count) {
    if (from < 0 || count < 0) {
      throw new IllegalArgumentException("Negative position or count");
    }
  }

  /**
   * A transfer that moved some bytes before it failed returns their number, unless a channel was
   * closed.
   */
  private static long movedUntil(IOException failure, long done) throws IOException {
    if (done == 0 || failure instanceof AsynchronousCloseException) {
      throw failure;
    }
    return done;
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long from, long size) throws IOException {
    checkMapping(mode, from, size);
    if (size > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("Size exceeds Integer.MAX_VALUE");
    }
    return file.map(
        from + size,
        content -> CopiedMapping.of(content, from, size, copy -> copy.map(mode, 0, size)));
  }

  @Override
  public MemorySegment map(MapMode mode, long from, long size, Arena arena) throws IOException {
    checkMapping(mode, from, size);
    return file.map(
        from + size,
        content -> CopiedMapping.of(content, from, size, copy -> copy.map(mode, 0, size, arena)));
  }

  private void checkMapping(MapMode mode, long from, long size) throws IOException {
    ensureReadable();
    if (mode.equals(MapMode.PRIVATE)) {
      ensureWritable();
    } else if (!mode.equals(MapMode.READ_ONLY)) {
      throw new UnsupportedOperationException(
          "a file in memory cannot be mapped for writing; a recording can, and process death tests"
              + " the default file system");
    }
    if (from < 0 || size < 0) {
      throw new IllegalArgumentException("from " + from + ", size " + size);
    }
  }

  @Override
  public FileLock lock(long from, long size, boolean shared) throws IOException {
    ensureOpen();
    FileLock[] taken = new FileLock[1];
    try {
      guarded(() -> {
        taken[0] = tryLock(from, size, shared);
        return 0;
      });
    } catch (ClosedByInterruptException e) {
      throw (IOException) new FileLockInterruptionException().initCause(e);
    }
    return taken[0];
  }

  @Override
  public FileLock tryLock(long from, long size, boolean shared) throws IOException {
    ensureOpen();
    return MemoryFileLock.take(this, file, from, size, shared);
  }

  @Override
  protected void implCloseChannel() {
    names.forget(this);
    file.close();
  }
}
