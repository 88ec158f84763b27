package org.revenantdb.recovery.testing;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;

/** What a power cut can leave of a write: which of its sectors are new. */
public final class Tears {
  private Tears() {}

  /**
   * All prefixes and suffixes, and either all subsets, where they are few, or random ones.
   *
   * @param sectors how many sectors are written
   * @param random how many random subsets, where there are too many for all
   * @param seed decides about those
   * @return for each tear the set of sectors that are new
   */
  public static List<BitSet> of(int sectors, int random, long seed) {
    List<BitSet> tears = new ArrayList<>();
    for (int n = 0; n <= sectors; n++) {
      BitSet prefix = new BitSet();
      prefix.set(0, n);
      tears.add(prefix);
      BitSet suffix = new BitSet();
      suffix.set(sectors - n, sectors);
      tears.add(suffix);
    }
    if (sectors <= 8) {
      for (long subset = 0; subset < 1L << sectors; subset++) {
        tears.add(BitSet.valueOf(new long[] {subset}));
      }
      return tears;
    }
    Random decides = new Random(seed);
    for (int i = 0; i < random; i++) {
      BitSet subset = new BitSet();
      double density = decides.nextDouble();
      for (int sector = 0; sector < sectors; sector++) {
        subset.set(sector, decides.nextDouble() < density);
      }
      tears.add(subset);
    }
    return tears;
  }

  /**
   * A torn write.
   *
   * @param before what was there
   * @param after what was written, not longer
   * @param tear which sectors are new
   * @param sector bytes of a sector
   * @return a new array, as long as {@code before}
   */
  public static byte[] apply(byte[] before, byte[] after, BitSet tear, int sector) {
    byte[] torn = before.clone();
    tear.stream().forEach(i -> System.arraycopy(after, i * sector, torn, i * sector, sector));
    return torn;
  }
}
