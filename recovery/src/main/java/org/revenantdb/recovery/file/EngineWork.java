package org.revenantdb.recovery.file;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The work of a thread of the engine, and the handling of anything that it throws. Every thread
 * that the engine starts runs such an object; a test of the byte code checks this.
 *
 * <p>Without it, a thread would die silently, and others would wait for it for ever.
 *
 * <p>Threads: {@link #run} is called once. The other methods may be called by any thread.
 */
public final class EngineWork implements Runnable {
  /*
   * Steps       1 work     returns, or throws anything
   *             2 death    only if 1 has thrown. It stops the engine, or passes the cause to the threads that wait for this
   *                        work. If it throws, it is called once more. So its steps must be repeatable, and none may need
   *                        the success of another one.
   *             3 end      in any case, and once: releases what the work has taken, such as its place in a count
   *
   * Memory      1 may have run out of memory or stack, so 2 and 3 allocate nothing. The stack is empty again: 2 and 3
   *             are called by the first frame of the thread.
   *
   * Lost        If 2 has thrown twice, or 3 once, the exception is kept, because it could not be reported. The
   *             thread's handler of uncaught exceptions receives and prints it, and FileThread.join throws it.
   */

  @SuppressWarnings("UnnecessaryLambda") // a value for a field, not a function to call
  private static final Runnable NOTHING = () -> {};

  private final Runnable work;
  private final Consumer<? super Throwable> death;
  private final Runnable end;
  private @Nullable Throwable lost;

  private EngineWork(Runnable work, Consumer<? super Throwable> death, Runnable end) {
    this.work = work;
    this.death = death;
    this.end = end;
  }

  /**
   * Work that has nothing to release at its end.
   *
   * @param work the work of the thread
   * @param death receives anything that the work has thrown; it is called a second time if it
   *     throws itself. It stops the engine, or reports to the threads that wait for this work, and
   *     allocates nothing
   * @return the object to run
   */
  public static EngineWork of(Runnable work, Consumer<? super Throwable> death) {
    return new EngineWork(work, death, NOTHING);
  }

  /**
   * Work that releases something at its end.
   *
   * @param work the work of the thread
   * @param death as for the other method
   * @param end called after the work, and after {@code death} if the work has thrown; allocates
   *     nothing
   * @return the object to run
   */
  public static EngineWork of(Runnable work, Consumer<? super Throwable> death, Runnable end) {
    return new EngineWork(work, death, end);
  }

  /** Does the work. Throws nothing. */
  @Override
  public void run() {
    try {
      work.run();
    } catch (Throwable cause) {
      die(cause);
    }
    try {
      end.run();
    } catch (Throwable notGivenBack) {
      lost = notGivenBack;
    }
    if (lost != null) {
      Thread current = Thread.currentThread();
      current.getUncaughtExceptionHandler().uncaughtException(current, lost);
    }
  }

  private void die(Throwable cause) {
    try {
      death.accept(cause);
    } catch (Throwable again) {
      try {
        death.accept(cause);
      } catch (Throwable untold) {
        lost = untold;
      }
    }
  }

  /**
   * A failure that could not be reported: that of {@code death} or {@code end}.
   *
   * @return null if there was none; call it only after {@link #run} is known to have returned
   */
  public @Nullable Throwable lost() {
    return lost;
  }
}
