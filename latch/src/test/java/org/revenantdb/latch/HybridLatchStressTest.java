package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random operations of many threads on one latch against a model of the threads that may hold it.
 *
 * <p>The seed is printed when it fails; the schedule is the machine's, so it repeats the operations
 * but not the interleaving.
 */
@Tag("debug")
@ExtendWith(NobodyTakesOver.class)
class HybridLatchStressTest {
  private final HybridLatch latch = new HybridLatch();
  private final long seed = Long.getLong("revenant.seed", System.nanoTime());
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /** The model: the threads that hold it. */
  private final AtomicInteger writersIn = new AtomicInteger();

  private final AtomicInteger readersIn = new AtomicInteger();

  /** What the latch protects: two plain words that writers keep equal. */
  private long left;

  private long right;

  @ParameterizedTest(name = "{0} platform and {1} virtual threads")
  @CsvSource({"2, 0, 40000", "8, 0, 10000", "0, 32, 3000", "4, 16, 4000"})
  void randomOperations(int platform, int virtual, int rounds) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    long before = latch.version();
    for (int i = 0; i < platform + virtual; i++) {
      SplittableRandom random = new SplittableRandom(seed + i);
      Runnable body = () -> run(random, rounds);
      threads.add(i < platform ? new Thread(body) : Thread.ofVirtual().unstarted(body));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertNull(failure.get(), () -> "seed " + seed);
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
    assertEquals(before + 4 * left, latch.version(), "one version a modification");
    assertEquals(left, right);
    assertEquals(0, ParkingLot.global().queuedNear(latch, 0));
  }

  private void run(SplittableRandom random, int rounds) {
    try {
      for (int i = 0; i < rounds && failure.get() == null; i++) {
        once(random);
      }
    } catch (Throwable t) {
      failure.compareAndSet(null, t);
    }
  }

  private void once(SplittableRandom random) {
    long patience = 1L << random.nextInt(18); // up to a quarter of a millisecond
    switch (random.nextInt(10)) {
      case 0 -> {
        latch.acquireExclusive();
        asWriter(random);
      }
      case 1 -> {
        if (latch.tryAcquireExclusive()) {
          asWriter(random);
        }
      }
      case 2, 3 -> {
        if (latch.tryAcquireExclusive(patience)) {
          asWriter(random);
        }
      }
      case 4 -> {
        latch.acquireShared();
        asReader(random);
      }
      case 5 -> {
        if (latch.tryAcquireShared()) {
          asReader(random);
        }
      }
      case 6, 7 -> {
        if (latch.tryAcquireShared(patience)) {
          asReader(random);
        }
      }
      case 8 -> readOptimistically();
      default -> {
        long stamp = latch.readOptimistic();
        long before = left;
        if (latch.tryUpgradeOptimistic(stamp)) {
          assertEquals(before, left, "upgraded after a change");
          asWriter(random);
        }
      }
    }
  }

  private void asWriter(SplittableRandom random) {
    enterWriter();
    int what = random.nextInt(8);
    if (what == 0) {
      assertEquals(left, right);
      leaveWriter();
      latch.releaseExclusiveUnmodified();
      return;
    }
    left++;
    pauseSometimes(random);
    right++;
    leaveWriter();
    if (what == 1) {
      latch.downgrade();
      asReader(random);
    } else {
      latch.releaseExclusive();
    }
  }

  private void asReader(SplittableRandom random) {
    readersIn.incrementAndGet();
    assertEquals(0, writersIn.get(), "a writer beside a reader");
    assertEquals(left, right);
    pauseSometimes(random);
    assertEquals(0, writersIn.get(), "a writer came in beside a reader");
    readersIn.decrementAndGet();
    if (random.nextInt(4) == 0 && latch.tryUpgrade()) {
      asWriter(random);
    } else {
      latch.releaseShared();
    }
  }

  private void readOptimistically() {
    long stamp = latch.readOptimistic();
    long l = left;
    long r = right;
    if (latch.validate(stamp)) {
      assertEquals(l, r, "torn, and validated");
    }
  }

  private void enterWriter() {
    assertEquals(1, writersIn.incrementAndGet(), "two writers");
    assertEquals(0, readersIn.get(), "a reader beside a writer");
    assertTrue(latch.isExclusivelyHeld());
    assertTrue((latch.version() & 1) == 1, "even while writing");
  }

  private void leaveWriter() {
    assertEquals(0, readersIn.get(), "a reader came in beside a writer");
    assertEquals(0, writersIn.decrementAndGet(), "two writers");
  }

  /** Sometimes until a thread is parked, else for a very short time. */
  private void pauseSometimes(SplittableRandom random) {
    int yields = Math.max(0, random.nextInt(64) - 48);
    for (int i = 0; i < yields && !LatchWord.isParked(latch.wordOpaque()); i++) {
      Thread.yield();
    }
  }
}
