package org.revenantdb.collections.expiry;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.DatabaseStoppedException;

/**
 * Removes in the background what has reached its time, rows of a table or commits of a feed, until
 * the database is closed or nothing is to be removed any more.
 *
 * <p>It sleeps until the next time comes, at least a second and at most half a minute. So rows are
 * removed in batches, and one that was stored with an earlier time while it slept is removed at
 * most half a minute late. Nobody sees that: a row is not seen from its time on, removed or not.
 */
public final class Remover implements Runnable {
  /** What {@link LongSupplier} returns if nothing is to be removed any more. */
  public static final long OVER = -1;

  private static final long SHORTEST_MILLIS = 1_000;
  private static final long LONGEST_MILLIS = 30_000;

  private final Database database;
  private final LongSupplier pass;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition nobodySignals = lock.newCondition();

  private Remover(Database database, LongSupplier pass) {
    this.database = database;
    this.pass = pass;
  }

  /**
   * Starts a thread.
   *
   * @param name of the thread
   * @param pass removes what has reached its time, and returns in how many milliseconds the next
   *     does, or {@link #OVER}
   */
  public static void start(Database database, String name, LongSupplier pass) {
    Thread _ = Thread.ofVirtual().name(name).start(new Remover(database, pass));
  }

  @Override
  public void run() {
    try {
      while (!database.isClosed()) {
        long next = passOrReport();
        if (next == OVER) {
          return;
        }
        sleep(Math.clamp(next, SHORTEST_MILLIS, LONGEST_MILLIS));
      }
    } catch (DatabaseClosedException | DatabaseStoppedException end) {
      return;
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /** One failure must not end the removal for ever, and must not stay unknown. */
  private long passOrReport() {
    try {
      return pass.getAsLong();
    } catch (DatabaseClosedException | DatabaseStoppedException end) {
      throw end;
    } catch (Throwable failure) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
      return LONGEST_MILLIS;
    }
  }

  @SuppressWarnings("WaitNotInLoop") // shorter is as good
  private void sleep(long millis) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long _ = nobodySignals.awaitNanos(TimeUnit.MILLISECONDS.toNanos(millis));
    } finally {
      lock.unlock();
    }
  }
}
