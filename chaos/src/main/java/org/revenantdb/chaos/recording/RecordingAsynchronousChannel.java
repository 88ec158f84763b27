package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.ShutdownChannelGroupException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous channel made of a recording channel and threads, so that each operation has one
 * place in the order. It is recorded where it is carried out, with the thread and stack of its
 * caller.
 *
 * <p>Threads: any. Interrupts do not close it, as with the JDK's own.
 */
final class RecordingAsynchronousChannel extends AsynchronousFileChannel {

  /** The executor of channels without one: daemon threads, as in the JDK. */
  private static final ExecutorService THREADS =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("recorded-channel-", 0).factory());

  private final RecordingChannel channel;
  private final Recorder recorder;
  private final OpenMode mode;
  private final Executor executor;

  RecordingAsynchronousChannel(
      RecordingChannel channel, Recorder recorder, OpenMode mode, @Nullable Executor executor) {
    this.channel = channel;
    this.recorder = recorder;
    this.mode = mode;
    this.executor = executor == null ? THREADS : executor;
  }

  /** An operation that is carried out later. */
  @FunctionalInterface
  private interface Later<T> {
    T call() throws IOException;
  }

  @Override
  public Future<Integer> read(ByteBuffer target, long position) {
    return future(reading(target, position));
  }

  @Override
  public <A extends @Nullable Object> void read(
      ByteBuffer target,
      long position,
      A attachment,
      CompletionHandler<Integer, ? super A> handler) {
    tell(reading(target, position), attachment, handler);
  }

  private Later<Integer> reading(ByteBuffer target, long position) {
    check(position);
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("a buffer that cannot be written");
    }
    if (!mode.read()) {
      throw new NonReadableChannelException();
    }
    Caller caller = recorder.caller();
    return () -> channel.read(target, position, caller);
  }

  @Override
  public Future<Integer> write(ByteBuffer source, long position) {
    return future(writing(source, position));
  }

  @Override
  public <A extends @Nullable Object> void write(
      ByteBuffer source,
      long position,
      A attachment,
      CompletionHandler<Integer, ? super A> handler) {
    tell(writing(source, position), attachment, handler);
  }

  private Later<Integer> writing(ByteBuffer source, long position) {
    check(position);
    if (!mode.write()) {
      throw new NonWritableChannelException();
    }
    Objects.requireNonNull(source);
    Caller caller = recorder.caller();
    return () -> channel.write(source, position, caller);
  }

  @Override
  public Future<FileLock> lock(long position, long size, boolean shared) {
    return future(locking(position, size, shared));
  }

  @Override
  public <A extends @Nullable Object> void lock(
      long position,
      long size,
      boolean shared,
      A attachment,
      CompletionHandler<FileLock, ? super A> handler) {
    tell(locking(position, size, shared), attachment, handler);
  }

  /** Tries at once, because a lock that overlaps is an error of the caller. Waits later. */
  private Later<FileLock> locking(long position, long size, boolean shared) {
    FileLock lock;
    try {
      lock = tryLock(position, size, shared);
    } catch (IOException e) {
      return () -> {
        throw e;
      };
    }
    return () ->
        lock == null
            ? new RecordingFileLock(this, channel.lockBelow(position, size, shared))
            : lock;
  }

  @Override
  public @Nullable FileLock tryLock(long position, long size, boolean shared) throws IOException {
    FileLock lock = channel.tryLockBelow(position, size, shared);
    return lock == null ? null : new RecordingFileLock(this, lock);
  }

  @Override
  public long size() throws IOException {
    return channel.size();
  }

  @Override
  public AsynchronousFileChannel truncate(long size) throws IOException {
    channel.truncate(size);
    return this;
  }

  @Override
  public void force(boolean metadata) throws IOException {
    channel.force(metadata);
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  private static void check(long position) {
    if (position < 0) {
      throw new IllegalArgumentException("negative position: " + position);
    }
  }

  private <T> Future<T> future(Later<T> later) {
    CompletableFuture<T> future = new CompletableFuture<>();
    start(() -> {
      try {
        future.complete(later.call());
      } catch (Throwable e) {
        future.completeExceptionally(e);
      }
    });
    return future;
  }

  private <T, A extends @Nullable Object> void tell(
      Later<T> later, A attachment, CompletionHandler<T, ? super A> handler) {
    Objects.requireNonNull(handler);
    start(() -> {
      T result;
      try {
        result = later.call();
      } catch (Throwable e) {
        handler.failed(e, attachment);
        return;
      }
      handler.completed(result, attachment);
    });
  }

  private void start(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      ShutdownChannelGroupException rejected = new ShutdownChannelGroupException();
      rejected.initCause(e);
      throw rejected;
    }
  }
}
