package org.revenantdb.jmh.coupling;

import org.jspecify.annotations.Nullable;

/**
 * Optimistic lock coupling: the way down takes no latch but compares versions; a leaf that changes
 * is latched exclusively. A leaf is read without a latch; after a few disturbed attempts it is read
 * under a latch. Here an optimistic lock, which has only its exclusive mode for that, and a hybrid
 * one differ.
 */
final class OptimisticAccess extends TreeAccess {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023: listing 4 (optimistic: some attempts, then
   *             exclusive), listing 3 (hybrid: one attempt, then shared).
   *
   * Coupling    stamp of the child, then the parent's version is compared: so the child was the right one when its
   *             stamp was taken. A leaf that is latched: the latch first, then the parent is compared; else the
   *             leaf may have been split while we waited.
   * Given up    A way down that was disturbed that often goes with latches all the way: it ends in any case.
   */
  private static final int DESCENTS = 8;

  private final int attempts;
  private final boolean sharedFallback;
  private final PessimisticAccess latched;
  private long stamp;

  /**
   * One.
   *
   * @param attempts how often a leaf is read without a latch
   * @param sharedFallback whether the latch that it is read under then is shared
   */
  OptimisticAccess(NodeTree tree, int attempts, boolean sharedFallback) {
    super(tree);
    this.attempts = attempts;
    this.sharedFallback = sharedFallback;
    this.latched = new PessimisticAccess(tree, sharedFallback);
  }

  @Override
  boolean read(long high, long low, byte[] value) {
    for (int i = 0; i < attempts; i++) {
      Node leaf = lookAtLeaf(high, low);
      if (leaf != null) {
        boolean found = copy(leaf, high, low, value);
        if (leaf.validate(stamp)) {
          return found;
        }
      }
      Thread.onSpinWait();
    }
    Node leaf = latchLeaf(high, low, /* changes= */ false);
    boolean found = copy(leaf, high, low, value);
    release(leaf);
    return found;
  }

  private static boolean copy(Node leaf, long high, long low, byte[] value) {
    int entry = leaf.find(high, low);
    if (entry < 0) {
      return false;
    }
    leaf.copyValue(entry, value);
    return true;
  }

  @Override
  boolean update(long high, long low, byte[] value) {
    Node leaf = latchLeaf(high, low, /* changes= */ true);
    int entry = leaf.find(high, low);
    if (entry >= 0) {
      leaf.change(entry, value);
    }
    leaf.releaseExclusive();
    return entry >= 0;
  }

  @Override
  int readLeaf(long high, long low, int already, int wanted) {
    for (int i = 0; i < attempts; i++) {
      Node leaf = lookAtLeaf(high, low);
      if (leaf != null) {
        int count = take(leaf, high, low, already, wanted);
        if (leaf.validate(stamp)) {
          return count;
        }
      }
      Thread.onSpinWait();
    }
    Node leaf = latchLeaf(high, low, /* changes= */ false);
    int count = take(leaf, high, low, already, wanted);
    release(leaf);
    return count;
  }

  /** The leaf of a key, with its stamp in {@link #stamp}; null if the way down was disturbed. */
  private @Nullable Node lookAtLeaf(long high, long low) {
    Node parent = parentOf(high, low);
    if (parent == null) {
      return null;
    }
    Node leaf = tree.child(parent, high, low);
    long leafStamp = leaf.readOptimistic();
    if (leafStamp == Node.INVALID_STAMP || !parent.validate(stamp)) {
      return null;
    }
    stamp = leafStamp;
    return leaf;
  }

  /** The leaf of a key, latched. */
  private Node latchLeaf(long high, long low, boolean changes) {
    boolean shared = sharedFallback && !changes;
    for (int i = 0; i < DESCENTS; i++) {
      Node parent = parentOf(high, low);
      if (parent != null) {
        Node leaf = tree.child(parent, high, low);
        if (!parent.validate(stamp)) {
          continue; // before anything is waited for: it may be no leaf at all
        }
        if (shared) {
          leaf.acquireShared();
        } else {
          leaf.acquireExclusive();
        }
        if (parent.validate(stamp)) {
          return leaf;
        }
        if (shared) {
          leaf.releaseShared();
        } else {
          leaf.releaseExclusiveUnmodified();
        }
      }
      Thread.onSpinWait();
    }
    return latched.leafOf(high, low, changes);
  }

  private void release(Node leaf) {
    if (sharedFallback) {
      leaf.releaseShared();
    } else {
      leaf.releaseExclusiveUnmodified();
    }
  }

  /** The inner node above a leaf, with its stamp; null if the way down was disturbed. */
  private @Nullable Node parentOf(long high, long low) {
    Node node = tree.root();
    long nodeStamp = node.readOptimistic();
    if (nodeStamp == Node.INVALID_STAMP) {
      return null;
    }
    while (node.level() > 1) {
      Node child = tree.child(node, high, low);
      long childStamp = child.readOptimistic();
      if (childStamp == Node.INVALID_STAMP || !node.validate(nodeStamp)) {
        return null;
      }
      node = child;
      nodeStamp = childStamp;
    }
    stamp = nodeStamp;
    return node;
  }
}
