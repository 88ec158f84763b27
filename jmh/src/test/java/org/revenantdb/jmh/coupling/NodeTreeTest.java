package org.revenantdb.jmh.coupling;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.jmh.tree.TreeRows;

/** All modes find the same rows in the tree, and leave no latch behind. */
class NodeTreeTest {
  private static final int LEAF = Node.LEAF_ENTRIES;
  private static final int THREE_LEVELS = LEAF * Node.INNER_ENTRIES + 1;

  private final Key key = new Key();
  private final byte[] value = new byte[TreeRows.VALUE];

  @ParameterizedTest
  @ValueSource(ints = {1, LEAF - 1, LEAF, LEAF + 1, 5 * LEAF, THREE_LEVELS - 1, THREE_LEVELS})
  void tree_hasAllRows(int rows) {
    NodeTree tree = NodeTree.of(rows);
    assertEquals(0, tree.countChanges());
    assertEquals(rows >= THREE_LEVELS ? 2 : 1, tree.height());
    for (LatchMode mode : LatchMode.values()) {
      TreeAccess access = mode.access(tree);
      for (int row = 0; row < rows; row += Math.max(1, rows / 300)) {
        assertRow(access, row);
      }
      assertRow(access, rows - 1);
    }
    assertEquals(0, tree.countChanges());
  }

  private void assertRow(TreeAccess access, int row) {
    key.set(row);
    assertTrue(access.read(key.high(), key.low(), value), () -> "row " + row);
    assertEquals(row, TreeRows.sum(value));
  }

  @ParameterizedTest
  @EnumSource
  void scan_crossesLeavesAndEndsWithTheLastRow(LatchMode mode) {
    int rows = 5 * LEAF + 7;
    NodeTree tree = NodeTree.of(rows);
    TreeAccess access = mode.access(tree);
    for (int from = 0; from < rows; from++) {
      key.set(from);
      int found = access.scan(key.high(), key.low(), TreeAccess.MOST_ROWS);
      assertEquals(Math.min(TreeAccess.MOST_ROWS, rows - from), found);
      for (int i = 0; i < found; i++) {
        assertEquals(from + i, TreeRows.sum(access.scanned(i)));
      }
    }
    assertEquals(0, access.scan(-1, -1, TreeAccess.MOST_ROWS));
  }

  @ParameterizedTest
  @EnumSource
  void update_changesItsRowAlone_andIsCounted(LatchMode mode) {
    NodeTree tree = NodeTree.of(3 * LEAF);
    TreeAccess access = mode.access(tree);
    byte[] written = new byte[TreeRows.VALUE];
    for (int row = 0; row < tree.rows(); row += 3) {
      key.set(row);
      TreeRows.value(row, 77, written);
      assertTrue(access.update(key.high(), key.low(), written));
      assertTrue(access.read(key.high(), key.low(), value));
      assertEquals(row, TreeRows.sum(value));
      assertArrayEquals(written, value);
    }
    assertEquals(LEAF, tree.countChanges());
  }

  @ParameterizedTest
  @EnumSource
  void keysThatAreNotThere_areNotFound(LatchMode mode) {
    NodeTree tree = NodeTree.of(3 * LEAF);
    TreeAccess access = mode.access(tree);
    for (int row = 0; row < tree.rows(); row += LEAF - 1) {
      key.set(row);
      assertFalse(access.read(key.high(), key.low() + 1, value));
      assertFalse(access.update(key.high(), key.low() + 1, value));
    }
    assertEquals(0, tree.countChanges());
  }

  /** A reader that was disturbed in all its attempts continues under a latch. */
  @ParameterizedTest
  @EnumSource(names = {"OPTIMISTIC", "HYBRID"})
  void leafThatIsHeldShared_isReadNevertheless(LatchMode mode) {
    NodeTree tree = NodeTree.of(3 * LEAF);
    key.set(1);
    Node leaf = tree.child(tree.root(), key.high(), key.low());
    leaf.acquireShared();
    assertTrue(mode.access(tree).read(key.high(), key.low(), value));
    leaf.releaseShared();
    assertEquals(0, tree.countChanges());
  }

  /** The way down continues with latches if versions never stay the same. */
  @ParameterizedTest
  @EnumSource(names = {"OPTIMISTIC", "HYBRID"})
  void innerNodeThatIsNeverValid_isLatched(LatchMode mode) {
    NodeTree tree = NodeTree.of(3 * LEAF);
    tree.root().acquireExclusive();
    tree.root().markObsolete();
    tree.root().releaseExclusive();
    TreeAccess access = mode.access(tree);
    assertRow(access, 100);
    assertEquals(100, access.scan(0, 0, 100));
    key.set(7);
    TreeRows.value(7, 1, value);
    assertTrue(access.update(key.high(), key.low(), value));
    assertEquals(1, tree.countChanges());
  }

  @Test
  void wrongRow_isNoticed() {
    NodeTree tree = NodeTree.of(2 * LEAF);
    TreeAccess access = LatchMode.HYBRID.access(tree);
    key.set(5);
    TreeRows.value(6, 0, value);
    assertTrue(access.update(key.high(), key.low(), value));
    IllegalStateException thrown = assertThrows(IllegalStateException.class, tree::countChanges);
    assertTrue(Objects.requireNonNull(thrown.getMessage()).contains("row 5"));
    Workload.Step reads =
        new Workload(/* scans= */ false, 0).step(tree, LatchMode.SHARED, () -> 5, 1);
    assertThrows(IllegalStateException.class, reads::run);
    Workload.Step scans =
        new Workload(/* scans= */ true, 0).step(tree, LatchMode.SHARED, () -> 3, 1);
    assertThrows(IllegalStateException.class, scans::run);
  }

  @Test
  void latchLeftBehind_isNoticed() {
    NodeTree tree = NodeTree.of(2 * LEAF);
    tree.root().acquireShared();
    assertThrows(IllegalStateException.class, tree::countChanges);
  }
}
