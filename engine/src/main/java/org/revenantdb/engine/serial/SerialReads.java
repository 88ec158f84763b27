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
 * What a serializable transaction has read, and what it has to know of the commits since its
 * snapshot.
 *
 * <p>Threads: that of the transaction, but what {@link Certifier} says of its own.
 */
public final class SerialReads {
  /** What was read of the trees of one table. */
  private record OfTable(List<Tree> trees, KeyIntervals keys) {}

  /** Heap that intervals may take; above that neighbours are joined. */
  static final long MOST_BYTES = 4L << 20;

  private final Map<Integer, OfTable> byTree = new HashMap<>();
  private final List<OfTable> all = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  private long snapshot;

  /** Whether commits are missing from its list; with the certifier's lock. */
  private boolean isLost;

  /** How often all had lost track when it began. */
  final long losses;

  /** Where it is in the list; with the certifier's lock. */
  private Behind behind;

  /**
   * What it has to look at before it commits.
   *
   * @param seen what comes behind it in the list
   * @param mustReadAgain whether there were commits before that list that it has to look at
   * @param former what is known of those beside rows
   */
  record Behind(Certifier.Node seen, boolean mustReadAgain, List<Commit> former) {}

  /**
   * Has just begun, and read nothing.
   *
   * @param seen the last commit of the list
   * @param losses how often all have lost track
   */
  SerialReads(Certifier.Node seen, long losses) {
    this.losses = losses;
    this.behind = new Behind(seen, /* mustReadAgain= */ false, List.of());
  }

  Behind behind() {
    return behind;
  }

  /** The list begins anew, with this. */
  void beginAnew(Certifier.Node first, List<Commit> former) {
    behind = new Behind(first, /* mustReadAgain= */ true, List.copyOf(former));
  }

  /** From now on nothing is known of what is behind. */
  void loseTrack() {
    isLost = true;
  }

  /** Its snapshot, which was taken after it had begun. */
  public void snapshot(long taken) {
    snapshot = taken;
  }

  /** What it sees. */
  public long snapshot() {
    return snapshot;
  }

  /** The smallest key above this one. */
  public static byte[] behind(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /**
   * The row of a key was read, or that there is none.
   *
   * @param trees all of the table
   */
  public void read(List<Tree> trees, byte[] key) {
    of(trees).add(key);
    bound();
  }

  /**
   * A range was read.
   *
   * @param trees all of the table
   * @param from first key; null for the first
   * @param to behind the last; null for all
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

  /** The table of a name was looked up, as it is now, or that there is none. */
  public void read(String name) {
    names.add(name);
  }

  /** Whether it has been told what is so now, and not what was in its snapshot. */
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

  /** Whether a commit would have changed an answer, as far as it tells. */
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

  /** Whether nobody can say any more that nothing has changed. */
  boolean isLost() {
    return isLost;
  }

  /** Looks at the rows of a range as they are now. */
  @FunctionalInterface
  public interface Look {
    /**
     * Whether one of them was changed since the snapshot.
     *
     * @param from first key
     * @param to behind the last; null for all
     */
    boolean isChanged(Tree tree, byte[] from, byte @Nullable [] to);
  }

  /** Whether anything that was read is no more as it was. */
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
