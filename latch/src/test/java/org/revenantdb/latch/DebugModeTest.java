package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The latch itself in debug mode: each hook is where it belongs. Runs in a JVM that has it on. */
@Tag("debug")
class DebugModeTest {
  private static final WaitStatistics ROOT = new WaitStatistics("root", 1);
  private static final WaitStatistics LEAF = new WaitStatistics("leaf", 2);

  private final HybridLatch latch = new HybridLatch();
  private final HybridLatch other = new HybridLatch();

  @BeforeEach
  void on() {
    assumeTrue(LatchDebug.isOn(), "for the execution debug-mode");
  }

  @AfterEach
  void nothingHeld() {
    assertEquals(LatchWord.FREE, latch.wordOpaque());
    assertEquals(LatchWord.FREE, other.wordOpaque());
    assertEquals(List.of(), LatchDebug.held());
  }

  private interface Step {
    void run() throws Exception;
  }

  private static void refused(Step step) {
    assertThrows(LatchUsageException.class, step::run);
  }

  @Test
  void recursion_isRefusedInEveryMode() {
    WaitTerms terms = WaitTerms.endless().countedIn(LEAF);
    latch.acquireShared();
    refused(latch::acquireShared);
    refused(() -> latch.acquireShared(LEAF));
    refused(() -> latch.acquireShared(terms));
    refused(latch::acquireSharedInterruptibly);
    refused(() -> latch.tryAcquireShared(1_000));
    refused(latch::acquireExclusive);
    refused(() -> latch.acquireExclusive(LEAF));
    refused(() -> latch.acquireExclusive(terms));
    refused(latch::acquireExclusiveInterruptibly);
    refused(() -> latch.tryAcquireExclusive(1_000));
    refused(() -> latch.runExclusive(() -> {}));
    assertTrue(latch.tryUpgrade(), "that is not recursion");
    refused(latch::acquireShared);
    latch.downgrade();
    refused(latch::acquireExclusive);
    latch.releaseShared();
  }

  @Test
  void rank_isTheOrderOfWaiting() {
    latch.acquireExclusive(ROOT);
    other.acquireExclusive(LEAF);
    other.releaseExclusive();
    latch.releaseExclusive();
    other.acquireShared(LEAF);
    refused(() -> latch.acquireShared(ROOT));
    assertTrue(latch.tryAcquireShared(), "who does not wait breaks no order");
    latch.releaseShared();
    other.releaseShared();
  }

  @Test
  void cycle_isRefusedThoughNoThreadHasEverWaited() throws InterruptedException {
    latch.acquireExclusive();
    other.acquireExclusive();
    other.releaseExclusiveUnmodified();
    latch.releaseExclusive();
    Thread otherWay =
        new Thread(() -> {
          other.acquireExclusive();
          refused(latch::acquireExclusive);
          other.releaseExclusive();
        });
    otherWay.start();
    otherWay.join();
  }

  @Test
  void upgrades_countAsHolds() {
    assertTrue(latch.tryUpgradeOptimistic(latch.readOptimistic()));
    refused(latch::acquireExclusive);
    latch.releaseExclusive();
    assertTrue(latch.tryUpgradeOptimisticToShared(latch.readOptimistic()));
    refused(latch::acquireExclusive);
    latch.releaseShared();
    assertTrue(latch.tryAcquireExclusive());
    refused(latch::acquireShared);
    latch.releaseExclusive();
  }

  @Test
  void hold_isShownAndIsAbandonedWhenItsThreadHasEnded() throws InterruptedException {
    Thread forgetful = new Thread(() -> latch.acquireExclusive(LEAF), "forgetful");
    forgetful.start();
    forgetful.join();
    LatchDebug.Hold hold = LatchDebug.abandoned().getFirst();
    assertEquals("forgetful", hold.thread().getName());
    assertTrue(hold.toString().startsWith("leaf"), hold::toString);
    latch.releaseExclusive(); // by another thread, which is legal
  }

  @Test
  void request_thatWantsALatchIsRefusedAndOneThatDoesNotIsNoHoldOfItsOwner()
      throws InterruptedException {
    assertThrows(IllegalStateException.class, () -> latch.runExclusive(other::tryAcquireExclusive));
    latch.acquireExclusive();
    CountDownLatch served = new CountDownLatch(1);
    Thread owner =
        new Thread(() -> {
          latch.runExclusive(served::countDown);
          other.acquireExclusive();
          other.releaseExclusive();
          latch.acquireExclusive();
          latch.releaseExclusive();
        });
    owner.start();
    Await.until(() -> ParkingLot.global().queuedNear(latch, 0) == 1);
    latch.releaseExclusive();
    assertEquals(0, served.getCount());
    owner.join();
  }

  /** The release was recorded for a thread without a hold, at the cost of another thread's hold. */
  @Test
  void grant_thatIsGivenBackLeavesNoHold() throws InterruptedException {
    AtomicBoolean asking = new AtomicBoolean();
    AtomicBoolean granted = new AtomicBoolean();
    WaitTerms terms =
        WaitTerms.endless()
            .asLongAs(
                Duration.ofNanos(1),
                () -> {
                  asking.set(true);
                  Await.until(granted::get);
                  throw new ArithmeticException();
                });
    latch.acquireExclusive();
    Thread reader =
        new Thread(() -> assertThrows(ArithmeticException.class, () -> latch.acquireShared(terms)));
    reader.start();
    Await.until(asking::get);
    latch.downgrade();
    assertEquals(2, LatchWord.sharedHolders(latch.wordOpaque()));
    granted.set(true);
    reader.join();
    assertEquals(1, LatchDebug.held().size(), "ours");
    latch.releaseShared();
  }
}
