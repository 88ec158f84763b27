package org.revenantdb.jmh.latch;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.revenantdb.latch.HybridLatch;

/**
 * The bytes that one uncontended operation of the latch allocates, mode by mode, by the JVM's own
 * count for the thread. To be run in a separate JVM.
 *
 * <p>The loops run long enough to be compiled. So an object that the compiler removes does not
 * count, as in a real program.
 */
public final class LatchAllocation {
  private static final int OPERATIONS = 2_000_000;
  private static final int WARM_UPS = 2;
  private static final long TIMEOUT = TimeUnit.SECONDS.toNanos(1);

  private final HybridLatch latch = new HybridLatch();
  private long refused;

  private LatchAllocation() {}

  /**
   * Prints a line {@code = bytes_allocated,mode=...} and a number for each mode.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    LatchAllocation subject = new LatchAllocation();
    measure("exclusive", subject::exclusive);
    measure("shared", subject::shared);
    measure("optimistic", subject::optimistic);
    measure("exclusive_unmodified", subject::exclusiveUnmodified);
    measure("try_exclusive", subject::tryExclusive);
    measure("try_shared", subject::tryShared);
    measure("timed_try_exclusive", subject::timedTryExclusive);
    measure("timed_try_shared", subject::timedTryShared);
    measure("upgrade", subject::upgrade);
    measure("upgrade_optimistic", subject::upgradeOptimistic);
    measure("downgrade", subject::downgrade);
    measure("refused_try", subject::refusedTry);
    if (subject.refused != 0) {
      throw new IllegalStateException("refused without contention: " + subject.latch);
    }
  }

  private static void measure(String mode, Runnable loop) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < WARM_UPS; i++) {
      loop.run();
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    loop.run();
    long bytes = threads.getCurrentThreadAllocatedBytes() - before;
    System.out.printf(
        Locale.ROOT, "= bytes_allocated,mode=%s %.6f%n", mode, bytes / (double) OPERATIONS);
  }

  private void exclusive() {
    for (int i = 0; i < OPERATIONS; i++) {
      latch.acquireExclusive();
      latch.releaseExclusive();
    }
  }

  private void shared() {
    for (int i = 0; i < OPERATIONS; i++) {
      latch.acquireShared();
      latch.releaseShared();
    }
  }

  private void optimistic() {
    for (int i = 0; i < OPERATIONS; i++) {
      count(latch.validate(latch.readOptimistic()));
    }
  }

  private void exclusiveUnmodified() {
    for (int i = 0; i < OPERATIONS; i++) {
      latch.acquireExclusive();
      latch.releaseExclusiveUnmodified();
    }
  }

  private void tryExclusive() {
    for (int i = 0; i < OPERATIONS; i++) {
      count(latch.tryAcquireExclusive());
      latch.releaseExclusive();
    }
  }

  private void tryShared() {
    for (int i = 0; i < OPERATIONS; i++) {
      count(latch.tryAcquireShared());
      latch.releaseShared();
    }
  }

  private void timedTryExclusive() {
    for (int i = 0; i < OPERATIONS; i++) {
      count(latch.tryAcquireExclusive(TIMEOUT));
      latch.releaseExclusive();
    }
  }

  private void timedTryShared() {
    for (int i = 0; i < OPERATIONS; i++) {
      count(latch.tryAcquireShared(TIMEOUT));
      latch.releaseShared();
    }
  }

  private void upgrade() {
    for (int i = 0; i < OPERATIONS; i++) {
      latch.acquireShared();
      count(latch.tryUpgrade());
      latch.releaseExclusive();
    }
  }

  private void upgradeOptimistic() {
    for (int i = 0; i < OPERATIONS; i++) {
      count(latch.tryUpgradeOptimistic(latch.readOptimistic()));
      latch.releaseExclusive();
    }
  }

  private void downgrade() {
    for (int i = 0; i < OPERATIONS; i++) {
      latch.acquireExclusive();
      latch.downgrade();
      latch.releaseShared();
    }
  }

  /** A try that fails, without a wait. */
  private void refusedTry() {
    latch.acquireExclusive();
    for (int i = 0; i < OPERATIONS; i++) {
      count(!latch.tryAcquireExclusive() && !latch.tryAcquireShared());
    }
    latch.releaseExclusive();
  }

  private void count(boolean asExpected) {
    if (!asExpected) {
      refused++;
    }
  }
}
