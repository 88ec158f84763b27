package org.revenantdb.jmh.coupling;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.jmh.tree.TreeRows;

/**
 * A B+-tree of {@link Node}s with rows of {@link TreeRows}, built full. Its rows change and its
 * shape does not, because it is about reads on the way down and changes at the end. Descents still
 * behave as if a node could be split or removed at any moment.
 *
 * <p>A child is a number, looked up in an array, as a page id is in the engine; leaves have no
 * links.
 */
final class NodeTree {
  private final Node[] nodes;
  private final Node root;
  private final int leaves;
  private final int rows;

  private NodeTree(Node[] nodes, int leaves, int rows) {
    this.nodes = nodes;
    this.root = nodes[nodes.length - 1];
    this.leaves = leaves;
    this.rows = rows;
  }

  /** Builds one with rows from 0, level by level. The root is never a leaf. */
  static NodeTree of(int rows) {
    if (rows < 1) {
      throw new IllegalArgumentException("no rows");
    }
    MemorySegment memory =
        Arena.ofAuto()
            .allocate((long) nodesFor(rows) * Node.SIZE, Node.SIZE); // freed with the tree
    List<Node> nodes = new ArrayList<>();
    byte[] value = new byte[TreeRows.VALUE];
    Key key = new Key();
    for (int row = 0; row < rows; row++) {
      key.set(row);
      if (row % Node.LEAF_ENTRIES == 0) {
        if (row > 0) {
          nodes.getLast().fence(key.high(), key.low());
        }
        nodes.add(newNode(memory, nodes.size(), 0));
      }
      TreeRows.value(row, 0, value);
      nodes.getLast().append(key.high(), key.low(), value);
    }
    int leaves = nodes.size();
    int first = 0;
    int level = 1;
    do {
      int end = nodes.size();
      for (int child = first; child < end; child++) {
        if ((child - first) % Node.INNER_ENTRIES == 0) {
          nodes.add(newNode(memory, nodes.size(), level));
        }
        Node below = nodes.get(child);
        nodes.getLast().append(below.keyHigh(0), below.keyLow(0), child);
      }
      first = end;
      level++;
    } while (nodes.size() - first > 1);
    return new NodeTree(nodes.toArray(Node[]::new), leaves, rows);
  }

  private static Node newNode(MemorySegment memory, int number, int level) {
    return new Node(memory.asSlice((long) number * Node.SIZE, Node.SIZE), level);
  }

  private static int nodesFor(int rows) {
    int level = -Math.floorDiv(-rows, Node.LEAF_ENTRIES);
    int nodes = level;
    do {
      level = -Math.floorDiv(-level, Node.INNER_ENTRIES);
      nodes += level;
    } while (level > 1);
    return nodes;
  }

  /** Where every way down begins; it never changes. */
  Node root() {
    return root;
  }

  /** The child of an inner node that leads to a key. */
  Node child(Node inner, long high, long low) {
    return nodes[inner.child(inner.towards(high, low))];
  }

  int rows() {
    return rows;
  }

  /** Levels of inner nodes. */
  int height() {
    return root.level();
  }

  /**
   * How often rows were changed, while no thread changes any.
   *
   * @throws IllegalStateException if a row is wrong, or a latch is still held
   */
  long countChanges() {
    long changes = 0;
    int row = 0;
    byte[] value = new byte[TreeRows.VALUE];
    for (int leaf = 0; leaf < leaves; leaf++) {
      Node node = nodes[leaf];
      for (int entry = 0; entry < node.entries(); entry++) {
        node.copyValue(entry, value);
        if (TreeRows.sum(value) != row) {
          throw new IllegalStateException("row " + row + " adds up to " + TreeRows.sum(value));
        }
        changes += node.changes(entry);
        row++;
      }
    }
    if (row != rows) {
      throw new IllegalStateException("there are " + row + " rows, not " + rows);
    }
    for (Node node : nodes) {
      if (node.isExclusivelyHeld() || node.isSharedHeld()) {
        throw new IllegalStateException("a latch is held: " + node);
      }
    }
    return changes;
  }
}
