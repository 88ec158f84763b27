package org.revenantdb.recovery.file;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The threads that run the work of {@link FileThread}. While a database is open, a thread whose
 * work has ended waits a second for more. After the last database was closed there are no threads.
 *
 * <p>Threads: any.
 */
final class FileThreadPool {
  /*
   * A worker    It is started with work. Then, while databases > 0, it is IDLE, without work, until it is given
   *             some. It ends when it has waited for long enough, or no database is open. All of this is decided
   *             under LOCK.
   * Last close  It notifies the idle threads, and waits for the end of every thread that has no work. A
   *             thread that is still at work belongs to no database: each database waits for its own work before it
   *             reports that it is closed.
   * Order       `work` is null before any thread learns that the work has ended (FileThread.ended). So a close that
   *             has waited for the work sees a thread without work, and waits for its end, too.
   * Why not a ThreadPoolExecutor   It interrupts idle threads to end them, and cannot report when they have ended.
   */

  static final String IDLE_NAME = "revenant-idle";

  private static final long KEPT = TimeUnit.SECONDS.toNanos(1);

  /** A monitor, because it allocates nothing: work also ends when there is no memory. */
  private static final Object LOCK = new Object();

  private static final Set<Worker> WORKERS = new HashSet<>();
  private static final Deque<Worker> IDLE = new ArrayDeque<>();
  private static int databases;

  static final class Worker extends Thread {
    /** Guarded by the lock. */
    private @Nullable FileThread work;

    @SuppressWarnings(
        "ThreadPriorityCheck") // so that it does not inherit that of the starting thread
    private Worker(FileThread first) {
      super(rootGroup(), null, IDLE_NAME, /* stackSize= */ 0, /* inherit= */ false);
      work = first;
      setDaemon(true);
      setPriority(NORM_PRIORITY);
    }

    private static ThreadGroup rootGroup() {
      ThreadGroup group = Thread.currentThread().getThreadGroup();
      while (group.getParent() != null) {
        group = group.getParent();
      }
      return group;
    }

    @Override
    public void run() {
      try {
        for (FileThread next = given(this); next != null; next = await(this)) {
          next.run();
          Thread.interrupted(); // an interrupt that the work has left
        }
      } finally {
        left(this);
      }
    }
  }

  private FileThreadPool() {}

  /** A database is about to be opened: threads may wait for more work until it is closed. */
  static void databaseOpens() {
    synchronized (LOCK) {
      databases++;
    }
  }

  /**
   * Called after a database was closed, or if the open failed. With the last database all idle
   * threads end.
   */
  static void databaseClosed() {
    List<Worker> leaving = new ArrayList<>();
    synchronized (LOCK) {
      databases--;
      if (databases > 0) {
        return;
      }
      for (Worker worker : WORKERS) {
        if (worker.work == null && worker != Thread.currentThread()) {
          leaving.add(worker);
        }
      }
    }
    leaving.forEach(LockSupport::unpark);
    leaving.forEach(FileThreadPool::joinUninterruptibly);
  }

  /**
   * Waits until a thread has ended. An interrupt is kept for later.
   *
   * @param thread not the caller
   */
  static void joinUninterruptibly(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Gives a piece of work to a thread. */
  static void execute(FileThread work) {
    Worker worker;
    synchronized (LOCK) {
      worker = IDLE.pollFirst();
      if (worker != null) {
        worker.work = work;
      }
    }
    if (worker != null) {
      LockSupport.unpark(worker);
      return;
    }
    Worker fresh = new Worker(work);
    synchronized (LOCK) {
      WORKERS.add(fresh);
    }
    boolean started = false;
    try {
      fresh.start();
      started = true;
    } finally {
      if (!started) {
        left(fresh);
      }
    }
  }

  /** Called when the work of the calling thread has ended, before the end is reported. */
  static void workEnded() {
    if (Thread.currentThread() instanceof Worker worker) {
      synchronized (LOCK) {
        worker.work = null;
      }
    }
  }

  private static @Nullable FileThread given(Worker worker) {
    synchronized (LOCK) {
      return worker.work;
    }
  }

  /** The next work of a thread; null if it has to end. */
  private static @Nullable FileThread await(Worker worker) {
    long deadline = System.nanoTime() + KEPT;
    synchronized (LOCK) {
      if (databases == 0) {
        return null;
      }
      IDLE.addFirst(worker);
    }
    while (true) {
      long left = deadline - System.nanoTime();
      synchronized (LOCK) {
        if (worker.work != null) {
          return worker.work;
        }
        if (databases == 0 || left <= 0) {
          IDLE.remove(worker);
          return null;
        }
      }
      LockSupport.parkNanos(LOCK, left);
      Thread.interrupted(); // or the next park would not wait
    }
  }

  private static void left(Worker worker) {
    synchronized (LOCK) {
      WORKERS.remove(worker);
      IDLE.remove(worker);
    }
  }
}
