package org.revenantdb.engine.btree;

import java.util.Arrays;
import org.revenantdb.engine.page.Slotted;

/**
 * The room that a leaf keeps free when rows are appended to it: for its upper fence, and for new
 * versions of its rows. Without it, the first update of each full leaf would split the leaf.
 *
 * <p>A leaf at the right edge stores the whole keys of its rows. When it gets an upper fence, the
 * prefix that its fences share leaves all cells. That room counts here, except for one version:
 * updates of a leaf without an upper fence must not split it either.
 */
public final class AppendRoom {
  /** The least room, in which versions of many small rows fit. */
  private static final int LEAST = 256;

  /** The most room. Longer rows get none: a leaf holds only a few of them. */
  private static final int MOST = 1024;

  /** So many versions of a row fit in the room. */
  private static final int VERSIONS = 2;

  private AppendRoom() {}

  /**
   * Whether a leaf of such rows keeps room for versions.
   *
   * @param cell bytes of the cell of a row, with the whole key
   */
  static boolean isForVersions(int cell) {
    return cell <= MOST;
  }

  /**
   * The room that is enough behind any row.
   *
   * @param key bytes of the key of the row
   * @param cell bytes of its cell, with the whole key
   */
  public static int enough(int key, int cell) {
    return Math.max(forFence(key), forVersions(cell));
  }

  /**
   * The room that has to be free behind an appended row, while the leaf has no upper fence.
   *
   * @param lower the lower fence of the leaf
   * @param key the key of the row
   * @param cell bytes of its cell, with the whole key
   * @param rows the number of rows on the leaf, with this one
   */
  public static int least(byte[] lower, byte[] key, int cell, int rows) {
    // The next key may share less with the lower fence. Then less room remains for versions.
    int prefix = Math.min(Slotted.MAX_PREFIX, shared(lower, key));
    int later = forVersions(cell) - rows * prefix;
    // The prefix leaves the cells only when the leaf gets its upper fence. A row that is updated
    // before that needs its room at once.
    int now = isForVersions(cell) ? cell - key.length : 0;
    return Math.max(forFence(key.length), Math.max(now, later));
  }

  /** No separator above a key is longer. */
  private static int forFence(int key) {
    return key + 1;
  }

  /** Room for new versions, as of the time when the leaf has its upper fence. */
  private static int forVersions(int cell) {
    return !isForVersions(cell) ? 0 : Math.clamp((long) VERSIONS * cell, LEAST, MOST);
  }

  /** The number of bytes at the beginning that a lower fence and a key have in common. */
  private static int shared(byte[] lower, byte[] key) {
    int mismatch = Arrays.mismatch(lower, key);
    return mismatch < 0 ? lower.length : mismatch;
  }
}
