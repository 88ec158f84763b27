package org.revenantdb.chaos.recording;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Forces that take a while, so that other threads get something done between the call of one and
 * its return: what a force does not cover, and a careless store acknowledges with it.
 *
 * <p>A drawn share of the forces waits until other threads have changed the node a drawn number of
 * times, but never longer than a moment. A process in which one thread does everything waits for
 * nothing; where the others wait for the force themselves, waiting in vain is soon given up.
 *
 * <p>Threads: any. Who waits holds no lock of the recording.
 */
final class SlowForces {
  /*
   * Bounds   one wait   MOMENT                          (others may be blocked by the force itself, and nobody can know)
   *          all waits  IN_VAIN for a process           (those that were worth it do not count)
   * While a thread waits it does nothing else, so all changes of the node meanwhile are other threads'.
   */

  private static final long MOMENT = 1_000_000;
  private static final long GLANCE = 20_000;
  private static final long IN_VAIN = 200_000_000;
  private static final int MOST_CHANGES = 4;

  private final long seed;
  private final BooleanSupplier when;
  private final SplittableRandom random;
  private final Map<Integer, AtomicLong> changes = new ConcurrentHashMap<>();
  private final AtomicLong vain = new AtomicLong();
  private final AtomicLong waits = new AtomicLong();
  private volatile @Nullable Thread first;
  private volatile boolean several;

  /**
   * Creates the delays of one process.
   *
   * @param seed of what is drawn
   * @param when asked at each force whether it may be slow
   */
  SlowForces(long seed, BooleanSupplier when) {
    this.seed = seed;
    this.when = when;
    this.random = new SplittableRandom(seed);
  }

  /** Those of the next process, which has threads of its own. */
  SlowForces next() {
    return new SlowForces(seed + 1, when);
  }

  /** The current thread has changed a node. */
  void changed(int node) {
    Thread self = Thread.currentThread();
    if (first == null) {
      first = self; // of two at once one is the first, and the other the second at its next change
    } else if (!self.equals(first)) {
      several = true;
    }
    changes(node).incrementAndGet();
  }

  private AtomicLong changes(int node) {
    return changes.computeIfAbsent(node, _ -> new AtomicLong());
  }

  /** Waits, or not, for others to change a node that is about to be forced. */
  void delay(int node) {
    if (!several || vain.get() > IN_VAIN || !when.getAsBoolean()) {
      return;
    }
    int wanted = draw();
    if (wanted == 0) {
      return;
    }
    waits.incrementAndGet();
    AtomicLong count = changes(node);
    long enough = count.get() + wanted;
    long begun = System.nanoTime();
    while (count.get() < enough) {
      long waited = System.nanoTime() - begun;
      if (waited > MOMENT) {
        vain.addAndGet(waited);
        return;
      }
      LockSupport.parkNanos(
          GLANCE); // returns at once if the thread is interrupted, and that is fine
    }
  }

  private synchronized int draw() {
    return random.nextInt(MOST_CHANGES);
  }

  /** How often a force waited, in vain or not. */
  long waits() {
    return waits.get();
  }
}
