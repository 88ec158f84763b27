package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Deadlines that pass just when the latch is released.
 *
 * <p>Story: a timed writer that cleared the parked bit outside the queue's lock left parked readers
 * behind for ever, and a word of all ones (parking_lot#465, #466). A timed-out waiter that had been
 * woken already swallowed the wake-up of the next (llvm-project#201937). So in this test no thread
 * works inside the latch: nearly all events are time-outs against releases.
 */
@Tag("slow")
@Tag("debug")
@ExtendWith(NobodyTakesOver.class)
class TimeoutAgainstUnlockTest {
  /** Beside busy processes each yield of a holder costs milliseconds, so the usual run is short. */
  private static final int ROUNDS = Boolean.getBoolean("revenant.long") ? 200_000 : 3_000;

  /** Nanoseconds after which a holder leaves: longer than all its yields on a quiet machine. */
  private static final long LONG_ENOUGH = 200_000;

  private final HybridLatch latch = new HybridLatch();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final LongAdder timeouts = new LongAdder();

  @Test
  void timedWritersAgainstReaders() throws InterruptedException {
    run(
        this::timedWriter,
        this::timedWriter,
        this::reader,
        this::timedReader); // the reader waits without a deadline: a lost wake-up hangs it
  }

  @Test
  void timedReadersAgainstWriters() throws InterruptedException {
    run(this::timedReader, this::timedReader, this::timedReader, this::writer);
  }

  @Test
  void timedAgainstEverybody_handOverAlwaysDue() throws InterruptedException {
    Thread fair =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              while (!Thread.currentThread().isInterrupted()) {
                ParkingLot.global().setFairTime(latch, 0, System.nanoTime());
                Thread.yield();
              }
            });
    try {
      run(this::timedWriter, this::timedReader, this::writer, this::reader);
    } finally {
      fair.interrupt();
      fair.join();
    }
  }

  private void run(Runnable... bodies) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < bodies.length; i++) {
      Runnable body = bodies[i];
      Runnable rounds =
          () -> {
            try {
              for (int r = 0; r < ROUNDS && failure.get() == null; r++) {
                body.run();
              }
            } catch (Throwable t) {
              failure.compareAndSet(null, t);
            }
          };
      threads.add(i % 2 == 0 ? new Thread(rounds) : Thread.ofVirtual().unstarted(rounds));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    assertNull(failure.get());
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
    assertEquals(0, ParkingLot.global().queuedNear(latch, 0));
    // With one processor a virtual thread that yields may be the only one of them to run until it
    // ends. Then there may be none, and nobody can wait for one.
    System.out.println("TimeoutAgainstUnlockTest: " + timeouts.sum() + " timeouts");
  }

  private void timedWriter() {
    if (latch.tryAcquireExclusive(patience())) {
      pause();
      latch.releaseExclusive();
    } else {
      timeouts.increment();
    }
  }

  private void timedReader() {
    if (latch.tryAcquireShared(patience())) {
      pause();
      latch.releaseShared();
    } else {
      timeouts.increment();
    }
  }

  private void writer() {
    latch.acquireExclusive();
    pause();
    latch.releaseExclusive();
  }

  private void reader() {
    latch.acquireShared();
    pause();
    latch.releaseShared();
  }

  /** From less than it takes to park to about the time that the others hold the latch. */
  private static long patience() {
    return ThreadLocalRandom.current().nextLong(1, 100_000);
  }

  /** Holds the latch for a while, mostly until a thread is parked, and then leaves at once. */
  private void pause() {
    int yields = ThreadLocalRandom.current().nextInt(64);
    long since = System.nanoTime();
    for (int i = 0; i < yields && !LatchWord.isParked(latch.wordOpaque()); i++) {
      Thread.yield();
      if (System.nanoTime() - since > LONG_ENOUGH) {
        return; // other processes have had the processor, and so had the other threads
      }
    }
  }
}
