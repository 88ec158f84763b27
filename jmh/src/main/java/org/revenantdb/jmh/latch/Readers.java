package org.revenantdb.jmh.latch;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.revenantdb.jmh.contend.Competitor;
import org.revenantdb.jmh.contend.Contender;
import org.revenantdb.latch.HybridLatch;

/**
 * Readers without a writer: one class for each lock and way of reading.
 *
 * <p>The fallback of an optimistic reader whose read does not validate is part of its loop, as in
 * real code, though it never happens here.
 */
public final class Readers {
  private Readers() {}

  /** Ours, shared. */
  public static final class HybridShared extends Contender {
    private final HybridLatch latch = new HybridLatch();

    /** Made by name. */
    public HybridShared() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        latch.acquireShared();
        try {
          if (!me.enter()) {
            return;
          }
          me.use(read());
        } finally {
          latch.releaseShared();
        }
      }
    }
  }

  /** The read lock of a {@link StampedLock}. */
  public static final class StampedShared extends Contender {
    private final StampedLock lock = new StampedLock();

    /** Made by name. */
    public StampedShared() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        long stamp = lock.readLock();
        try {
          if (!me.enter()) {
            return;
          }
          me.use(read());
        } finally {
          lock.unlockRead(stamp);
        }
      }
    }
  }

  /** The read lock of a {@link ReentrantReadWriteLock} that lets barge. */
  public static final class ReadWriteUnfair extends Contender {
    private final ReentrantReadWriteLock.ReadLock lock = new ReentrantReadWriteLock().readLock();

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
          me.use(read());
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** The read lock of a {@link ReentrantReadWriteLock} in order of arrival. */
  public static final class ReadWriteFair extends Contender {
    private final ReentrantReadWriteLock.ReadLock lock =
        new ReentrantReadWriteLock(/* fair= */ true).readLock();

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
          me.use(read());
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** Ours, optimistic. */
  public static final class HybridOptimistic extends Contender {
    private final HybridLatch latch = new HybridLatch();

    /** Made by name. */
    public HybridOptimistic() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        long stamp = latch.readOptimistic();
        long seen = read();
        if (!latch.validate(stamp)) {
          latch.acquireShared();
          try {
            seen = read();
          } finally {
            latch.releaseShared();
          }
        }
        me.use(seen);
        if (!me.enter()) {
          return;
        }
      }
    }
  }

  /** {@link StampedLock}, optimistic. */
  public static final class StampedOptimistic extends Contender {
    private final StampedLock lock = new StampedLock();

    /** Made by name. */
    public StampedOptimistic() {}

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        long stamp = lock.tryOptimisticRead();
        long seen = read();
        if (!lock.validate(stamp)) {
          stamp = lock.readLock();
          try {
            seen = read();
          } finally {
            lock.unlockRead(stamp);
          }
        }
        me.use(seen);
        if (!me.enter()) {
          return;
        }
      }
    }
  }
}
