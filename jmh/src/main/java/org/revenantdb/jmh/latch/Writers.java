package org.revenantdb.jmh.latch;

import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.revenantdb.jmh.contend.Competitor;
import org.revenantdb.jmh.contend.Contender;
import org.revenantdb.latch.HybridLatch;

/**
 * Writers: one class for each lock, each with the code that its own documentation shows.
 *
 * <p>A {@code ReadWriteLock} is used through the class of its half, as its methods {@code readLock}
 * and {@code writeLock} return it, not through the interface {@code Lock}.
 */
public final class Writers {
  private Writers() {}

  /** Ours. */
  public static final class Hybrid extends Contender {
    private final HybridLatch latch = new HybridLatch();

    /** Made by name. */
    public Hybrid() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        latch.acquireExclusive();
        try {
          if (!me.enter()) {
            return;
          }
          change();
        } finally {
          latch.releaseExclusive();
        }
      }
    }
  }

  /** {@link StampedLock}, which is not reentrant either. */
  public static final class Stamped extends Contender {
    private final StampedLock lock = new StampedLock();

    /** Made by name. */
    public Stamped() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        long stamp = lock.writeLock();
        try {
          if (!me.enter()) {
            return;
          }
          change();
        } finally {
          lock.unlockWrite(stamp);
        }
      }
    }
  }

  /** The write lock of a {@link ReentrantReadWriteLock} that lets barge. */
  public static final class ReadWriteUnfair extends Contender {
    private final ReentrantReadWriteLock.WriteLock lock = new ReentrantReadWriteLock().writeLock();

    /** Made by name. */
    public ReadWriteUnfair() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        lock.lock();
        try {
          if (!me.enter()) {
            return;
          }
          change();
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** The write lock of a {@link ReentrantReadWriteLock} in order of arrival. */
  public static final class ReadWriteFair extends Contender {
    private final ReentrantReadWriteLock.WriteLock lock =
        new ReentrantReadWriteLock(/* fair= */ true).writeLock();

    /** Made by name. */
    public ReadWriteFair() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        lock.lock();
        try {
          if (!me.enter()) {
            return;
          }
          change();
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** A {@link ReentrantLock} that lets barge. */
  public static final class ReentrantUnfair extends Contender {
    private final ReentrantLock lock = new ReentrantLock();

    /** Made by name. */
    public ReentrantUnfair() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        lock.lock();
        try {
          if (!me.enter()) {
            return;
          }
          change();
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** A {@link ReentrantLock} in order of arrival. */
  public static final class ReentrantFair extends Contender {
    private final ReentrantLock lock = new ReentrantLock(/* fair= */ true);

    /** Made by name. */
    public ReentrantFair() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        lock.lock();
        try {
          if (!me.enter()) {
            return;
          }
          change();
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** A monitor. */
  public static final class Synchronized extends Contender {
    private final Object monitor = new Object();

    /** Made by name. */
    public Synchronized() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        synchronized (monitor) {
          if (!me.enter()) {
            return;
          }
          change();
        }
      }
    }
  }
}
