package org.revenantdb.chaos.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous channel over a file in memory. Each operation is a task of its own, in the given
 * executor or in a virtual thread. So operations may overtake each other, as on other file systems.
 */
final class MemoryAsynchronousChannel extends AsynchronousFileChannel {

  private final OpenFile file;
  private final NameSpace names;
  private final Executor executor;
  private volatile boolean closed;

  MemoryAsynchronousChannel(OpenFile file, NameSpace names, @Nullable Executor executor) {
    this.file = file;
    this.names = names;
    this.executor = executor == null ? Thread::startVirtualThread : executor;
  }

  /** What an operation does once it has a thread. */
  @FunctionalInterface
  private interface Body<V> {
    V run() throws IOException;
  }

  /** Receives the result of an operation: one of the two is null. */
  @FunctionalInterface
  private interface Ended<V> {
    void with(@Nullable V result, @Nullable Throwable failure);
  }

  private <V> Future<V> future(Body<V> body) {
    CompletableFuture<V> future = new CompletableFuture<>();
    start(
        body,
        (result, failure) -> {
          if (failure == null) {
            future.complete(result);
          } else {
            future.completeExceptionally(failure);
          }
        });
    return future;
  }

  private <V, A> void handled(
      Body<V> body, @Nullable A attachment, CompletionHandler<V, ? super A> handler) {
    start(body, (result, failure) -> tell(handler, attachment, result, failure));
  }

  // A handler's result and attachment may be null; the JDK's interface does not state this.
  @SuppressWarnings("NullAway")
  private static <V, A> void tell(
      CompletionHandler<V, ? super A> handler,
      @Nullable A attachment,
      @Nullable V result,
      @Nullable Throwable failure) {
    if (failure == null) {
      handler.completed(result, attachment);
    } else {
      handler.failed(failure, attachment);
    }
  }

  private <V> void start(Body<V> body, Ended<V> ended) {
    boolean late = closed;
    executor.execute(() -> {
      V result;
      try {
        if (late) {
          throw new ClosedChannelException();
        }
        result = body.run();
      } catch (IOException | RuntimeException | Error e) {
        ended.with(null, e);
        return;
      }
      ended.with(result, null);
    });
  }

  private Body<Integer> reading(ByteBuffer target, long position) {
    checkPosition(position);
    if (!file.mode().read()) {
      throw new NonReadableChannelException();
    }
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("Read-only buffer");
    }
    return () -> (int) file.read(position, target);
  }

  private Body<Integer> writing(ByteBuffer source, long position) {
    checkPosition(position);
    if (!file.mode().write()) {
      throw new NonWritableChannelException();
    }
    return () -> (int) file.write(position, source);
  }

  private static void checkPosition(long position) {
    if (position < 0) {
      throw new IllegalArgumentException("Negative position");
    }
  }

  @Override
  public Future<Integer> read(ByteBuffer target, long position) {
    return future(reading(target, position));
  }

  @Override
  public <A> void read(
      ByteBuffer target,
      long position,
      @Nullable A attachment,
      CompletionHandler<Integer, ? super A> handler) {
    handled(reading(target, position), attachment, checkHandler(handler));
  }

  @Override
  public Future<Integer> write(ByteBuffer source, long position) {
    return future(writing(source, position));
  }

  @Override
  public <A> void write(
      ByteBuffer source,
      long position,
      @Nullable A attachment,
      CompletionHandler<Integer, ? super A> handler) {
    handled(writing(source, position), attachment, checkHandler(handler));
  }

  private static <H> H checkHandler(H handler) {
    if (handler == null) {
      throw new NullPointerException("'handler' is null");
    }
    return handler;
  }

  @Override
  public Future<FileLock> lock(long position, long size, boolean shared) {
    return future(locking(position, size, shared));
  }

  @Override
  public <A> void lock(
      long position,
      long size,
      boolean shared,
      @Nullable A attachment,
      CompletionHandler<FileLock, ? super A> handler) {
    checkHandler(handler);
    handled(locking(position, size, shared), attachment, handler);
  }

  /** Takes the lock at once, because no thread ever waits for one. Only the result comes later. */
  private Body<FileLock> locking(long position, long size, boolean shared) {
    try {
      FileLock lock = MemoryFileLock.take(this, file, position, size, shared);
      return () -> lock;
    } catch (IOException e) {
      return () -> {
        throw e;
      };
    }
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) throws IOException {
    ensureOpen();
    return MemoryFileLock.take(this, file, position, size, shared);
  }

  @Override
  public long size() throws IOException {
    ensureOpen();
    return file.size();
  }

  @Override
  public AsynchronousFileChannel truncate(long size) throws IOException {
    if (size < 0) {
      throw new IllegalArgumentException("Negative size");
    }
    if (!file.mode().write()) {
      throw new NonWritableChannelException();
    }
    ensureOpen();
    file.truncate(size);
    return this;
  }

  @Override
  public void force(boolean metadata) throws IOException {
    ensureOpen();
    file.force();
  }

  private void ensureOpen() throws ClosedChannelException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  @Override
  public boolean isOpen() {
    return !closed;
  }

  @Override
  public void close() {
    closed = true;
    names.forget(this);
    file.close();
  }
}
