package org.revenantdb.chaos.run;

import java.lang.Thread.UncaughtExceptionHandler;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Detects uncaught exceptions in threads of a subject, which would otherwise pass unnoticed.
 *
 * <p>Threads: {@link #watch} and {@link #close} in one thread. It covers every thread that this one
 * starts in between, and those that they start. Uncaught exceptions after the end are printed to
 * the standard error, as usual.
 */
final class UncaughtExceptions implements AutoCloseable {
  /*
   * An inheritable thread-local identifies the owner of a thread. Not covered are threads that
   * inherit none on purpose, that were started for another state (a pool in a static field), or
   * that have a handler of their own: those exceptions are not uncaught.
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
      // The stack of the exception, not of this handler.
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
   * Returns the first uncaught exception.
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
