package org.revenantdb.jmh.latch;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.Locale;
import org.revenantdb.latch.HybridLatch;

/**
 * The bytes of heap for one unused latch: a million of them in an array that existed before. To be
 * run in a separate JVM, with a heap of fixed size and the serial collector, whose full collection
 * leaves no garbage.
 */
public final class LatchFootprint {
  private static final int LATCHES = 1_000_000;
  private static final int COLLECTIONS = 3;

  private LatchFootprint() {}

  /**
   * Prints {@code = bytes_per_latch} and the number.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    HybridLatch[] latches = new HybridLatch[LATCHES];
    // Loads all that is used here, so that it is in the heap before, too.
    new HybridLatch().acquireExclusive();
    used();
    long grown = -used();
    try {
      for (int i = 0; i < LATCHES; i++) {
        latches[i] = new HybridLatch();
      }
      grown += used();
    } finally {
      Reference.reachabilityFence(latches);
    }
    System.out.printf(Locale.ROOT, "= bytes_per_latch %.4f%n", grown / (double) LATCHES);
  }

  @SuppressWarnings("SystemGc") // the subject of the measurement
  private static long used() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
