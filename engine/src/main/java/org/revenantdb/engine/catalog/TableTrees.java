package org.revenantdb.engine.catalog;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.recovery.format.KeyHash;

/**
 * One generation of a table: the trees that it has for the snapshots from one LSN to another.
 *
 * <p>Thread-safe. Changes require the catalogue's lock.
 */
public final class TableTrees {
  /*
   * Protocol    docs/protocols.md §24, §31.
   *
   * below       NEVER   no record that removes the trees was published    -> b     by the thread that is about to,
   *                                                                               before its record has a place
   *             b       the tail of the log before it                     -> lsn   published
   *                                                                       -> NEVER not published
   *             lsn     the record that dropped or truncated the table    final
   *             A snapshot at or above the record was taken after its place was: so a reader with one finds b or lsn.
   * since       0       from the beginning, as far as is known
   *             NEVER   made by a transaction that has not committed      -> lsn   of its COMMIT
   */
  /** Above every snapshot. */
  public static final long NEVER = Long.MAX_VALUE;

  private final List<Tree> all;

  /** The only tree, or that of the first partition. */
  private final Tree first;

  /** By number; null if there is one tree, so that no key needs a hash. */
  private final Tree @Nullable [] partitions;

  /** The former generation, as long as a snapshot may need it. */
  private volatile @Nullable TableTrees former;

  private volatile long since;
  private volatile long below = NEVER;

  /**
   * Makes a generation of existing trees.
   *
   * @param trees the only tree, or that of each partition by number
   * @param since LSN of the commit that gave the table these trees; 0 if it always had them
   */
  TableTrees(List<Tree> trees, long since) {
    this.all = List.copyOf(trees);
    this.first = trees.getFirst();
    this.partitions = trees.size() == 1 ? null : trees.toArray(new Tree[0]);
    this.since = since;
  }

  /** The only tree, or that of each partition by number. */
  public List<Tree> all() {
    return all;
  }

  /** The tree that contains a key, if the key exists. */
  public Tree of(byte[] key) {
    Tree[] several = partitions;
    return several == null ? first : several[KeyHash.partition(key, several.length)];
  }

  /** Table id of the first tree. */
  public int id() {
    return first.table();
  }

  /** The trees as a row of the catalogue. */
  public TableRow row() {
    return new TableRow(id(), all.stream().mapToInt(Tree::root).toArray());
  }

  /** LSN of the commit that gave the table these trees. */
  public long since() {
    return since;
  }

  /** The LSN below which snapshots may read them; see the top. */
  public long below() {
    return below;
  }

  /** The former generation; null if no snapshot could need one. */
  public @Nullable TableTrees former() {
    return former;
  }

  /** Makes them the table's trees from a commit on, in place of others, or of none. */
  public void begin(long commitLsn, @Nullable TableTrees before) {
    former = before;
    since = commitLsn;
  }

  /** Drops former generations that no snapshot of the set and no future snapshot can read. */
  public void forgetFormer(SnapshotSet snapshots) {
    TableTrees last = this;
    for (TableTrees before = former; before != null; before = before.former) {
      if (snapshots.needs(before.since, before.below)) {
        last.former = before;
        last = before;
      }
    }
    last.former = null;
  }

  /** Called before the record that removes them is published, behind this LSN. */
  public void ending(long tail) {
    below = tail;
  }

  /** Called after that record was published, or, with 0, was not. */
  public void ended(long lsn) {
    below = lsn == 0 ? NEVER : lsn;
  }
}
