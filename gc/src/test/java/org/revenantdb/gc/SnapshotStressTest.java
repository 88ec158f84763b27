package org.revenantdb.gc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * Sessions that read, a committer that moves the clock and a pruner that drops unneeded versions:
 * no session ever misses the version it reads.
 *
 * <p>The model: one row. Version v was committed at time v and superseded at time v + 1, so a
 * snapshot S reads version S and no other. {@code dropped[v]} says that version v is gone. The
 * pruner decides with a set that is stale for as long as the machine likes.
 */
class SnapshotStressTest {
  private static final int VERSIONS = Boolean.getBoolean("revenant.long") ? 1 << 18 : 1 << 16;

  private final AtomicLong clock = new AtomicLong();
  private final ActiveSnapshots snapshots = new ActiveSnapshots(2);
  private final AtomicIntegerArray dropped = new AtomicIntegerArray(VERSIONS + 1);
  private final AtomicLong highestHorizon = new AtomicLong();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final AtomicInteger droppedCount = new AtomicInteger();
  private final long seed = Long.getLong("revenant.seed", System.nanoTime());

  private boolean goesOn() {
    return clock.get() < VERSIONS && failure.get() == null;
  }

  @Test
  void noSnapshotMissesItsVersion() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    threads.add(new Thread(guarded(this::commit)));
    threads.add(new Thread(guarded(this::prune)));
    threads.add(new Thread(guarded(this::note)));
    for (int i = 0; i < 12; i++) {
      SplittableRandom random = new SplittableRandom(seed + i);
      Runnable session = guarded(() -> session(random));
      threads.add(i < 4 ? new Thread(session) : Thread.ofVirtual().unstarted(session));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertNull(failure.get(), () -> "seed " + seed);
    assertEquals(0, snapshots.active());
  }

  /** Half way it waits for the pruner, or all commits may be over before that one has started. */
  private void commit() {
    while (goesOn()) {
      if (clock.incrementAndGet() == VERSIONS / 2) {
        awaitPruning();
      }
      if ((clock.get() & 63) == 0) {
        Thread.yield();
      }
    }
  }

  private void awaitPruning() {
    while (droppedCount.get() == 0 && failure.get() == null) {
      Thread.yield();
    }
  }

  private void prune() {
    long from = 0; // below, all has been looked at once
    while (goesOn()) {
      SnapshotSet set = snapshots.snapshots(clock::get);
      highestHorizon.accumulateAndGet(set.horizon(), Math::max);
      highestHorizon.accumulateAndGet(snapshots.horizon(clock::get), Math::max);
      long now = Math.min(clock.get(), VERSIONS);
      for (long v = Math.max(0, from - 1_000); v < now; v++) {
        if (!set.needs(v, v + 1) && dropped.getAndSet((int) v, 1) == 0) {
          droppedCount.incrementAndGet();
        }
      }
      from = now;
    }
  }

  /** Slots go out of use, and openers take them into use again. */
  private void note() {
    while (goesOn()) {
      snapshots.note(1);
      Thread.yield();
    }
  }

  private void session(SplittableRandom random) {
    while (goesOn()) {
      int slot = snapshots.open(clock::get);
      int second = random.nextInt(4) == 0 ? snapshots.open(clock::get) : -1;
      read(slot);
      for (int i = random.nextInt(4); i > 0; i--) {
        if (random.nextInt(3) == 0) {
          Thread.yield();
        }
        if (random.nextInt(4) == 0) {
          snapshots.advance(slot, clock::get);
        }
        read(slot);
      }
      if (second >= 0) {
        read(second);
        snapshots.close(second);
      }
      snapshots.close(slot);
    }
  }

  private void read(int slot) {
    long snapshot = snapshots.snapshot(slot);
    if (dropped.get((int) Math.min(snapshot, VERSIONS)) != 0) {
      throw new AssertionError("version " + snapshot + " is gone, its snapshot is open");
    }
    long horizon = highestHorizon.get();
    if (horizon > snapshot) {
      throw new AssertionError("horizon " + horizon + " above open snapshot " + snapshot);
    }
  }

  private Runnable guarded(Runnable body) {
    return () -> {
      try {
        body.run();
      } catch (Throwable t) {
        failure.compareAndSet(null, t);
      }
    };
  }
}
