package org.revenantdb.gc.version;

import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.file.FileThread;

/**
 * The thread that writes older versions to files when they exceed their memory, and merges these
 * files. It is started at the first need.
 *
 * <p>Threads: any thread may wake it. It waits only for files. Failure: it is reported to the
 * memory that should have been freed, and the work is tried again. If the thread dies, the engine
 * stops.
 */
final class Spiller implements AutoCloseable {
  private static final String NAME = "revenant-spiller";

  /** The pause after a failure, even if the thread is woken. */
  private static final long RETRY_NANOS = 100_000_000;

  private final SpillFiles files;
  private final VersionMemory memory;
  private final BooleanSupplier spill;
  private final Predicate<Runnable> merge;
  private final Consumer<? super Throwable> stop;
  private final PatientLock starting = new PatientLock();
  private volatile @Nullable FileThread thread;
  private volatile boolean wanted;
  private volatile boolean closed;

  /** Used only by the thread: why the last merge failed, and when the next may be tried. */
  private @Nullable Throwable mergeFailure;

  private long mergeAgainAt;

  /**
   * Makes a spiller that is not started.
   *
   * @param spill frees memory; returns false if there is nothing more to free
   * @param merge merges files, and runs its argument from time to time; returns false if there was
   *     nothing to do
   * @param stop stops the engine
   */
  Spiller(
      SpillFiles files,
      VersionMemory memory,
      BooleanSupplier spill,
      Predicate<Runnable> merge,
      Consumer<? super Throwable> stop) {
    this.files = files;
    this.memory = memory;
    this.spill = spill;
    this.merge = merge;
    this.stop = stop;
  }

  /** Called when memory has to be freed. */
  void wake() {
    if (wanted) {
      return;
    }
    wanted = true;
    FileThread running = thread;
    if (running == null) {
      start();
    } else {
      running.unpark();
    }
  }

  private void start() {
    starting.lock();
    try {
      if (thread == null && !closed) {
        FileThread fresh = FileThread.of(NAME, this::run, this::died);
        fresh.start();
        thread = fresh;
      }
    } catch (OutOfMemoryError noThread) {
      wanted = false; // the next caller of wake tries again
      memory.failed(noThread);
    } finally {
      starting.unlock();
    }
  }

  private void run() {
    while (!closed) {
      if (memory.hasFailed()) {
        rest();
        wanted = true;
      }
      if (wanted) {
        wanted = false;
        spillWhileNeeded();
        mergeWhileNeeded();
      } else {
        LockSupport.park(this);
      }
    }
  }

  /** From now on writers that wait for room are refused. */
  private void died(Throwable cause) {
    try {
      stop.accept(cause);
    } finally {
      memory.failed(cause);
    }
  }

  /** Pauses after a failure: refused writers keep waking the thread. */
  private void rest() {
    long end = System.nanoTime() + RETRY_NANOS;
    for (long left = RETRY_NANOS; left > 0 && !closed; left = end - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
  }

  private void spillWhileNeeded() {
    try {
      while (memory.isOverBudget() && !closed) {
        if (!spill.getAsBoolean()) {
          memory.failed(nothingToFree());
          return;
        }
        memory.succeeded();
      }
      memory.succeeded();
    } catch (Throwable failure) {
      memory.failed(failure);
    }
  }

  /**
   * The failure if the index of the runs takes too much memory. Merging makes the index smaller.
   */
  private Throwable nothingToFree() {
    Throwable why = mergeFailure;
    return why != null
        ? why
        : files.trouble(
            "the index of the older versions in files takes all memory that older versions may use",
            "open the database with more memory for versions",
            null);
  }

  private void mergeWhileNeeded() {
    if (mergeFailure != null && System.nanoTime() - mergeAgainAt < 0) {
      return;
    }
    try {
      while (!closed && merge.test(this::meanwhile)) {
        mergeFailure = null;
      }
    } catch (Throwable failure) {
      mergeFailure = failure; // there are more files than there should be
      mergeAgainAt = System.nanoTime() + RETRY_NANOS;
    }
  }

  /**
   * Called during a merge, which may take long: neither writers nor a close should wait for its
   * end.
   */
  private void meanwhile() {
    if (closed) {
      throw new CancellationException();
    }
    spillWhileNeeded();
  }

  /** Ends the thread. */
  @Override
  public void close() {
    FileThread running;
    starting.lock();
    try {
      closed = true;
      running = thread;
    } finally {
      starting.unlock();
    }
    if (running != null) {
      running.unpark();
      running.join();
    }
  }
}
