package org.revenantdb.jmh.latch;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.revenantdb.latch.HybridLatch;

/**
 * What does the uncontended latch cost, compared with the locks of the JDK?
 *
 * <p>Three modes: <b>exclusive</b>, increment two plain fields; <b>shared</b>, add them up;
 * <b>optimistic</b>, add them up, validate, and only if that fails read shared. Each lock and mode
 * has its own method and JVM. An optimistic read takes half a nanosecond, less than the loop of the
 * benchmark around it, so one invocation contains a thousand; the fences keep them in order.
 *
 * <p>{@code ./revenant bench latch}. We would put lock and version into one word if exclusive cost
 * more than 1.2 times {@code StampedLock}, or optimistic more than 1.1 times: the second word
 * exists to make validation one comparison.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class LatchUncontendedBenchmark {
  private static final int READS = 1_000;

  private final HybridLatch hybrid = new HybridLatch();
  private final StampedLock stamped = new StampedLock();
  private final ReentrantReadWriteLock rwUnfair = new ReentrantReadWriteLock();
  private final ReentrantReadWriteLock rwFair = new ReentrantReadWriteLock(true);
  private final ReentrantLock reentrantUnfair = new ReentrantLock();
  private final ReentrantLock reentrantFair = new ReentrantLock(true);
  private final Object monitor = new Object();

  private long first;
  private long second;

  /** JMH makes one. */
  public LatchUncontendedBenchmark() {}

  /**
   * Ours.
   *
   * @return what was written
   */
  @Benchmark
  public long exclusive_hybrid() {
    hybrid.acquireExclusive();
    try {
      return change();
    } finally {
      hybrid.releaseExclusive();
    }
  }

  /**
   * StampedLock.
   *
   * @return what was written
   */
  @Benchmark
  public long exclusive_stamped() {
    long stamp = stamped.writeLock();
    try {
      return change();
    } finally {
      stamped.unlockWrite(stamp);
    }
  }

  /**
   * ReentrantReadWriteLock, unfair.
   *
   * @return what was written
   */
  @Benchmark
  public long exclusive_rwUnfair() {
    rwUnfair.writeLock().lock();
    try {
      return change();
    } finally {
      rwUnfair.writeLock().unlock();
    }
  }

  /**
   * ReentrantReadWriteLock, fair.
   *
   * @return what was written
   */
  @Benchmark
  public long exclusive_rwFair() {
    rwFair.writeLock().lock();
    try {
      return change();
    } finally {
      rwFair.writeLock().unlock();
    }
  }

  /**
   * ReentrantLock, unfair.
   *
   * @return what was written
   */
  @Benchmark
  public long exclusive_reentrantUnfair() {
    reentrantUnfair.lock();
    try {
      return change();
    } finally {
      reentrantUnfair.unlock();
    }
  }

  /**
   * ReentrantLock, fair.
   *
   * @return what was written
   */
  @Benchmark
  public long exclusive_reentrantFair() {
    reentrantFair.lock();
    try {
      return change();
    } finally {
      reentrantFair.unlock();
    }
  }

  /**
   * A monitor.
   *
   * @return what was written
   */
  @Benchmark
  public long exclusive_synchronized() {
    synchronized (monitor) {
      return change();
    }
  }

  /**
   * Ours.
   *
   * @return what was read
   */
  @Benchmark
  public long shared_hybrid() {
    hybrid.acquireShared();
    try {
      return first + second;
    } finally {
      hybrid.releaseShared();
    }
  }

  /**
   * StampedLock.
   *
   * @return what was read
   */
  @Benchmark
  public long shared_stamped() {
    long stamp = stamped.readLock();
    try {
      return first + second;
    } finally {
      stamped.unlockRead(stamp);
    }
  }

  /**
   * ReentrantReadWriteLock, unfair.
   *
   * @return what was read
   */
  @Benchmark
  public long shared_rwUnfair() {
    rwUnfair.readLock().lock();
    try {
      return first + second;
    } finally {
      rwUnfair.readLock().unlock();
    }
  }

  /**
   * ReentrantReadWriteLock, fair.
   *
   * @return what was read
   */
  @Benchmark
  public long shared_rwFair() {
    rwFair.readLock().lock();
    try {
      return first + second;
    } finally {
      rwFair.readLock().unlock();
    }
  }

  /**
   * Ours.
   *
   * @return the sum of what was read
   */
  @Benchmark
  @OperationsPerInvocation(READS)
  public long optimistic_hybrid() {
    long sum = 0;
    for (int i = 0; i < READS; i++) {
      long stamp = hybrid.readOptimistic();
      long seen = first + second;
      sum += hybrid.validate(stamp) ? seen : shared_hybrid();
    }
    return sum;
  }

  /**
   * StampedLock.
   *
   * @return the sum of what was read
   */
  @Benchmark
  @OperationsPerInvocation(READS)
  public long optimistic_stamped() {
    long sum = 0;
    for (int i = 0; i < READS; i++) {
      long stamp = stamped.tryOptimisticRead();
      long seen = first + second;
      sum += stamped.validate(stamp) ? seen : shared_stamped();
    }
    return sum;
  }

  private long change() {
    first++;
    return ++second;
  }
}
