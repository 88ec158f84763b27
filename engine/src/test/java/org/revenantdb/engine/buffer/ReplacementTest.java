package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/**
 * Which pages stay: traces of page ids through a real pool by one thread, so that each seed has one
 * result. Pages are made anew instead of read, so that no file is needed; what is asked of the
 * clock is the same.
 */
class ReplacementTest {
  private static final int FRAMES = 500;
  private static final int FIRST = PoolFixture.FIRST;
  private static final long SEED = 42;

  @TempDir Path directory;

  /** A pool, and how often a page was there. */
  private final class Trace implements AutoCloseable {
    final StorageFile file =
        StorageFile.open(directory.resolve("data"), OpenMode.CREATE_NEW, /* ownerOnly= */ true);
    final BufferPool pool =
        new BufferPool(
            BufferPoolOptions.ofBytes((long) FRAMES * BufferPool.PAGE_SIZE),
            file,
            BatchGuard.NONE,
            new FakeLog(),
            PageAccount.NONE,
            PageReadCheck.NONE,
            PoolWaits.NONE,
            Steps.NONE,
            new Slabs(1));

    boolean read(int page) {
      boolean found = pool.resident(page) != null;
      if (found) {
        pool.unfixShared(pool.fixShared(page));
      } else {
        pool.unfixExclusive(pool.fixNew(page));
      }
      return found;
    }

    void scan(int page) {
      if (pool.resident(page) == null) {
        pool.unfixExclusive(pool.fixNewForScan(page));
      } else {
        pool.unfixShared(pool.fixSharedForScan(page));
      }
    }

    @Override
    public void close() {
      pool.close();
      file.close();
    }
  }

  /** Numbers from 0 on, the lower the more often. */
  private static final class Zipf {
    private final double[] sums;
    private final SplittableRandom random = new SplittableRandom(SEED);

    Zipf(int n, double exponent) {
      sums = new double[n];
      double sum = 0;
      for (int i = 0; i < n; i++) {
        sum += Math.pow(i + 1, -exponent);
        sums[i] = sum;
      }
    }

    int next() {
      int at = Arrays.binarySearch(sums, random.nextDouble() * sums[sums.length - 1]);
      return at < 0 ? -at - 1 : at;
    }

    /** Share of the requests that who knows the frequencies finds in a cache. */
    double best(int cache) {
      return sums[cache - 1] / sums[sums.length - 1];
    }
  }

  private static final class Lru extends LinkedHashMap<Integer, Integer> {
    private static final long serialVersionUID = 1;

    Lru() {
      super(FRAMES * 2, 0.75f, /* accessOrder= */ true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<Integer, Integer> eldest) {
      return size() > FRAMES;
    }

    boolean read(int page) {
      if (get(page) != null) {
        return true;
      }
      put(page, page);
      return false;
    }
  }

  /**
   * Published for 500,000 items, a cache of 0.1 % and 7.5 million requests by zipf(0.99): sieve
   * 47.4, s3-fifo 47.2, clock 37.3, lru 36.6 %. Another generator shifts all of them, so what is
   * compared is the distance to LRU under the same requests.
   */
  @Test
  void zipf_isServedAsWellAsByTheBestPublished() {
    int pages = 500_000;
    int warmUp = 500_000;
    int requests = 2_000_000;
    Zipf zipf = new Zipf(pages, 0.99);
    Lru lru = new Lru();
    int hits = 0;
    int lruHits = 0;
    try (Trace trace = new Trace()) {
      for (int i = 0; i < requests; i++) {
        int page = FIRST + zipf.next();
        boolean found = trace.read(page);
        boolean foundByLru = lru.read(page);
        hits += found && i >= warmUp ? 1 : 0;
        lruHits += foundByLru && i >= warmUp ? 1 : 0;
      }
    }
    double ours = 100.0 * hits / (requests - warmUp);
    double theirs = 100.0 * lruHits / (requests - warmUp);
    System.out.printf(
        "zipf(0.99), seed %d: %.2f %% hits, lru %.2f %%, best possible %.2f %%%n",
        SEED, ours, theirs, 100 * zipf.best(FRAMES));
    assertTrue(ours - theirs >= 47.2 - 36.6 - 0.5, "no better than others: " + ours);
  }

  /** Share of hits of a hot set beside a loop over twice the pool. */
  private double hotHits(int hot, int readsForEachScanned, boolean flagged) {
    SplittableRandom random = new SplittableRandom(SEED);
    int loop = FRAMES * 2;
    int reads = 0;
    int hits = 0;
    try (Trace trace = new Trace()) {
      for (int step = 0; step < 10 * loop; step++) {
        int page = FIRST + hot + step % loop;
        if (flagged) {
          trace.scan(page);
        } else {
          trace.read(page);
        }
        for (int i = 0; i < readsForEachScanned; i++) {
          boolean found = trace.read(FIRST + random.nextInt(hot));
          if (step >= loop) {
            reads++;
            hits += found ? 1 : 0;
          }
        }
      }
    }
    double share = 100.0 * hits / reads;
    System.out.printf(
        "hot set of %d in %d frames, %d reads for each page of a loop over %d, flagged %b, seed %d: %.2f %% hits%n",
        hot, FRAMES, readsForEachScanned, loop, flagged, SEED, share);
    return share;
  }

  @Test
  void hotSet_besideAScan_stays() {
    assertTrue(hotHits(FRAMES / 2, 1, /* flagged= */ true) >= 95);
  }

  @Test
  void hotSetOfNearlyThePool_besideAScan_stays() {
    assertTrue(hotHits(FRAMES * 4 / 5, 1, /* flagged= */ true) >= 95);
  }

  @Test
  void hotSet_besideALoopOfPointReads_stays() {
    assertTrue(hotHits(FRAMES / 2, 1, /* flagged= */ false) >= 95);
  }

  @Test
  void hotSet_thatMoves_isFoundAgain() {
    SplittableRandom random = new SplittableRandom(SEED);
    int hits = 0;
    try (Trace trace = new Trace()) {
      for (int i = 0; i < 400_000; i++) {
        int set = i / 200_000;
        boolean found = trace.read(FIRST + set * FRAMES + random.nextInt(FRAMES / 2));
        hits += found && i >= 220_000 ? 1 : 0;
      }
    }
    assertEquals(180_000, hits);
  }

  /** What came in dirty is the clock's, and cold: it must not stay while others come and go. */
  @Test
  void loopOverLessThanThePool_drivesOutWhatNobodyUses() {
    int loop = FRAMES * 4 / 5;
    try (Trace trace = new Trace()) {
      for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < FRAMES; i++) {
          trace.read(FIRST + loop + i);
        }
      }
      for (int i = 0; i < 20 * loop; i++) {
        boolean found = trace.read(FIRST + i % loop);
        assertTrue(found || i < 10 * loop, () -> "the loop never fits");
      }
    }
  }

  @Test
  void scannedPage_thatIsAlsoRead_isKept() {
    try (Trace trace = new Trace()) {
      trace.scan(FIRST);
      trace.read(FIRST);
      for (int i = 1; i < 2 * FRAMES; i++) {
        trace.scan(FIRST + i);
      }
      assertTrue(trace.pool.resident(FIRST) != null);
    }
  }

  @Test
  void scannedPage_thatIsScannedAgainAndAgain_leaves() {
    try (Trace trace = new Trace()) {
      for (int i = 0; i < 5; i++) {
        trace.scan(FIRST);
      }
      for (int i = 1; i < 2 * FRAMES; i++) {
        trace.scan(FIRST + i);
      }
      assertTrue(trace.pool.resident(FIRST) == null);
    }
  }
}
