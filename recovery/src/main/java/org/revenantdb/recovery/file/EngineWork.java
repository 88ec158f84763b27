package org.revenantdb.recovery.file;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a thread of the engine does, and what happens if that throws. Every thread that the engine
 * starts runs one of these; a test of the byte code fails if one does not.
 *
 * <p>Without it, a thread that dies is silent: others wait for it for ever.
 *
 * <p>Threads: {@link #run} is called once. The other methods may be called by any thread.
 */
public final class EngineWork implements Runnable {
  /*
   * Steps       1 work     returns, or throws anything at all
   *             2 death    only if 1 has thrown. It stops the engine, or hands the cause to those who wait for this
   *                        work. If it throws, it is called once more: so its steps can be repeated, and none of them
   *                        needs another one to have succeeded.
   *             3 end      in any case, and once: gives back what the work has taken, such as its place in a count
   *
   * Memory      1 may have run out of memory or stack, so 2 and 3 allocate nothing. The stack is empty again: 2 and 3
   *             are called by the first frame of the thread.
   *
   * Lost        What 2 has thrown twice, or 3 once, is kept: nobody was told. The thread's handler of uncaught exceptions
   *             gets it, which prints it, and FileThread.join throws it.
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
   * Work that takes nothing which has to be given back.
   *
   * @param work what the thread does
   * @param death is called with whatever the work has thrown, and a second time if it throws
   *     itself; stops the engine, or tells those who wait for this work; allocates nothing
   * @return to be run
   */
  public static EngineWork of(Runnable work, Consumer<? super Throwable> death) {
    return new EngineWork(work, death, NOTHING);
  }

  /**
   * Work that gives something back at its end.
   *
   * @param work what the thread does
   * @param death as for the other method
   * @param end is called after the work, and after its death if it has died; allocates nothing
   * @return to be run
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
   * What has become known to nobody: a death that could not be told, or an end that has failed.
   *
   * @return null after all work that went as it should; read by a thread that knows that {@link
   *     #run} has returned
   */
  public @Nullable Throwable lost() {
    return lost;
  }
}
