package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/**
 * Upgrades from an optimistic read against writers: between the read of the version and the
 * acquisition a thread may have written, which only a second read shows.
 */
class UpgradeStressTest {
  private static final int ROUNDS = 1_000_000;

  private final HybridLatch latch = new HybridLatch();
  private long counter; // guarded by the latch
  private long lost;
  private volatile boolean ended;

  @Test
  void toExclusive_neverAfterAChangeAndNeverKeptInVain() throws InterruptedException {
    againstAWriter(() -> {
      long stamp = latch.readOptimistic();
      long seen = counter;
      if (latch.tryUpgradeOptimistic(stamp)) {
        if (seen != counter) {
          lost++;
        }
        latch.releaseExclusiveUnmodified();
      }
    });
  }

  @Test
  void toShared_neverAfterAChangeAndNeverKeptInVain() throws InterruptedException {
    againstAWriter(() -> {
      long stamp = latch.readOptimistic();
      long seen = counter;
      if (latch.tryUpgradeOptimisticToShared(stamp)) {
        if (seen != counter) {
          lost++;
        }
        latch.releaseShared();
      }
    });
  }

  private void againstAWriter(Runnable upgrade) throws InterruptedException {
    Thread reader =
        new Thread(() -> {
          while (!ended) {
            upgrade.run();
          }
        });
    reader.start();
    for (int i = 0; i < ROUNDS && reader.isAlive(); i++) {
      if (latch.tryAcquireExclusive(1_000_000_000L)) {
        counter++;
        latch.releaseExclusive();
      } else {
        break; // somebody has kept it
      }
    }
    ended = true;
    reader.join();
    assertEquals(0, lost);
    assertEquals(LatchWord.FREE, latch.wordOpaque(), latch::toString);
  }
}
