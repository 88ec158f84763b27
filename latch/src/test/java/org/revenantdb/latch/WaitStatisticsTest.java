package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class WaitStatisticsTest {
  private final WaitStatistics statistics = new WaitStatistics("leaf");
  private final HybridLatch latch = new HybridLatch();

  private WaitTerms within(long nanos) {
    return WaitTerms.endless().atMost(Duration.ofNanos(nanos)).countedIn(statistics);
  }

  @Test
  void acquisition_servedAtOnceIsNotCounted() {
    latch.acquireExclusive(statistics);
    latch.releaseExclusive();
    latch.acquireShared(statistics);
    latch.releaseShared();
    assertEquals(Acquisition.ACQUIRED, latch.acquireExclusive(within(1)));
    latch.releaseExclusive();
    assertEquals(0, statistics.waits());
    assertEquals("leaf: 0 waits", statistics.toString());
  }

  @Test
  void acquisition_thatTimedOutIsCountedWithItsTime() {
    latch.acquireExclusive();
    assertEquals(Acquisition.TIMED_OUT, latch.acquireExclusive(within(1_000)));
    assertEquals(Acquisition.TIMED_OUT, latch.acquireShared(within(1_000)));
    assertEquals(2, statistics.waits());
    assertTrue(statistics.waitedNanos() >= 2_000, statistics::toString);
    latch.releaseExclusive();
  }

  @Test
  void acquisition_thatParkedIsCountedOnce() throws InterruptedException {
    latch.acquireExclusive();
    Thread waiter =
        Thread.startVirtualThread(() -> {
          latch.acquireShared(statistics);
          latch.releaseShared();
        });
    Await.until(() -> LatchWord.isParked(latch.wordOpaque()));
    latch.releaseExclusive();
    waiter.join();
    assertEquals(1, statistics.waits());
    assertEquals("leaf", statistics.latchClass());
  }

  @Test
  void histogram_hasPowersOfTwo() {
    long[] lengths = {-5, 0, 1, 2, 3, 4, 1023, 1024, Long.MAX_VALUE};
    int[] buckets = {0, 0, 0, 1, 1, 2, 9, 10, 62};
    long[] expected = new long[63];
    for (int i = 0; i < lengths.length; i++) {
      statistics.record(lengths[i]);
      expected[buckets[i]]++;
    }
    WaitStatistics.Snapshot snapshot = statistics.snapshot();
    assertArrayEquals(expected, snapshot.histogram());
    assertEquals(lengths.length, snapshot.waits());
    assertEquals(Long.MAX_VALUE, snapshot.maxNanos());
  }

  @Test
  void snapshot_isOneOfTheMoment() {
    statistics.record(10);
    WaitStatistics.Snapshot snapshot = statistics.snapshot();
    snapshot.histogram()[3] = 99;
    statistics.record(20);
    assertEquals(1, snapshot.waits());
    assertEquals(10, snapshot.totalNanos());
    assertEquals(10, snapshot.maxNanos());
    assertEquals(1, snapshot.histogram()[3]);
    assertEquals(30, statistics.waitedNanos());
  }

  @Test
  void percentile_liesInTheBucketOfTheTrueValue() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    Random random = new Random(seed);
    long[] lengths = new long[1 + random.nextInt(2000)];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = random.nextLong() >>> (1 + random.nextInt(62));
      statistics.record(lengths[i]);
    }
    Arrays.sort(lengths);
    WaitStatistics.Snapshot snapshot = statistics.snapshot();
    for (double fraction : new double[] {0, 0.01, 0.5, 0.9, 0.99, 0.999, 1}) {
      long real = lengths[Math.max(0, (int) Math.ceil(fraction * lengths.length) - 1)];
      long estimate = snapshot.nanosAt(fraction);
      String message = "seed " + seed + ", " + fraction + ": " + real + ", " + estimate;
      assertEquals(WaitStatistics.bucketOf(real), WaitStatistics.bucketOf(estimate), message);
      assertTrue(estimate <= snapshot.maxNanos(), message);
    }
    assertEquals(lengths[lengths.length - 1], snapshot.nanosAt(1), "seed " + seed);
  }

  @Test
  void percentile_ofNothingIsZeroAndOfNonsenseRefused() {
    WaitStatistics.Snapshot empty = statistics.snapshot();
    assertEquals(0, empty.nanosAt(0.99));
    for (double nonsense : new double[] {-0.1, 1.1, Double.NaN}) {
      assertThrows(IllegalArgumentException.class, () -> empty.nanosAt(nonsense));
    }
  }

  @Test
  void difference_hasOnlyWhatCameBetween() {
    statistics.record(1_000_000);
    WaitStatistics.Snapshot earlier = statistics.snapshot();
    statistics.record(100);
    statistics.record(70);
    WaitStatistics.Snapshot later = statistics.snapshot();
    WaitStatistics.Snapshot between = later.minus(earlier);
    assertEquals(2, between.waits());
    assertEquals(170, between.totalNanos());
    assertEquals(127, between.maxNanos(), "the longest ever came before, so the bucket bounds it");
    statistics.record(5_000_000);
    assertEquals(5_000_000, statistics.snapshot().minus(earlier).maxNanos());
    assertEquals(0, later.minus(later).maxNanos());
    assertThrows(IllegalArgumentException.class, () -> earlier.minus(later));
    WaitStatistics.Snapshot other = new WaitStatistics("inner").snapshot();
    assertThrows(IllegalArgumentException.class, () -> later.minus(other));
  }

  @Test
  void concurrentCounts_areAllThereAndNoSnapshotCountsMoreThanItSums() throws Exception {
    int each = 200_000;
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<?>> done = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        long length = 8L << t;
        done.add(
            threads.submit(() -> {
              for (int i = 0; i < each; i++) {
                statistics.record(length);
              }
            }));
      }
      while (!done.stream().allMatch(Future::isDone)) {
        WaitStatistics.Snapshot snapshot = statistics.snapshot();
        long counted = 0;
        long longest = 0;
        long[] histogram = snapshot.histogram();
        for (int i = 0; i < histogram.length; i++) {
          counted += histogram[i] << i;
          longest = histogram[i] == 0 ? longest : 1L << i;
        }
        assertTrue(counted <= snapshot.totalNanos(), snapshot::toString);
        assertTrue(longest <= snapshot.maxNanos(), snapshot::toString);
      }
      for (Future<?> thread : done) {
        thread.get();
      }
    }
    WaitStatistics.Snapshot all = statistics.snapshot();
    assertEquals(4L * each, all.waits());
    assertEquals(each * (8L + 16 + 32 + 64), all.totalNanos());
    assertEquals(64, all.maxNanos());
  }

  @Test
  void description_isForHumans() {
    statistics.record(3);
    assertEquals(
        "leaf: 1 wait, 3 ns together, half within 3 ns, 99 % within 3 ns, longest 3 ns",
        statistics.toString());
    statistics.record(20_000_000);
    assertTrue(statistics.toString().endsWith(" longest 20 ms"), statistics::toString);
  }

  @Test
  void rank_isThereIfItWasGiven() {
    assertEquals(OptionalInt.empty(), statistics.rank());
    assertEquals(OptionalInt.of(-3), new WaitStatistics("root", -3).rank());
  }

  @Test
  void stripes_areAPowerOfTwo() {
    assertEquals(1, WaitStatistics.stripes(1));
    assertEquals(2, WaitStatistics.stripes(3));
    assertEquals(8, WaitStatistics.stripes(500));
  }
}
