package org.revenantdb.recovery.file;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Work of the engine on its own platform thread, which may access files. No code outside the engine
 * can interrupt that thread. That matters because an interrupt at a {@link
 * java.nio.channels.FileChannel} closes it for all threads.
 *
 * <p>Any other thread lets such a thread do the work, and waits. Opening and closing a database
 * needs half a dozen of them. So while a database is open, a thread whose work has ended waits a
 * second for the next work, under the name "revenant-idle". The threads are daemons and inherit
 * nothing from the threads that started them: no thread-locals, class loader, group or priority.
 *
 * <p>Threads: all methods may be called by any.
 */
public final class FileThread {
  /*
   * The thread has the name of its work. `thread` is set before the work reads anything, and until it ends. So a
   * caller that writes something for the work and then calls unpark either finds the thread, or the work has not
   * begun and will see what was written. An unpark may reach the next work of the same thread; every park must
   * tolerate that anyway.
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

  /** Called before a database is opened: threads may wait for more work until it is closed. */
  public static void databaseOpens() {
    FileThreadPool.databaseOpens();
  }

  /**
   * Called after a database was closed and all its work has ended, or if the open failed. With the
   * last database all idle threads end, and have ended on return.
   */
  public static void databaseClosed() {
    FileThreadPool.databaseClosed();
  }

  /**
   * Makes an object for a piece of work; it is not started yet.
   *
   * @param name the name of the thread during the work
   * @param work the work
   * @param death receives anything that the work has thrown, see {@link EngineWork}
   * @return the object to start
   */
  public static FileThread of(String name, Runnable work, Consumer<? super Throwable> death) {
    return new FileThread(name, EngineWork.of(work, death));
  }

  /**
   * Makes an object for a piece of work that releases something at its end; it is not started yet.
   *
   * @param name the name of the thread during the work
   * @param work the work
   * @param death receives anything that the work has thrown, see {@link EngineWork}
   * @param end called in any case, after the work and after {@code death}
   * @return the object to start
   */
  public static FileThread of(
      String name, Runnable work, Consumer<? super Throwable> death, Runnable end) {
    return new FileThread(name, EngineWork.of(work, death, end));
  }

  /**
   * Runs an action on such a thread and waits for it. An interrupt is kept for later. An exception
   * of the action is thrown again.
   *
   * @param <T> the type of the result
   * @param name the name of the thread during the action
   * @param action the action
   * @return the result of the action
   * @throws OutOfMemoryError if no thread can be started
   */
  public static <T> T call(String name, Supplier<T> action) {
    Call<T> call = new Call<>(action);
    FileThread thread = of(name, call::run, call::finish);
    thread.start();
    thread.join(); // so that a following close finds the thread without work
    Throwable failure = call.await();
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure != null) {
      throw new IllegalStateException(failure); // a supplier cannot throw anything else
    }
    return call.result;
  }

  /** Work for a caller; reporting its end allocates nothing. */
  private static final class Call<T> extends Errand {
    private final Supplier<T> action;

    @SuppressWarnings("NullAway.Init") // set before the caller sees the end
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
   * Starts the work.
   *
   * @throws IllegalThreadStateException if it was started before
   * @throws OutOfMemoryError if no thread can be started; then the work counts as ended
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
      if (work.lost() == null) { // else the name helps to find out which work it was
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
   * Sets the thread's name. Without memory for it, the work is done under the former name, because
   * other threads wait for the work.
   */
  private static void setName(Thread current, String name) {
    try {
      current.setName(name);
    } catch (OutOfMemoryError keepsTheOther) {
      // Only people need the name.
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

  /** Makes the present or next park of its thread return. */
  public void unpark() {
    LockSupport.unpark(thread);
  }

  /**
   * Waits until the work has ended. Returns at once if it was never started. An interrupt is kept
   * for later.
   *
   * @throws IllegalStateException if the work has failed and this could not be reported to the
   *     threads that wait for it
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
   * Whether the calling thread may access files itself.
   *
   * @return true on such a thread
   */
  public static boolean isCurrent() {
    return Thread.currentThread() instanceof FileThreadPool.Worker;
  }
}
