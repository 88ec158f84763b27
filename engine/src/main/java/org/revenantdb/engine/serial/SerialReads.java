package org.revenantdb.engine.serial;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;

/**
 * The reads of a serializable transaction, and what it must know about the commits since its
 * snapshot.
 *
 * <p>Threads: that of the transaction, except where {@link Certifier} states otherwise.
 */
public final class SerialReads {
  /** The reads in the trees of one table. */
  private record OfTable(List<Tree> trees, KeyIntervals keys) {}

  /** The heap size of intervals above which neighbours are joined. */
  static final long MOST_BYTES = 4L << 20;

  private final Map<Integer, OfTable> byTree = new HashMap<>();
  private final List<OfTable> all = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  private long snapshot;

  /** Whether commits are missing from its list; with the certifier's lock. */
  private boolean isLost;

  /** The certifier's count of losses when the transaction began. */
  final long losses;

  /** Its position in the list; with the certifier's lock. */
  private Behind behind;

  /**
   * What it has to check before it commits.
   *
   * @param seen the commits after this one in the list
   * @param mustReadAgain whether there were commits before that list that it has to check
   * @param former what is known of those commits, except rows
   */
  record Behind(Certifier.Node seen, boolean mustReadAgain, List<Commit> former) {}

  /**
   * Makes an object for a transaction that has just begun and read nothing.
   *
   * @param seen the last commit of the list
   * @param losses the certifier's count of losses
   */
  SerialReads(Certifier.Node seen, long losses) {
    this.losses = losses;
    this.behind = new Behind(seen, /* mustReadAgain= */ false, List.of());
  }

  Behind behind() {
    return behind;
  }

  /** Called when the list is restarted, with this node. */
  void beginAnew(Certifier.Node first, List<Commit> former) {
    behind = new Behind(first, /* mustReadAgain= */ true, List.copyOf(former));
  }

  /** Records that commits are missing from its list. */
  void loseTrack() {
    isLost = true;
  }

  /** Its snapshot, which was taken after it had begun. */
  public void snapshot(long taken) {
    snapshot = taken;
  }

  /** Its snapshot. */
  public long snapshot() {
    return snapshot;
  }

  /** The smallest key above this one. */
  public static byte[] behind(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /**
   * Records the read of a key's row, or of its absence.
   *
   * @param trees all trees of the table
   */
  public void read(List<Tree> trees, byte[] key) {
    of(trees).add(key);
    bound();
  }

  /**
   * Records the read of a range.
   *
   * @param trees all trees of the table
   * @param from the first key; null for the first of the table
   * @param to the end, exclusive; null for none
   */
  public void read(List<Tree> trees, byte @Nullable [] from, byte @Nullable [] to) {
    of(trees).add(from == null ? new byte[0] : from, to);
    bound();
  }

  private void bound() {
    long bytes = 0;
    for (OfTable table : all) {
      bytes += table.keys().bytes();
    }
    if (bytes > MOST_BYTES) {
      all.forEach(table -> table.keys().coarsen());
    }
  }

  /** Records that the present table of a name was looked up, or that there is none. */
  public void read(String name) {
    names.add(name);
  }

  /**
   * Whether it has looked up names, which lead to the present tables and not to those of its
   * snapshot.
   */
  public boolean isOfNow() {
    return !names.isEmpty();
  }

  private KeyIntervals of(List<Tree> trees) {
    OfTable known = byTree.get(trees.getFirst().table());
    if (known == null) {
      known = new OfTable(trees, new KeyIntervals());
      all.add(known);
      for (Tree tree : trees) {
        byTree.put(tree.table(), known);
      }
    }
    return known.keys();
  }

  /** Whether a commit would have changed a read, as far as the commit has that information. */
  boolean areChangedBy(Commit commit) {
    if (commit.lsn() <= snapshot) {
      return false;
    }
    for (Commit.Row row : commit.rows()) {
      OfTable table = byTree.get(row.tree());
      if (table != null && table.keys().contains(row.key())) {
        return true;
      }
    }
    for (int tree : commit.gone()) {
      if (byTree.containsKey(tree)) {
        return true;
      }
    }
    for (String name : commit.names()) {
      if (names.contains(name)) {
        return true;
      }
    }
    return false;
  }

  /** Whether it can no longer be decided that nothing has changed. */
  boolean isLost() {
    return isLost;
  }

  /** Reads the present rows of a range. */
  @FunctionalInterface
  public interface Look {
    /**
     * Whether one of them was changed since the snapshot.
     *
     * @param from the first key
     * @param to the end, exclusive; null for none
     */
    boolean isChanged(Tree tree, byte[] from, byte @Nullable [] to);
  }

  /** Whether anything that was read has changed. */
  boolean areChanged(Look look) {
    for (OfTable table : all) {
      for (KeyIntervals.Interval interval : table.keys().all()) {
        for (Tree tree : table.trees()) {
          if (look.isChanged(tree, interval.from(), interval.to())) {
            return true;
          }
        }
      }
    }
    return false;
  }
}
