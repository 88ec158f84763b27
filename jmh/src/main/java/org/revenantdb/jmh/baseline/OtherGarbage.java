package org.revenantdb.jmh.baseline;

import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.version.GarbageStrategy;
import org.revenantdb.gc.version.VolatileStore;
import org.revenantdb.gc.version.VolatileStore.Version;

/**
 * The management of older versions of rows as in other engines, over our store of versions ({@link
 * EngineOfOtherGarbage}, whose classes call this).
 *
 * <p>Threads: any.
 */
abstract class OtherGarbage implements GarbageStrategy {
  private volatile @Nullable VolatileStore store;

  /** The store, once a version has come to it. */
  final @Nullable VolatileStore store() {
    return store;
  }

  @Override
  public final @Nullable Version added(VolatileStore to, int table, byte[] key, Version versions) {
    if (store == null) {
      store = to;
    }
    added(table, key, versions.supersededAt());
    return versions;
  }

  /**
   * A version has come to the store; its row's leaf is latched and the store holds the row.
   *
   * @param supersededAt the commit LSN of the version after it
   */
  abstract void added(int table, byte[] key, long supersededAt);

  /**
   * A snapshot is about to be taken; called by its thread.
   *
   * @return what {@link #left} is given
   */
  int entered() {
    return 0;
  }

  /** Nothing is read through a snapshot any more; perhaps by another thread. */
  void left(int entry) {}

  /** A transaction that may have written has ended; its thread calls, with nothing latched. */
  void ended() {}

  /** The database is being closed. */
  void close() {}

  /** A thread that repeats some work every few milliseconds until it is stopped. */
  static Thread every(long millis, Runnable work) {
    return Thread.ofPlatform()
        .daemon()
        .name("garbage")
        .start(() -> {
          try {
            while (true) {
              Thread.sleep(millis);
              work.run();
            }
          } catch (InterruptedException _) {
            // stopped
          }
        });
  }

  /** Ends such a thread. */
  static void end(Thread thread) {
    thread.interrupt();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
