package org.revenantdb.recovery.file;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Work of the engine on a platform thread of its own, which may touch files: nobody has that thread
 * to interrupt, and an interrupt at a {@link java.nio.channels.FileChannel} closes it for
 * everybody.
 *
 * <p>Whoever is not on one lets one do the work, and waits. To open and close a database takes half
 * a dozen of them, so while a database is open a thread whose work has ended waits a second for the
 * next one, as "revenant-idle". They are daemons, and inherit nothing of who started them: no
 * thread-locals, no class loader, no group, no priority.
 *
 * <p>Threads: all methods may be called by any.
 */
public final class FileThread {
  /*
   * The thread carries the name of its work, and `thread` is set while it does it: before the work looks at anything.
   * So who tells it something and then calls unpark finds the thread, or the work has not begun and will see it.
   * An unpark may reach the next work of the same thread; every park must bear that anyhow.
   */

  private final String name;
  private final EngineWork work;
  private final AtomicBoolean started = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile @Nullable Thread thread;

  private FileThread(String name, EngineWork work) {
    this.name = name;
    this.work = work;
  }

  /** A database is about to be opened: threads may wait for more work until it is closed. */
  public static void databaseOpens() {
    FileThreadPool.databaseOpens();
  }

  /**
   * A database is closed, and all its work has ended; or it was not opened. With the last one all
   * idle threads end, and have ended on return.
   */
  public static void databaseClosed() {
    FileThreadPool.databaseClosed();
  }

  /**
   * Says what is to be done; it is not started yet.
   *
   * @param name of the thread while it does it
   * @param work what it does
   * @param death is called with whatever the work has thrown, see {@link EngineWork}
   * @return to be started
   */
  public static FileThread of(String name, Runnable work, Consumer<? super Throwable> death) {
    return new FileThread(name, EngineWork.of(work, death));
  }

  /**
   * Says what is to be done, and what is given back at its end; it is not started yet.
   *
   * @param name of the thread while it does it
   * @param work what it does
   * @param death is called with whatever the work has thrown, see {@link EngineWork}
   * @param end is called in any case, after the work and after its death
   * @return to be started
   */
  public static FileThread of(
      String name, Runnable work, Consumer<? super Throwable> death, Runnable end) {
    return new FileThread(name, EngineWork.of(work, death, end));
  }

  /**
   * Has such a thread do something and waits for it. An interrupt is kept for later.
   *
   * @param <T> what comes of it
   * @param name of the thread while it does it
   * @param action what it does
   * @return what the action returned; what it threw is thrown
   * @throws OutOfMemoryError if there is no thread to be had
   */
  public static <T> T call(String name, Supplier<T> action) {
    Call<T> call = new Call<>(action);
    FileThread thread = of(name, call::run, call::finish);
    thread.start();
    thread.join(); // so that a close that comes next finds the thread without work
    Throwable failure = call.await();
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure != null) {
      throw new IllegalStateException(failure); // no supplier throws anything else
    }
    return call.result;
  }

  /** What a thread does for a caller; how it tells the end allocates nothing. */
  private static final class Call<T> extends Errand {
    private final Supplier<T> action;

    @SuppressWarnings("NullAway.Init") // before the caller sees the end
    private T result;

    Call(Supplier<T> action) {
      this.action = action;
    }

    void run() {
      result = action.get();
      finish(null);
    }
  }

  /**
   * Starts it.
   *
   * @throws IllegalThreadStateException if it was started before
   * @throws OutOfMemoryError if there is no thread to be had; it has ended, then
   */
  public void start() {
    if (!started.compareAndSet(false, true)) {
      throw new IllegalThreadStateException(name);
    }
    try {
      FileThreadPool.execute(this);
    } catch (Throwable noThread) {
      ended.countDown();
      throw noThread;
    }
  }

  /** Does the work, on a thread of the pool. Throws nothing. */
  void run() {
    try {
      Thread current = Thread.currentThread();
      setName(current, name);
      thread = current;
      work.run();
      if (work.lost() == null) { // else the name helps to find out what it was
        setName(current, FileThreadPool.IDLE_NAME);
      }
    } finally {
      thread = null;
      try {
        FileThreadPool.workEnded();
      } finally {
        ended.countDown();
      }
    }
  }

  /**
   * The work is done under the former name if there is no memory for another: others wait for it.
   */
  private static void setName(Thread current, String name) {
    try {
      current.setName(name);
    } catch (OutOfMemoryError keepsTheOther) {
      // A name tells something to people only.
    }
  }

  /**
   * Waits until a thread has ended. An interrupt is kept for later.
   *
   * @param thread not the caller
   */
  public static void awaitEnd(Thread thread) {
    FileThreadPool.joinUninterruptibly(thread);
  }

  /** Makes the next park of its thread, or the one that it is in, return. */
  public void unpark() {
    LockSupport.unpark(thread);
  }

  /**
   * Waits until it has ended; at once if it was never started. An interrupt is kept for later.
   *
   * @throws IllegalStateException if the work has died and those who wait for it could not be told
   */
  public void join() {
    boolean interrupted = false;
    while (started.get()) {
      try {
        ended.await();
        break;
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    Throwable lost = work.lost();
    if (lost != null) {
      throw new IllegalStateException('"' + name + "\" died: " + lost, lost);
    }
  }

  /**
   * Tells whether the caller may touch files itself.
   *
   * @return true on such a thread
   */
  public static boolean isCurrent() {
    return Thread.currentThread() instanceof FileThreadPool.Worker;
  }
}
