package org.revenantdb.chaos.run;

import java.lang.Thread.UncaughtExceptionHandler;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Hears of threads of a subject that die of an exception that nobody caught, so that such a death
 * is no silence.
 *
 * <p>Threads: {@link #watch} and {@link #close} in one thread; it hears of every thread that this
 * one starts in between, and of those that they start. Threads that die after the end are told on
 * standard error, as without it.
 */
final class UncaughtExceptions implements AutoCloseable {
  /*
   * Whose thread it was says an inheritable thread-local. Not seen are threads that inherit none on purpose, that were
   * started for another state (a pool in a static field), or that have a handler of their own: those are not uncaught.
   */

  private static final InheritableThreadLocal<@Nullable UncaughtExceptions> WATCHING =
      new InheritableThreadLocal<>();
  private static final UncaughtExceptionHandler HANDLER = UncaughtExceptions::hear;
  private static final Object LOCK = new Object();

  // Guarded by LOCK.
  private static int watching;
  private static @Nullable UncaughtExceptionHandler before;

  private final @Nullable UncaughtExceptions outer;
  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();
  private volatile boolean closed;

  private UncaughtExceptions(@Nullable UncaughtExceptions outer) {
    this.outer = outer;
  }

  /** Begins to listen. */
  static UncaughtExceptions watch() {
    UncaughtExceptions watch = new UncaughtExceptions(WATCHING.get());
    synchronized (LOCK) {
      watching++;
      UncaughtExceptionHandler now = Thread.getDefaultUncaughtExceptionHandler();
      if (!HANDLER.equals(now)) {
        before = now;
        Thread.setDefaultUncaughtExceptionHandler(HANDLER);
      }
    }
    WATCHING.set(watch);
    return watch;
  }

  private static void hear(Thread thread, Throwable thrown) {
    UncaughtExceptions watch = WATCHING.get();
    if (watch != null && !watch.closed) {
      AssertionError death = new AssertionError("\"%s\" died".formatted(thread.getName()), thrown);
      // Where it happened, not where it was heard of.
      death.setStackTrace(thrown.getStackTrace());
      watch.first.compareAndSet(null, death);
      return;
    }
    UncaughtExceptionHandler other;
    synchronized (LOCK) {
      other = before;
    }
    if (other != null) {
      other.uncaughtException(thread, thrown);
    } else {
      System.err.print("Exception in thread \"" + thread.getName() + "\" ");
      thrown.printStackTrace();
    }
  }

  /**
   * The first death.
   *
   * @return an error (and so never a clear refusal) with the exception as its cause, or null
   */
  @Nullable Throwable first() {
    return first.get();
  }

  @Override
  public void close() {
    closed = true;
    if (outer == null) {
      WATCHING.remove();
    } else {
      WATCHING.set(outer);
    }
    synchronized (LOCK) {
      watching--;
      if (watching == 0 && HANDLER.equals(Thread.getDefaultUncaughtExceptionHandler())) {
        Thread.setDefaultUncaughtExceptionHandler(before);
        before = null;
      }
    }
  }
}
