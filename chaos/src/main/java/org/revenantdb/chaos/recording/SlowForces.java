package org.revenantdb.chaos.recording;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Delays forces, so that other threads can write between the call of a force and its return. The
 * force does not cover these writes; a careless store acknowledges them with it.
 *
 * <p>A random share of the forces waits until other threads have changed the node a random number
 * of times, but only for a moment. A process with a single thread never waits. If the other threads
 * wait for the force themselves, the process soon stops waiting.
 *
 * <p>Threads: any. A waiting thread holds no lock of the recording.
 */
final class SlowForces {
  /*
   * Bounds   one wait   MOMENT                          (the force itself may block the others)
   *          all waits  IN_VAIN for a process           (waits that saw a change do not count)
   *
   * While a thread waits it does nothing else, so all changes of the node meanwhile come from other
   * threads.
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
   * @param seed of the random choices
   * @param when whether a force may be slow, called at each force
   */
  SlowForces(long seed, BooleanSupplier when) {
    this.seed = seed;
    this.when = when;
    this.random = new SplittableRandom(seed);
  }

  /** The delays of the next process, which has its own threads. */
  SlowForces next() {
    return new SlowForces(seed + 1, when);
  }

  /** Notes that the current thread has changed a node. */
  void changed(int node) {
    Thread self = Thread.currentThread();
    if (first == null) {
      first = self; // if two threads race, the other one becomes the second at its next change
    } else if (!self.equals(first)) {
      several = true;
    }
    changes(node).incrementAndGet();
  }

  private AtomicLong changes(int node) {
    return changes.computeIfAbsent(node, _ -> new AtomicLong());
  }

  /** Waits, or not, until other threads change a node that is about to be forced. */
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
      LockSupport.parkNanos(GLANCE); // returns at once if the thread is interrupted, which is fine
    }
  }

  private synchronized int draw() {
    return random.nextInt(MOST_CHANGES);
  }

  /** How many forces waited, with or without effect. */
  long waits() {
    return waits.get();
  }
}
