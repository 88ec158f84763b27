package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.CallerReads;
import org.revenantdb.recovery.file.Errand;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * Reads pages, for callers and ahead of scans.
 *
 * <p>A caller must not touch the channel of the file: an interrupt on its thread would close it for
 * everybody. So it reads by an opening that an interrupt does not close ({@link CallerReads}), or,
 * where that is not to be had, a thread of the engine reads for it. The engine's own threads (redo,
 * cleaner, checker) use the channel.
 *
 * <p>The threads are started when there is more to read than threads to do it. A caller waits for
 * its page to the end, whatever happens, because the thread that reads writes to the caller's
 * frame; an interrupt meanwhile is kept for later.
 */
final class PageReaders implements AutoCloseable {
  /** Callers that read for themselves at the same time; there is a file descriptor for each. */
  private static final int CALLERS_AT_ONCE =
      Math.clamp(Runtime.getRuntime().availableProcessors(), 2, 8);

  /** Told by a reading thread how a read has ended that nobody waits for; throws nothing. */
  @FunctionalInterface
  interface Arrival {
    /**
     * A read has ended.
     *
     * @param bytes how many were read
     * @param failure why none were, or null
     */
    void arrived(int bytes, @Nullable Throwable failure);
  }

  private abstract static class Request {
    final long position;
    final MemorySegment target;

    Request(long position, MemorySegment target) {
      this.position = position;
      this.target = target;
    }

    /** What a reading thread does for it. */
    int serve(StorageFile data) {
      return data.readUpTo(position, target);
    }

    abstract void finish(int bytesRead, @Nullable Throwable withFailure);
  }

  /** Of a caller who waits. */
  private static class Demand extends Request {
    private final Errand errand = new Errand();

    /** Written before the caller is told that it is over. */
    int bytes;

    Demand(long position, MemorySegment target) {
      super(position, target);
    }

    @Override
    void finish(int bytesRead, @Nullable Throwable withFailure) {
      bytes = bytesRead;
      errand.finish(withFailure);
    }

    @Nullable Throwable await() {
      return errand.await();
    }
  }

  /** Of a caller whose page takes more than one read of one file. */
  private static final class Work extends Demand {
    private final Runnable step;

    Work(Runnable step) {
      super(/* position= */ 0, MemorySegment.NULL);
      this.step = step;
    }

    @Override
    int serve(StorageFile data) {
      step.run();
      return 0;
    }
  }

  /** Of nobody who waits, yet. */
  private static final class Ahead extends Request {
    final Arrival arrival;

    Ahead(long position, MemorySegment target, Arrival arrival) {
      super(position, target);
      this.arrival = arrival;
    }

    @Override
    void finish(int bytesRead, @Nullable Throwable withFailure) {
      arrival.arrived(bytesRead, withFailure);
    }
  }

  private final StorageFile data;
  private final CallerReads callerReads;
  private final int maxThreads;
  private final String name;
  private final Consumer<? super Throwable> stop;

  private final PatientLock lock = new PatientLock();
  private final Condition work = lock.newCondition();
  private final ArrayDeque<Request> demands = new ArrayDeque<>();
  private final ArrayDeque<Request> aheads = new ArrayDeque<>();
  private final List<FileThread> threads = new ArrayList<>();
  private int idle;
  private boolean tookDemand;
  private volatile boolean closed;
  private @Nullable Throwable death;

  /**
   * No thread is started yet.
   *
   * @param stop stops the engine, should a thread die
   */
  PageReaders(StorageFile data, int maxThreads, String name, Consumer<? super Throwable> stop) {
    this.stop = stop;
    this.data = data;
    this.callerReads = data.callerReads(CALLERS_AT_ONCE, BufferPool.PAGE_SIZE);
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
    int read = callerReads.readUpTo(position, target);
    if (read != CallerReads.NOT_DONE) {
      return read;
    }
    return demand(new Demand(position, target));
  }

  /** Does something that touches files, on a thread that nobody interrupts; waits for its end. */
  void onFileThread(Runnable step) {
    if (FileThread.isCurrent()) {
      step.run();
    } else {
      demand(new Work(step));
    }
  }

  private int demand(Demand request) {
    submit(demands, request);
    Throwable failure = request.await();
    if (failure != null) {
      throw Failures.rethrow(failure);
    }
    return request.bytes;
  }

  /**
   * Has bytes read without waiting. The target is the readers' until the arrival is told, on a
   * reading thread; {@link #close} tells those that were not read yet.
   *
   * @throws IllegalStateException if the readers are closed; nothing is told then
   */
  void readAhead(long position, MemorySegment target, Arrival arrival) {
    submit(aheads, new Ahead(position, target, arrival));
  }

  private void submit(ArrayDeque<Request> queue, Request request) {
    lock.lock();
    try {
      if (closed) {
        throw new PoolClosedException();
      }
      Throwable cause = death;
      if (cause != null) {
        throw new LogStoppedException(cause);
      }
      queue.addLast(request);
      if (demands.size() + aheads.size() > idle && threads.size() < maxThreads) {
        startThread(queue, request);
      }
      work.signal();
    } finally {
      lock.unlock();
    }
  }

  private void startThread(ArrayDeque<Request> queue, Request request) {
    FileThread thread =
        FileThread.of(name + "-reader-" + (threads.size() + 1), this::run, this::died);
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
      int bytes = 0;
      @Nullable Throwable failure = null;
      try {
        if (closed && request instanceof Ahead) {
          throw new PoolClosedException();
        }
        bytes = request.serve(data);
      } catch (Throwable thrown) {
        failure = thrown;
      }
      request.finish(bytes, failure);
    }
  }

  /** Stops the engine. */
  void fail(Throwable cause) {
    stop.accept(cause);
  }

  /** The engine stops, and all that wait are told: other threads may have died, too. */
  private void died(Throwable cause) {
    try {
      stop.accept(cause);
    } finally {
      lock.lock();
      try {
        death = cause;
        finishAll(demands, cause);
        finishAll(aheads, cause);
      } finally {
        lock.unlock();
      }
    }
  }

  private static void finishAll(ArrayDeque<Request> requests, Throwable cause) {
    for (Request request; (request = requests.pollFirst()) != null; ) {
      request.finish(0, cause);
    }
  }

  private @Nullable Request next() {
    lock.lock();
    try {
      while (demands.isEmpty() && aheads.isEmpty() && !closed) {
        idle++;
        work.awaitUninterruptibly();
        idle--;
      }
      // Turn by turn: somebody may have come to wait for what is read ahead, too.
      boolean demand = aheads.isEmpty() || (!demands.isEmpty() && !tookDemand);
      tookDemand = demand;
      return (demand ? demands : aheads).pollFirst();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the threads once everything that somebody waits for has been read. */
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
    callerReads.close();
  }
}
