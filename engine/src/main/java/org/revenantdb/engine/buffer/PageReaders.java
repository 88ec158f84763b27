package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.StorageFile;

/**
 * The threads that read pages, so that no caller touches the file: an interrupt on a caller's
 * thread would close it for everybody. The engine's own threads (redo, cleaner, checker) read for
 * themselves, which saves the hand-over there and back.
 *
 * <p>They are started when there is more to read than threads to do it. A caller waits for its page
 * to the end, whatever happens, because the thread that reads writes to the caller's frame; an
 * interrupt meanwhile is kept for later.
 */
final class PageReaders implements AutoCloseable {
  /** So long at most does a waiting caller rely on being woken. */
  private static final long PATIENCE_NANOS = 1_000_000_000L;

  private static final class Request {
    final long position;
    final MemorySegment target;
    final Thread caller = Thread.currentThread();

    int bytes;
    @Nullable Throwable failure;
    volatile boolean done;

    Request(long position, MemorySegment target) {
      this.position = position;
      this.target = target;
    }

    void finish() {
      done = true;
      LockSupport.unpark(caller);
    }

    void await() {
      boolean interrupted = false;
      while (!done) {
        LockSupport.parkNanos(this, PATIENCE_NANOS);
        interrupted |= Thread.interrupted();
      }
      if (interrupted) {
        caller.interrupt();
      }
    }
  }

  private final StorageFile data;
  private final int maxThreads;
  private final String name;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final ArrayDeque<Request> queue = new ArrayDeque<>();
  private final List<FileThread> threads = new ArrayList<>();
  private int idle;
  private boolean closed;

  PageReaders(StorageFile data, int maxThreads, String name) {
    this.data = data;
    this.maxThreads = maxThreads;
    this.name = name;
  }

  /**
   * Reads as many bytes as there are, at most the size of the target.
   *
   * @return how many
   */
  int read(long position, MemorySegment target) {
    if (FileThread.isCurrent()) {
      return data.readUpTo(position, target);
    }
    Request request = new Request(position, target);
    submit(request);
    request.await();
    Throwable failure = request.failure;
    if (failure != null) {
      throw Failures.rethrow(failure);
    }
    return request.bytes;
  }

  private void submit(Request request) {
    lock.lock();
    try {
      if (closed) {
        throw new Failures.PoolClosedException();
      }
      queue.addLast(request);
      if (queue.size() > idle && threads.size() < maxThreads) {
        startThread(request);
      }
      work.signal();
    } finally {
      lock.unlock();
    }
  }

  private void startThread(Request request) {
    FileThread thread = FileThread.of(name + "-reader-" + (threads.size() + 1), this::run);
    try {
      thread.start();
      threads.add(thread);
    } catch (OutOfMemoryError noThread) {
      if (threads.isEmpty()) {
        queue.remove(request);
        throw noThread;
      }
    }
  }

  private void run() {
    for (Request request = next(); request != null; request = next()) {
      try {
        request.bytes = data.readUpTo(request.position, request.target);
      } catch (Throwable failure) {
        request.failure = failure;
      } finally {
        request.finish();
      }
    }
  }

  private @Nullable Request next() {
    lock.lock();
    try {
      while (queue.isEmpty() && !closed) {
        idle++;
        work.awaitUninterruptibly();
        idle--;
      }
      return queue.pollFirst();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the threads once everything asked for has been read. */
  @Override
  public void close() {
    List<FileThread> all;
    lock.lock();
    try {
      closed = true;
      work.signalAll();
      all = List.copyOf(threads);
    } finally {
      lock.unlock();
    }
    all.forEach(FileThread::join);
  }
}
