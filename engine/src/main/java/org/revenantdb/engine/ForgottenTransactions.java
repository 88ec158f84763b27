package org.revenantdb.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The thread of the process that looks for forgotten transactions: every second while a database is
 * open, else it sleeps. Thread-safe.
 */
final class ForgottenTransactions {
  private static final long PERIOD = TimeUnit.SECONDS.toNanos(1);

  private static final Set<OpenTransactions> DATABASES = ConcurrentHashMap.newKeySet();
  private static volatile @Nullable Thread thread;

  private ForgottenTransactions() {}

  /** A database was opened. */
  static void watch(OpenTransactions open) {
    DATABASES.add(open);
    start();
    LockSupport.unpark(thread);
  }

  /** A database is being closed. */
  static void leave(OpenTransactions open) {
    DATABASES.remove(open);
  }

  private static synchronized void start() {
    if (thread == null) {
      Thread started =
          Thread.ofPlatform()
              .daemon()
              .name("revenant-forgotten")
              .inheritInheritableThreadLocals(false)
              .unstarted(ForgottenTransactions::run);
      started.setContextClassLoader(null);
      started.start();
      thread = started;
    }
  }

  @SuppressWarnings("EmptyCatch")
  private static void run() {
    while (true) {
      if (DATABASES.isEmpty()) {
        LockSupport.park(ForgottenTransactions.class);
      } else {
        LockSupport.parkNanos(ForgottenTransactions.class, PERIOD);
      }
      for (OpenTransactions open : DATABASES) {
        try {
          open.sweep();
        } catch (Throwable ofListener) {
          // It was told; the others have to be rolled back all the same, with the next sweep.
        }
      }
    }
  }
}
