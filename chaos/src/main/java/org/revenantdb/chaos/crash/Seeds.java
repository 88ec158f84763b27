package org.revenantdb.chaos.crash;

/** Derives seeds: each part of a run has its own, so that one part can be repeated alone. */
public final class Seeds {

  private Seeds() {}

  /**
   * Returns the seed of a part.
   *
   * @param seed of the whole
   * @param part number of the part
   * @return a seed without a visible relation to its neighbours (the mixer of SplitMix64)
   */
  public static long of(long seed, long part) {
    long z = seed + (part + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /**
   * Returns a random seed, short enough to be read out.
   *
   * @return a number from 1 to 999,999
   */
  public static long fresh() {
    return 1 + Math.floorMod(of(System.nanoTime(), ProcessHandle.current().pid()), 999_999L);
  }
}
