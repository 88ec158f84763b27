package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Both directions: what breaks a rule is found, and what only looks like it is not. */
class HoldRegistryTest {
  private final HoldRegistry registry = new HoldRegistry();
  private final Object a = new Object();
  private final Object b = new Object();
  private final Object c = new Object();
  private final WaitStatistics low = new WaitStatistics("low", 1);
  private final WaitStatistics high = new WaitStatistics("high", 2);
  private final WaitStatistics alsoHigh = new WaitStatistics("also high", 2);

  /** One thread each, for what is done by another thread than the test's. */
  private final ExecutorService other = Executors.newSingleThreadExecutor();

  private final ExecutorService third =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().factory());

  @AfterEach
  void endThreads() {
    other.close();
    third.close();
  }

  // (a) recursion

  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void recursion_isFoundInEachMode(boolean first, boolean second) {
    acquire(a, first);
    LatchUsageException found = assertThrows(LatchUsageException.class, () -> acquire(a, second));
    assertTrue(found.getMessage().contains("reentrant"), found::getMessage);
    assertTrue(found.getMessage().contains("HoldRegistryTest.acquire"), found::getMessage);
    assertEquals(1, registry.held().size(), "nothing was acquired");
  }

  @Test
  void recursion_ofAVirtualThreadIsFound() {
    in(third, () -> acquire(a, /* shared= */ true));
    assertFound(third, () -> acquire(a, /* shared= */ true));
  }

  @Test
  void sharedHolds_ofSeveralThreadsAreNoRecursion() {
    acquire(a, /* shared= */ true);
    in(other, () -> acquire(a, /* shared= */ true));
    in(third, () -> acquire(a, /* shared= */ true));
    assertEquals(3, registry.held().size());
  }

  @Test
  void reuse_afterReleaseIsNoRecursion() {
    for (int round = 0; round < 3; round++) {
      boolean shared = round % 2 == 0;
      acquire(a, shared);
      release(a, shared);
    }
    assertEquals(List.of(), registry.held());
  }

  @Test
  void tryAcquire_isNoRecursionAndEachHoldIsReleasedAlone() {
    acquire(a, /* shared= */ true);
    tryAcquire(a, /* shared= */ true);
    release(a, /* shared= */ true);
    assertEquals(1, registry.held().size());
    assertThrows(LatchUsageException.class, () -> acquire(a, /* shared= */ true));
    release(a, /* shared= */ true);
    acquire(a, /* shared= */ true);
  }

  @Test
  void upgrade_isNoRecursionAndTheHoldBecomesExclusive() {
    acquire(a, /* shared= */ true);
    registry.changed(a, /* nowShared= */ false);
    assertFalse(registry.held().getFirst().shared());
    assertThrows(LatchUsageException.class, () -> acquire(a, /* shared= */ true));
    release(a, /* shared= */ false);
    acquire(a, /* shared= */ true);
  }

  @Test
  void downgrade_isNoRecursionAndTheHoldBecomesShared() {
    acquire(a, /* shared= */ false);
    registry.changed(a, /* nowShared= */ true);
    in(other, () -> acquire(a, /* shared= */ true));
    assertThrows(LatchUsageException.class, () -> acquire(a, /* shared= */ true));
    release(a, /* shared= */ true);
    assertEquals(1, registry.held().size());
    acquire(a, /* shared= */ true);
  }

  // (b) order

  @Test
  void rank_lowerWhileGreaterIsHeldIsFound() {
    acquire(a, high);
    LatchUsageException found = assertThrows(LatchUsageException.class, () -> acquire(b, low));
    assertTrue(
        found.getMessage().matches("(?s)low@.* rank 1 .*high@.* rank 2 .*"), found::getMessage);
    assertEquals(1, registry.held().size(), "nothing was acquired");
  }

  @Test
  void rank_isAskedOfEveryHeldLatch() {
    acquire(a, high);
    acquire(b, (WaitStatistics) null);
    assertThrows(LatchUsageException.class, () -> acquire(c, low));
  }

  @Test
  void rank_greaterOrEqualOrNoneIsNotFound() {
    acquire(a, low);
    acquire(b, high);
    acquire(c, alsoHigh);
    acquire(new Object(), (WaitStatistics) null);
    assertEquals(0, registry.observed(), "with ranked ones no order is observed");
    release(b, /* shared= */ false);
    acquire(b, high);
    assertThrows(LatchUsageException.class, () -> acquire(new Object(), low));
  }

  @Test
  void rank_ofAnotherThreadsHoldDoesNotCount() {
    acquire(a, high);
    in(other, () -> acquire(b, low));
  }

  @Test
  void rank_equalOnesAreNotObserved() {
    acquire(a, high);
    acquire(b, high);
    release(a, /* shared= */ false);
    release(b, /* shared= */ false);
    in(
        other,
        () -> {
          acquire(b, high);
          acquire(a, high);
        });
    assertEquals(0, registry.observed());
  }

  @Test
  void tryAcquire_againstTheRanksIsAllowedButItsHoldCounts() {
    acquire(a, alsoHigh);
    registry.acquiring(b, /* waits= */ false, low);
    registry.acquired(b, /* shared= */ false, low);
    release(a, /* shared= */ false);
    registry.acquiring(a, /* waits= */ false, alsoHigh);
    registry.acquired(a, /* shared= */ false, alsoHigh);
    assertThrows(LatchUsageException.class, () -> acquire(c, low));
  }

  @ParameterizedTest
  @CsvSource({"true,true", "true,false", "false,true", "false,false"})
  void twoWays_ofTwoThreadsAreFoundWithBothPlaces(boolean first, boolean second) {
    in(other, () -> oneWayRound(first));
    acquire(b, second);
    LatchUsageException found = assertThrows(LatchUsageException.class, () -> otherWay(second));
    String message = found.getMessage();
    assertTrue(message.contains("HoldRegistryTest.oneWayRound"), message);
    assertTrue(message.contains("HoldRegistryTest.otherWay"), message);
    assertFalse(message.contains("HoldRegistry.acqu"), message);
    assertEquals(1, registry.held().size(), "nothing was acquired");
    assertThrows(LatchUsageException.class, () -> otherWay(second), "as long as it is so");
  }

  private void oneWayRound(boolean shared) {
    acquire(a, shared);
    acquire(b, shared);
    release(b, shared);
    release(a, shared);
  }

  private void otherWay(boolean shared) {
    registry.acquiring(a, /* waits= */ true, null);
    registry.acquired(a, shared, null);
  }

  @Test
  void twoWays_ofOneThreadAreNotFoundUntilAnotherGoesOneOfThem() {
    for (int round = 0; round < 3; round++) {
      inOrder(a, b);
      inOrder(a, b);
      inOrder(b, a);
    }
    LatchUsageException found = assertFound(other, () -> inOrder(b, a));
    assertTrue(found.getMessage().contains("before, "), found::getMessage);
  }

  @Test
  void longerCycle_isFoundWithAllItsPlaces() {
    in(other, () -> inOrder(a, b));
    in(third, () -> inOrder(b, c));
    acquire(c, (WaitStatistics) null);
    LatchUsageException found =
        assertThrows(LatchUsageException.class, () -> acquire(a, (WaitStatistics) null));
    assertEquals(2, found.getMessage().split("before, ", -1).length - 1, found::getMessage);
  }

  @Test
  void longerCycle_thatNeedsOneThreadTwiceIsNotFound() {
    in(other, () -> inOrder(a, b));
    in(other, () -> inOrder(b, c));
    inOrder(c, a);
  }

  @Test
  void longerCycle_isFoundBeyondAShorterWayOfTheSameThread() {
    inOrder(a, b);
    in(other, () -> inOrder(a, c));
    in(third, () -> inOrder(c, b));
    assertThrows(LatchUsageException.class, () -> inOrder(b, a));
  }

  @Test
  void cycle_isFoundThroughALatchThatWasTried() {
    in(
        other,
        () -> {
          tryAcquire(a, /* shared= */ false);
          acquire(b, (WaitStatistics) null);
        });
    acquire(b, (WaitStatistics) null);
    assertThrows(LatchUsageException.class, () -> acquire(a, (WaitStatistics) null));
  }

  @Test
  void tryAcquire_inTheWrongOrderIsAllowedAndTeachesNothing() {
    in(
        other,
        () -> {
          acquire(a, (WaitStatistics) null);
          tryAcquire(b, /* shared= */ false);
          release(b, /* shared= */ false);
          release(a, /* shared= */ false);
        });
    inOrder(b, a);
    in(
        other,
        () -> {
          acquire(a, (WaitStatistics) null);
          tryAcquire(b, /* shared= */ false);
        });
  }

  @Test
  void order_withoutNestingTeachesNothing() {
    in(
        other,
        () -> {
          acquire(a, (WaitStatistics) null);
          release(a, /* shared= */ false);
          acquire(b, (WaitStatistics) null);
        });
    acquire(b, (WaitStatistics) null);
    acquire(a, (WaitStatistics) null);
    assertEquals(1, registry.observed());
  }

  @Test
  void coupling_alongAListIsAllowed() {
    List<Object> nodes = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      nodes.add(new Object());
    }
    Runnable walk =
        () -> {
          acquire(nodes.getFirst(), /* shared= */ true);
          for (int i = 1; i < nodes.size(); i++) {
            acquire(nodes.get(i), /* shared= */ true);
            release(nodes.get(i - 1), /* shared= */ true);
          }
          release(nodes.getLast(), /* shared= */ true);
        };
    walk.run();
    in(other, walk);
    in(third, walk);
    acquire(nodes.get(7), /* shared= */ false);
    LatchUsageException found =
        assertThrows(LatchUsageException.class, () -> acquire(nodes.get(6), /* shared= */ false));
    assertTrue(found.getMessage().contains("order"), found::getMessage);
  }

  @Test
  void order_ofACollectedLatchIsForgotten() {
    throughATemporaryLatch();
    Await.until(() -> {
      System.gc();
      return registry.observed() == 0;
    });
    assertEquals(0, registry.tracked());
    inOrder(b, a);
    assertEquals(1, registry.observed());
    assertEquals(2, registry.tracked());
  }

  /** a before a temporary one in one thread, it before b in another. */
  private void throughATemporaryLatch() {
    Object temporary = new Object();
    inOrder(a, temporary);
    in(other, () -> inOrder(temporary, b));
    assertEquals(2, registry.observed());
  }

  // Holds that change hands

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void handOver_ofTheOnlyHoldIsNoRecursionAfterItsRelease(boolean shared) {
    acquire(a, shared);
    in(other, () -> release(a, shared));
    assertEquals(List.of(), registry.held());
    acquire(a, shared);
    assertThrows(LatchUsageException.class, () -> acquire(a, shared));
  }

  @Test
  void handOver_ofOneOfSeveralSharedHoldsReportsNoViolation() {
    acquire(a, /* shared= */ true);
    in(other, () -> acquire(a, /* shared= */ true));
    in(third, () -> release(a, /* shared= */ true)); // whose was it?
    assertEquals(1, registry.held().size());
    if (registry.held().getFirst().thread() == Thread.currentThread()) {
      acquire(a, /* shared= */ true);
    } else {
      in(other, () -> acquire(a, /* shared= */ true));
    }
    release(a, /* shared= */ true);
    in(other, () -> release(a, /* shared= */ true));
    assertEquals(List.of(), registry.held());
  }

  @Test
  void handOver_isNotMistakenForAnotherThreadsHold() {
    acquire(a, /* shared= */ false);
    acquire(b, /* shared= */ true);
    in(other, () -> release(b, /* shared= */ true));
    assertThrows(LatchUsageException.class, () -> acquire(a, /* shared= */ false));
    release(a, /* shared= */ false);
  }

  @Test
  void handOver_thatWasSaidLetsTheThreadWait() {
    acquire(a, /* shared= */ false);
    registry.handedOver(a);
    registry.acquiring(a, /* waits= */ true, null); // for the other thread's release
    in(other, () -> release(a, /* shared= */ false));
    registry.acquired(a, /* shared= */ true, null);
    assertThrows(LatchUsageException.class, () -> acquire(a, /* shared= */ true));
    assertEquals(1, registry.held().size());
  }

  @Test
  void handOver_thatWasSaidIsReleasedBeforeOlderHolds() {
    in(other, () -> acquire(a, /* shared= */ true));
    acquire(a, /* shared= */ true);
    registry.handedOver(a);
    in(third, () -> release(a, /* shared= */ true));
    assertFound(other, () -> acquire(a, /* shared= */ true));
    acquire(a, /* shared= */ true);
  }

  @Test
  void handOver_thatWasSaidBreaksNoOrder() {
    acquire(a, high);
    registry.handedOver(a);
    acquire(b, low);
    in(third, () -> release(a, /* shared= */ false));
    assertEquals(1, registry.held().size());
  }

  @Test
  void release_withoutAHoldIsIgnored() {
    assertDoesNotThrow(() -> release(a, /* shared= */ true));
    acquire(a, /* shared= */ true);
    release(a, /* shared= */ false);
    assertEquals(1, registry.held().size(), "another mode");
    registry.changed(b, /* nowShared= */ true);
    registry.handedOver(b);
    assertEquals(1, registry.tracked());
  }

  // (c) never released

  @Test
  void held_returnsThreadModeAndPlace() {
    acquire(a, low);
    in(third, () -> acquire(b, /* shared= */ true));
    assertEquals(2, registry.held().size());
    LatchDebug.Hold mine = holdOf(Thread.currentThread());
    assertFalse(mine.shared());
    assertFalse(mine.latchCollected());
    assertTrue(mine.latch().startsWith("low@"), mine::toString);
    assertEquals("acquire", mine.stack().getFirst().getMethodName());
    assertEquals(HoldRegistryTest.class.getName(), mine.stack().getFirst().getClassName());
    assertTrue(mine.toString().contains("held exclusively since"), mine::toString);
    assertFalse(mine.since().isAfter(Instant.now()));
    LatchDebug.Hold others =
        registry.held().stream()
            .filter(hold -> hold.thread().isVirtual())
            .findFirst()
            .orElseThrow();
    assertTrue(others.shared());
    assertTrue(others.latch().startsWith("Object@"), others::toString);
    assertEquals(List.of(), registry.abandoned());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void abandoned_whenTheThreadHasEnded(boolean virtual) throws InterruptedException {
    Thread thread =
        (virtual ? Thread.ofVirtual() : Thread.ofPlatform())
            .start(() -> acquire(a, /* shared= */ true));
    thread.join();
    assertEquals(1, registry.abandoned().size());
    LatchDebug.Hold hold = registry.abandoned().getFirst();
    assertSame(thread, hold.thread());
    assertFalse(hold.latchCollected());
    release(a, /* shared= */ true);
    assertEquals(List.of(), registry.abandoned(), "somebody has released it after all");
  }

  @Test
  void abandoned_whenTheLatchWasCollected() {
    acquire(new Object(), high);
    Await.until(() -> {
      System.gc();
      return !registry.abandoned().isEmpty();
    });
    LatchDebug.Hold hold = registry.abandoned().getFirst();
    assertTrue(hold.latchCollected());
    assertTrue(hold.latch().startsWith("high@"), hold::toString);
    assertEquals(List.of(), registry.held());
    acquire(a, low); // what is gone has no rank any more
    assertEquals(1, registry.tracked());
  }

  @Test
  void latchThatIsNotHeld_isNotRemembered() {
    for (int i = 0; i < 1000; i++) {
      Object latch = new Object();
      acquire(latch, /* shared= */ true);
      release(latch, /* shared= */ true);
      assertEquals(0, registry.tracked());
    }
    acquire(a, low);
    acquire(b, high);
    assertThrows(LatchUsageException.class, () -> acquire(c, low));
    assertEquals(2, registry.tracked(), "what was refused leaves nothing behind");
  }

  @Test
  void randomUse_inOneGlobalOrderIsNeverFound() throws Exception {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    List<Object> latches = List.of(a, b, c, new Object(), new Object());
    List<AtomicReference<@Nullable Throwable>> failures = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Random random = new Random(seed + t);
      AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
      failures.add(failure);
      threads.add(
          Thread.ofPlatform()
              .uncaughtExceptionHandler((thread, e) -> failure.set(e))
              .start(() -> randomUse(latches, random)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    for (AtomicReference<@Nullable Throwable> failure : failures) {
      assertEquals(null, failure.get(), () -> "seed " + seed);
    }
    assertEquals(List.of(), registry.held(), () -> "seed " + seed);
  }

  /** Ascending, each latch at most once, in any mode, which may change; released in any order. */
  private void randomUse(List<Object> latches, Random random) {
    for (int round = 0; round < 500; round++) {
      Map<Object, Boolean> held = new HashMap<>();
      for (Object latch : latches) {
        if (random.nextInt(3) == 0) {
          boolean shared = random.nextBoolean();
          boolean changes = random.nextBoolean();
          acquire(latch, shared);
          if (changes) {
            registry.changed(latch, !shared);
          }
          held.put(latch, shared ^ changes);
        }
      }
      held.forEach(this::release);
    }
  }

  private LatchDebug.Hold holdOf(Thread thread) {
    return registry.held().stream()
        .filter(hold -> hold.thread() == thread)
        .findFirst()
        .orElseThrow();
  }

  private void inOrder(Object first, Object second) {
    acquire(first, (WaitStatistics) null);
    acquire(second, (WaitStatistics) null);
    release(second, /* shared= */ false);
    release(first, /* shared= */ false);
  }

  private void acquire(Object latch, boolean shared) {
    registry.acquiring(latch, /* waits= */ true, null);
    registry.acquired(latch, shared, null);
  }

  private void acquire(Object latch, @Nullable WaitStatistics statistics) {
    registry.acquiring(latch, /* waits= */ true, statistics);
    registry.acquired(latch, /* shared= */ false, statistics);
  }

  private void tryAcquire(Object latch, boolean shared) {
    registry.acquiring(latch, /* waits= */ false, null);
    registry.acquired(latch, shared, null);
  }

  private void release(Object latch, boolean shared) {
    registry.released(latch, shared);
  }

  private static LatchUsageException assertFound(ExecutorService thread, Runnable use) {
    return assertThrows(LatchUsageException.class, () -> in(thread, use));
  }

  private static void in(ExecutorService thread, Runnable use) {
    try {
      thread.submit(use).get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new AssertionError(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
