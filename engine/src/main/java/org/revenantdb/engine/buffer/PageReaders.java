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
 * all threads. So it reads through a channel that an interrupt does not close ({@link
 * CallerReads}). If there is none, a thread of the engine reads for it. The engine's own threads
 * (redo, cleaner, checker) use the channel.
 *
 * <p>If the pool has most of the memory, pages for callers are read beside the cache of the system,
 * where that is possible. All other reads go through it: reads ahead, those of the engine's own
 * threads, and the second read of a page that was not good.
 *
 * <p>A thread is started when there are more reads than threads. A caller always waits until its
 * read has ended, because the reading thread writes to the caller's frame. An interrupt stays
 * pending.
 */
final class PageReaders implements AutoCloseable {
  /** Callers that read for themselves at the same time; there is a file descriptor for each. */
  private static final int CALLERS_AT_ONCE =
      Math.clamp(Runtime.getRuntime().availableProcessors(), 2, 8);

  /** Called by a reading thread at the end of a read that no thread waits for. Throws nothing. */
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

    /** The work of a reading thread for this request. */
    int serve(PageReaders readers) {
      return readers.data.readUpTo(position, target);
    }

    abstract void finish(int bytesRead, @Nullable Throwable withFailure);
  }

  /** A request of a waiting caller. */
  private static class Demand extends Request {
    private final Errand errand = new Errand();
    private final boolean mayBeside;

    /** Written before the caller is notified of the end. */
    int bytes;

    Demand(long position, MemorySegment target, boolean mayBeside) {
      super(position, target);
      this.mayBeside = mayBeside;
    }

    @Override
    int serve(PageReaders readers) {
      if (mayBeside && readers.callerReads.readsBeside()) {
        int read = readers.callerReads.readUpTo(position, target);
        if (read != CallerReads.NOT_DONE) {
          return read;
        }
      }
      return super.serve(readers);
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

  /** A request of a caller whose page needs more than one read of one file. */
  private static final class Work extends Demand {
    private final Runnable step;

    Work(Runnable step) {
      super(/* position= */ 0, MemorySegment.NULL, /* mayBeside= */ false);
      this.step = step;
    }

    @Override
    int serve(PageReaders readers) {
      step.run();
      return 0;
    }
  }

  /** A request that no thread waits for yet. */
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
   * @param beside whether callers read beside the cache of the system, where that is possible
   * @param stop stops the engine if a thread dies
   */
  PageReaders(
      StorageFile data,
      int maxThreads,
      String name,
      boolean beside,
      Consumer<? super Throwable> stop) {
    this.stop = stop;
    this.data = data;
    this.callerReads = data.callerReads(CALLERS_AT_ONCE, BufferPool.PAGE_SIZE, beside);
    this.maxThreads = maxThreads;
    this.name = name;
  }

  /**
   * Reads all bytes of the file from the position on, at most the size of the target.
   *
   * @return how many bytes were read
   */
  int read(long position, MemorySegment target) {
    return read(position, target, /* mayBeside= */ true);
  }

  /** As {@link #read}, through the cache of the system. */
  int readThroughCache(long position, MemorySegment target) {
    return read(position, target, /* mayBeside= */ false);
  }

  private int read(long position, MemorySegment target, boolean mayBeside) {
    if (FileThread.isCurrent()) {
      return data.readUpTo(position, target);
    }
    int read = callerReads.readUpTo(position, target, mayBeside);
    if (read != CallerReads.NOT_DONE) {
      return read;
    }
    return demand(new Demand(position, target, mayBeside));
  }

  /** Whether {@link #read} may read beside the cache of the system, for this thread. */
  boolean readsBeside() {
    return !FileThread.isCurrent() && callerReads.readsBeside();
  }

  /** A read beside the cache had other bytes than the one through it: there is to be no more. */
  void giveUpBeside() {
    callerReads.giveUpBeside();
  }

  /** Runs work on files, on a thread that is never interrupted; waits for its end. */
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
   * Requests a read and does not wait for it. The readers own the target until they report the
   * arrival, on a reading thread. {@link #close} reports the requests that were not read yet.
   *
   * @throws IllegalStateException if the readers are closed; then nothing is reported
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
        bytes = request.serve(this);
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

  /**
   * Stops the engine and notifies all waiting threads: other reading threads may have died, too.
   */
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
      // In turn: a thread may wait for a page that is being read ahead, too.
      boolean demand = aheads.isEmpty() || (!demands.isEmpty() && !tookDemand);
      tookDemand = demand;
      return (demand ? demands : aheads).pollFirst();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the threads when every read that a thread waits for has ended. */
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
