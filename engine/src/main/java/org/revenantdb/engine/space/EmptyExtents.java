package org.revenantdb.engine.space;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Collection;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;

/**
 * The extents that were empty, but not free, when the database was opened: a former life ended
 * between the record that freed the last page of an extent and the record that frees the extent. A
 * space map does not show which tree has an extent. So the lists of the trees are read in the
 * background, as long as an owner is missing.
 *
 * <p>Used only by the cleaner; for one thread at a time. The caller has nothing latched.
 */
public final class EmptyExtents {
  /*
   * Steps       1 note(group) for each group, once, when its space map is read after a restart: mixed extents that are
   *             empty are loosened at once
   *             2 if others are: owners(all trees), once
   *             3 adopt(), one tree a call, until no extent is left without an owner, or no tree
   *
   * Invariant   A note decides nothing: the cleaner reads maps and list again when it frees an extent. So it does not
   *             matter what happens to an extent, or to a tree, between the steps.
   *
   * Crash       leaves the extents as they are, for the next life to find.
   */
  private final BufferPool pool;
  private final Allocator allocator;
  private final BitSet ownerless = new BitSet();
  private @Nullable Queue<Unit> trees;

  /** Starts without extents. */
  public EmptyExtents(BufferPool pool, Allocator allocator) {
    this.pool = pool;
    this.allocator = allocator;
  }

  /** Notes the extents of a group that are empty and not free. */
  public void note(int group) {
    BitSet mixed = new BitSet();
    allocator.occupancy().empty(group, mixed, ownerless);
    mixed.stream().forEach(extent -> allocator.loosened().put(extent, Unit.NONE));
  }

  /** Whether owners are missing and trees are left that may have the extents. */
  public boolean hasWork() {
    return !ownerless.isEmpty() && (trees == null || !trees.isEmpty());
  }

  /** Whether {@link #owners} has to be called first. */
  public boolean wantsOwners() {
    return trees == null;
  }

  /** All trees that may have such an extent. */
  public void owners(Collection<Unit> all) {
    trees = new ArrayDeque<>(all);
  }

  /**
   * Reads the lists of the next tree, and passes those of the extents that it owns to the cleaner,
   * which frees them. A tree whose lists cannot be read keeps them until the next restart.
   */
  public void adopt() {
    Queue<Unit> left = trees;
    Unit tree = left == null ? null : left.poll();
    if (tree != null) {
      BitSet owned = tree.owned(pool, ownerless);
      owned.stream().forEach(extent -> allocator.loosened().put(extent, tree));
      ownerless.andNot(owned);
    }
  }
}
