package org.revenantdb.jmh.coupling;

/**
 * Lock coupling: a child is latched before its parent is released. A reader uses only exclusive
 * latches, or only shared ones; a writer latches at least the leaf exclusively.
 */
final class PessimisticAccess extends TreeAccess {
  private final boolean shared;

  /**
   * One.
   *
   * @param shared whether nodes that are only read are latched shared
   */
  PessimisticAccess(NodeTree tree, boolean shared) {
    super(tree);
    this.shared = shared;
  }

  @Override
  boolean read(long high, long low, byte[] value) {
    Node leaf = leafOf(high, low, /* changes= */ false);
    int entry = leaf.find(high, low);
    if (entry >= 0) {
      leaf.copyValue(entry, value);
    }
    release(leaf, shared);
    return entry >= 0;
  }

  @Override
  boolean update(long high, long low, byte[] value) {
    Node leaf = leafOf(high, low, /* changes= */ true);
    int entry = leaf.find(high, low);
    if (entry >= 0) {
      leaf.change(entry, value);
    }
    leaf.releaseExclusive();
    return entry >= 0;
  }

  @Override
  int readLeaf(long high, long low, int already, int wanted) {
    Node leaf = leafOf(high, low, /* changes= */ false);
    int count = take(leaf, high, low, already, wanted);
    release(leaf, shared);
    return count;
  }

  /** The leaf of a key, latched: exclusively if it is going to be changed. */
  Node leafOf(long high, long low, boolean changes) {
    Node node = tree.root();
    acquire(node, shared);
    while (true) {
      int level = node.level();
      Node child = tree.child(node, high, low);
      boolean childShared = shared && !(changes && level == 1);
      acquire(child, childShared);
      release(node, shared);
      if (level == 1) {
        return child;
      }
      node = child;
    }
  }

  private static void acquire(Node node, boolean shared) {
    if (shared) {
      node.acquireShared();
    } else {
      node.acquireExclusive();
    }
  }

  /** Gives up a node that was only read. */
  private static void release(Node node, boolean shared) {
    if (shared) {
      node.releaseShared();
    } else {
      node.releaseExclusiveUnmodified();
    }
  }
}
