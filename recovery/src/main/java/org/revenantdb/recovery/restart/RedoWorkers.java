package org.revenantdb.recovery.restart;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.log.PartKind;

/**
 * Redo by several threads: each page belongs to one of them, and each of them gets the parts of its
 * pages in the order of the log.
 *
 * <p>Threads: one scans the log and waits for the end; the workers are threads of the engine. A
 * target is used by one worker alone.
 *
 * <p>Memory: at most {@link RedoLane#DEPTH} batches of {@link RedoLane#BATCH} bytes a worker, that
 * is half a MiB.
 *
 * <p>Failure: what redo in one thread would have thrown, see inside.
 */
final class RedoWorkers {
  /*
   * Why no order across pages matters (protocols.md §10): a part is redone from its page and itself (R13), what
   * FORMAT and FREE make void was decided by analysis before the first part is handed out (R12), and the redo point
   * stands still until all workers have ended (R6).
   *
   * Failures    Parts are numbered in the order of the log. `failedAt` is the lowest number that has failed.
   *   reader    stops as soon as it sees a failure: all it handed out before has lower numbers, or does not matter
   *   worker    goes on with parts below `failedAt`, stops at the first one above
   *   the end   the failure with the lowest number is thrown, as redo in one thread would have thrown it
   * One exception: a part that half changed its page stops the log, and with it the page writer, so another worker may
   * fail at an earlier part just because of that. Such a failure has the other one among its causes, and does not
   * count.
   *
   * Waiting     The reader waits for the lanes, holding nothing. A worker waits for its lane, holding nothing; and
   * within the target for a frame, holding nothing, or for its page to be read, holding that frame alone. So a
   * pool with fewer frames than there are workers makes them slow, and no more.
   */

  /** More do not help: the log is read by one. */
  static final int MOST = 8;

  /** Ends the scan; nobody else ever sees it. */
  private static final class ScanEnds extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ScanEnds() {
      super(null, null, /* enableSuppression= */ false, /* writableStackTrace= */ false);
    }
  }

  private record Failed(long number, Throwable failure) {}

  private static final class Worker {
    final RedoLane lane = new RedoLane();
    final FileThread thread;

    /** The part that it is at; of its thread, and of the reader after its end. */
    long at;

    /** What it died of: a field, since telling it allocates nothing. Of the reader at its end. */
    @Nullable Throwable failure;

    Worker(String name, RedoWorkers redo) {
      thread =
          FileThread.of(
              name, () -> redo.work(this), cause -> redo.died(this, cause), lane::abandon);
    }
  }

  private final Supplier<RedoTarget> targets;
  private final List<Worker> workers = new ArrayList<>();

  /** Of the reader alone. */
  private final List<Failed> failures = new ArrayList<>();

  /** Written under the monitor of the workers. */
  private volatile long failedAt = Long.MAX_VALUE;

  /** Of the reader alone. */
  private long number;

  private RedoWorkers(Supplier<RedoTarget> targets) {
    this.targets = targets;
  }

  /**
   * How many workers this machine gets: one for two processors. An open is the first that its JVM
   * does, so the compiler has the other half; with two workers on two processors a restart took 590
   * ms instead of 490 (`demo --seed 5`, three pairs).
   */
  static int usual() {
    return Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, MOST);
  }

  /**
   * Redoes everything that a scan hands out.
   *
   * @param count how many workers; 1 = the caller does it all
   * @param targets makes a target for each worker
   * @param threadName the names of the workers begin with this
   * @param scan hands out all parts in the order of the log; is run by the caller
   */
  static void run(
      int count, Supplier<RedoTarget> targets, String threadName, Consumer<RedoTarget> scan) {
    RedoWorkers redo = new RedoWorkers(targets);
    if (count > 1) {
      redo.start(count, threadName);
    }
    if (redo.workers.isEmpty()) {
      scan.accept(targets.get());
      return;
    }
    try {
      scan.accept(redo::handOut);
    } catch (ScanEnds sawFailure) {
      // It is among the failures.
    } catch (Throwable ownFailure) {
      redo.failures.add(new Failed(redo.number + 1, ownFailure));
    } finally {
      redo.end();
    }
    redo.throwFirstFailure();
  }

  /** Starts as many as there are threads to be had. */
  private void start(int count, String threadName) {
    try {
      for (int i = 1; i <= count; i++) {
        Worker worker = new Worker(threadName + "-redo-" + i, this);
        worker.thread.start();
        workers.add(worker);
      }
    } catch (OutOfMemoryError noThread) {
      // Then with those that there are; without any, the caller does the work.
    }
  }

  private void handOut(int page, long lsn, PartKind kind, byte[] record, int offset, int length) {
    if (failedAt != Long.MAX_VALUE) {
      throw new ScanEnds();
    }
    number++;
    workers.get(workerOf(page)).lane.put(number, page, lsn, kind, record, offset, length);
  }

  private int workerOf(int page) {
    // The high half, since pages that are hot together lie at regular distances.
    return (int) (((page * 0x9E3779B9L & 0xFFFFFFFFL) * workers.size()) >>> 32);
  }

  private void work(Worker worker) {
    RedoTarget target = targets.get();
    RedoLane.@Nullable Batch batch;
    while ((batch = worker.lane.take()) != null) {
      for (int part = 0; batch.hasPartAt(part); ) {
        worker.at = batch.number(part);
        if (worker.at > failedAt) {
          return;
        }
        part = batch.redo(part, target);
      }
      worker.lane.giveBack(batch);
    }
  }

  private void died(Worker worker, Throwable failure) {
    worker.failure = failure;
    synchronized (workers) {
      failedAt = Math.min(failedAt, worker.at);
    }
  }

  private void end() {
    for (Worker worker : workers) {
      worker.lane.end();
    }
    for (Worker worker : workers) {
      worker.thread.join();
      Throwable failure = worker.failure;
      if (failure != null) {
        failures.add(new Failed(worker.at, failure));
      }
    }
  }

  private void throwFirstFailure() {
    if (!failures.isEmpty()) {
      throw thrown(first(failures.stream().filter(one -> !isConsequence(one)).toList()));
    }
  }

  private Throwable first(List<Failed> causes) {
    return (causes.isEmpty() ? failures : causes)
        .stream().min(Comparator.comparingLong(Failed::number)).orElseThrow().failure();
  }

  /** Whether another worker's failure is among the causes. */
  private boolean isConsequence(Failed one) {
    for (Throwable cause = one.failure().getCause(); cause != null; cause = cause.getCause()) {
      for (Failed other : failures) {
        if (other.failure().equals(cause)) {
          return true;
        }
      }
    }
    return false;
  }

  private static RuntimeException thrown(Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    return (RuntimeException) failure; // neither a target nor a scan can throw anything else
  }
}
