package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * The parking lot of a machine with several last-level caches: whom it prefers, and for how long.
 */
class CacheNodesTest {
  private static final long FAIRNESS = 1_000;

  private static final ParkingLot.Protocol<Object> RETURNING =
      new ParkingLot.Protocol<>() {
        @Override
        public boolean mustWait(Object key) {
          return true;
        }

        @Override
        public boolean returning() {
          return true;
        }
      };

  private final AtomicLong now = new AtomicLong();
  private final Map<Thread, Integer> nodeOf = new ConcurrentHashMap<>();
  private final AtomicInteger lookups = new AtomicInteger();
  private final CacheNodes twoNodes = new CacheNodes(2, this::lookUp);
  private final ParkingLot lot = new ParkingLot(1, FAIRNESS, now::get, twoNodes);
  private final Object key = new Object();
  private final ConcurrentLinkedQueue<String> woken = new ConcurrentLinkedQueue<>();

  private int lookUp() {
    lookups.incrementAndGet();
    return nodeOf.getOrDefault(Thread.currentThread(), -1);
  }

  private Thread waiter(String name, int node, boolean virtual) {
    int before = lot.queuedNear(key, 0);
    Runnable body =
        () -> {
          lot.park(key, 0, () -> true);
          woken.add(name);
        };
    Thread thread = virtual ? Thread.ofVirtual().unstarted(body) : new Thread(body);
    nodeOf.put(thread, node);
    thread.start();
    Await.until(() -> lot.queuedNear(key, 0) == before + 1);
    return thread;
  }

  /** One that is woken, loses, and parks again, first in its queue. */
  private void loser(String name, int node) {
    int before = lot.queuedNear(key, 0);
    Thread thread =
        new Thread(() -> {
          WaitNode first = lot.newNode(key, 0, /* shared= */ false, null, null);
          lot.await(first, key, 0, k -> true, WaitTerms.ENDLESS, /* timed= */ false, 0);
          WaitNode second = lot.newNode(key, 0, /* shared= */ false, null, first);
          woken.add(name + " lost");
          lot.await(second, key, 0, RETURNING, WaitTerms.ENDLESS, /* timed= */ false, 0);
          woken.add(name);
        });
    nodeOf.put(thread, node);
    thread.start();
    Await.until(() -> lot.queuedNear(key, 0) == before + 1);
  }

  private void wakeOne() {
    int before = woken.size();
    assertEquals(1, lot.unparkOne(key, 0));
    Await.until(() -> woken.size() == before + 1);
  }

  @Test
  void oneNode_hasOneQueueAndNeverAsksForTheNode() {
    CacheNodes flat =
        new CacheNodes(
            1,
            () -> {
              throw new AssertionError("asked");
            });
    assertEquals(1, flat.queues());
    assertEquals(0, flat.queueOfCaller());
  }

  @Test
  void thisMachine_isFlatOrHasAQueueForEachNodeAndOneMore() {
    int nodes = CacheTopology.detect().nodes();
    CacheNodes here = CacheNodes.here();
    assertEquals(nodes == 1 ? 1 : nodes + 1, here.queues());
    assertTrue(here.queueOfCaller() < here.queues());
  }

  @Test
  void virtualThreadsAndUnknownProcessors_shareTheCommonQueue() throws InterruptedException {
    assertEquals(3, twoNodes.queues());
    assertEquals(2, twoNodes.queueOfCaller(), "nobody knows where we are");
    nodeOf.put(Thread.currentThread(), 7);
    assertEquals(2, twoNodes.queueOfCaller(), "no such node");
    nodeOf.put(Thread.currentThread(), 1);
    assertEquals(1, twoNodes.queueOfCaller());
    int before = lookups.get();
    AtomicInteger queue = new AtomicInteger(-1);
    Thread.startVirtualThread(() -> queue.set(twoNodes.queueOfCaller())).join();
    assertEquals(2, queue.get());
    assertEquals(before, lookups.get(), "a virtual thread has no processor to look up");
  }

  @Test
  void lookUp_onlyByParkingThreads() {
    lot.unparkAll(key, 0);
    HybridLatch latch = new HybridLatch();
    latch.acquireExclusive();
    latch.releaseExclusive();
    assertEquals(0, lookups.get());
  }

  @Test
  void sameNode_isPreferredUntilTheFairnessTimeHasCome() {
    waiter("a0", 0, false);
    waiter("b0", 1, false);
    waiter("a1", 0, false);
    waiter("b1", 1, false);
    waiter("v", 0, true);
    waiter("a2", 0, false);
    lot.setFairTime(key, 0, 100);
    wakeOne();
    wakeOne();
    assertEquals(List.of("a0", "a1"), List.copyOf(woken), "past those who came before");
    now.set(100);
    wakeOne();
    lot.setFairTime(key, 0, 200);
    wakeOne();
    assertEquals(List.of("a0", "a1", "b0", "b1"), List.copyOf(woken), "b0 was the oldest");
    wakeOne();
    wakeOne();
    assertEquals(List.of("a0", "a1", "b0", "b1", "v", "a2"), List.copyOf(woken), "then by age");
  }

  @Test
  void commonQueue_isNoNode() {
    waiter("v0", 0, true);
    waiter("a0", 0, false);
    waiter("v1", 0, true);
    lot.setFairTime(key, 0, 100);
    wakeOne();
    wakeOne();
    wakeOne();
    assertEquals(List.of("v0", "a0", "v1"), List.copyOf(woken), "virtual threads are nowhere");
  }

  @Test
  void wakingAll_includesAllNodes() {
    waiter("a", 0, false);
    waiter("b", 1, false);
    waiter("v", 0, true);
    assertEquals(3, lot.unparkAll(key, 0));
    Await.until(() -> woken.size() == 3);
    assertEquals(0, lot.queuedNear(key, 0));
  }

  /**
   * Else a latch that is handed over would not have the mark that a thread waits on another node.
   */
  @Test
  void departure_seesWaitersOnOtherNodes() {
    waiter("a", 0, false);
    waiter("b", 1, false);
    AtomicInteger count = new AtomicInteger();
    int woke =
        lot.unpark(
            key,
            0,
            (owner, head) -> {
              count.set(head.othersWait() ? head.count() : -1);
              return ParkingLot.Wake.GRANT;
            });
    assertEquals(1, woke);
    assertEquals(1, count.get(), "the other one waits");
    Await.until(() -> woken.size() == 1);
    wakeOne();
  }

  @Test
  void giveUp_leavesTheQueueOfTheNode() throws InterruptedException {
    now.set(50);
    Thread impatient = new Thread(() -> lot.park(key, 0, () -> true, 50));
    nodeOf.put(impatient, 1);
    impatient.start();
    impatient.join();
    assertEquals(0, lot.queuedNear(key, 0));
  }

  /**
   * One that is woken out of turn, because it runs on the preferred node, and loses, comes back. It
   * counted as older than all others then, and so did each that came after it: as long as some did,
   * a waiter of another node was never the oldest.
   */
  @Test
  void a_waiter_is_not_passed_by_a_later_one_that_was_woken_out_of_turn_and_lost() {
    waiter("a0", 0, false);
    lot.setFairTime(key, 0, 100);
    wakeOne(); // node 0 is the one that was served last
    waiter("b", 1, false);
    loser("a1", 0);
    lot.setFairTime(key, 0, 100);
    wakeOne();
    Await.until(() -> lot.queuedNear(key, 0) == 2);
    now.set(100);
    wakeOne();
    assertEquals(List.of("a0", "a1 lost", "b"), List.copyOf(woken));
    wakeOne();
  }

  /** But it keeps the age that it had. */
  @Test
  void a_waiter_that_was_woken_and_lost_is_as_old_as_before() {
    loser("a", 0);
    waiter("b", 1, false);
    lot.setFairTime(key, 0, 100);
    wakeOne();
    Await.until(() -> lot.queuedNear(key, 0) == 2);
    now.set(100);
    wakeOne();
    assertEquals(List.of("a lost", "a"), List.copyOf(woken));
    wakeOne();
  }

  /** However long one node is busy, the others get their share at each fairness time. */
  @Test
  void noNode_starves() {
    long seed = Long.getLong("revenant.seed", System.nanoTime());
    System.out.println("CacheNodesTest seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    List<String> order = new ArrayList<>();
    Map<String, Integer> arrivedAt = new HashMap<>();
    for (int i = 0; i < 300; i++) {
      String name = "w" + i;
      int node = random.nextInt(10) == 0 ? 1 : 0; // nearly all on node 0
      arrivedAt.put(name, i);
      waiter(name, node, /* virtual= */ false);
      if (i >= 20) {
        now.addAndGet(FAIRNESS / 4);
        wakeOne();
        order.add(name);
      }
    }
    // The oldest is served every one and a half fairness times at the latest, that is every
    // six wake-ups; with twenty in the queue nobody is passed by more than the twenty in
    // front, six each.
    List<String> served = List.copyOf(woken);
    for (int i = 0; i < served.size(); i++) {
      int passedBy = i - arrivedAt.get(served.get(i));
      assertTrue(passedBy <= 6 * 21, served.get(i) + " waited for " + passedBy + ", seed " + seed);
    }
    assertEquals(order.size(), served.size());
    lot.unparkAll(key, 0);
    Await.until(() -> woken.size() == 300);
  }
}
