package org.revenantdb.engine.session;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.EngineWork;
import org.revenantdb.recovery.file.FileThread;

/**
 * The thread that looks for leaked transactions, every second. There is one thread for all open
 * databases, and none if no database is open. Thread-safe.
 */
public final class ForgottenTransactions {
  /*
   * The thread is `thread`, or it ends. A database that is opened while the former thread still ends gets another one.
   * Its loop allocates nothing outside of the try: an OutOfMemoryError ends one sweep, never the thread. If the
   * thread dies nevertheless, it starts its successor.
   */

  private static final long PERIOD = TimeUnit.SECONDS.toNanos(1);

  /** Replaced, never changed; only by threads with the class's monitor. */
  private static volatile OpenTransactions[] databases = {};

  private static volatile @Nullable Thread thread;

  /** The last thread that was asked to end. */
  private static volatile @Nullable Thread ending;

  private ForgottenTransactions() {}

  /** Called when a database was opened. */
  public static synchronized void watch(OpenTransactions open) {
    OpenTransactions[] more = Arrays.copyOf(databases, databases.length + 1);
    more[databases.length] = open;
    if (thread == null) {
      start();
    }
    databases = more;
  }

  private static void start() {
    Thread started =
        Thread.ofPlatform()
            .daemon()
            .name("revenant-forgotten")
            .inheritInheritableThreadLocals(false)
            .unstarted(EngineWork.of(ForgottenTransactions::run, ForgottenTransactions::died));
    started.setContextClassLoader(null);
    thread = started;
    boolean runs = false;
    try {
      started.start();
      runs = true;
    } finally {
      if (!runs) {
        thread = null;
      }
    }
  }

  /** Without memory for another thread, the next database that is opened starts one. */
  @SuppressWarnings("ReferenceEquality") // which thread it is
  private static synchronized void died(Throwable cause) {
    if (thread == Thread.currentThread()) {
      thread = null;
    }
    if (thread == null && databases.length > 0) {
      start();
    }
  }

  /** Called when a database is being closed. If it is the last one, the thread is asked to end. */
  @SuppressWarnings("ReferenceEquality") // which of them it is
  public static synchronized void leave(OpenTransactions open) {
    OpenTransactions[] rest =
        Arrays.stream(databases)
            .filter(database -> database != open)
            .toArray(OpenTransactions[]::new);
    databases = rest;
    Thread running = thread;
    if (rest.length == 0 && running != null) {
      thread = null;
      ending = running;
      LockSupport.unpark(running);
    }
  }

  /**
   * Waits until a thread that was asked to end has ended, and with it the listener that it may be
   * calling. A listener that closes the last database does not wait.
   */
  @SuppressWarnings("ReferenceEquality") // which thread it is
  public static void awaitEnd() {
    Thread last = ending;
    if (last == null || last == Thread.currentThread()) {
      return;
    }
    FileThread.awaitEnd(last);
  }

  @SuppressWarnings({"EmptyCatch", "ReferenceEquality"}) // which thread it is
  private static void run() {
    while (thread == Thread.currentThread()) {
      LockSupport.parkNanos(ForgottenTransactions.class, PERIOD);
      OpenTransactions[] now = databases;
      for (int i = 0; i < now.length; i++) {
        try {
          now[i].sweep();
        } catch (Throwable notNow) {
          // From a listener, which was called, or because of no memory. The other transactions must
          // still be rolled back, and the rest in the next sweep.
        }
      }
    }
  }
}
