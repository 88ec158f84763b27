package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.NullMarked;

/**
 * Gives the jcstress tests credit in a log that is only a tail, without the wait for credit, which
 * {@code LsnWaitersStress} tests.
 */
@NullMarked
public final class OpenLogSpace {
  private final AtomicLong tail = new AtomicLong();
  private final AtomicInteger wishes = new AtomicInteger();
  private final LogSpace space;

  /** Nothing is in use. */
  public OpenLogSpace(long bound) {
    space =
        new LogSpace(tail::get, bound + 1, /* reserve= */ 1, wishes::incrementAndGet, Still.TIME);
  }

  /** A time that does not pass. */
  private static final class Still implements Pace.Time {
    static final Still TIME = new Still();

    @Override
    public long now() {
      return 0;
    }

    @Override
    public void pause(long nanos) {}
  }

  /** Takes credit if there is room for it. */
  public boolean take(int bytes) {
    return space.tryAcquire(bytes);
  }

  /** Returns credit. */
  public void release(int bytes) {
    space.release(bytes);
  }

  /** Publishes bytes for which credit was taken. */
  public void publish(int bytes) {
    tail.getAndAdd(bytes);
  }

  /** A checkpoint is durable: a restart would begin there. */
  public void redoPointMoved(long lsn) {
    space.redoPointMoved(lsn);
  }

  /** All that is in use, credit included. */
  public long used() {
    return space.used();
  }

  /** How often a checkpoint was requested. */
  public int wishes() {
    return wishes.get();
  }
}
