package org.revenantdb.engine.btree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.latch.Tally;

/**
 * A root that splits gives its rows to two new pages and loses its mark. In between the cleaner
 * looked: no page was marked, so it said FORGET, and the aborted rows were committed for ever.
 */
class SplitRootMarksTest {
  @TempDir Path directory;

  /** What a cleaner would see that looks after each step. */
  private static final class Watched extends VersionMarks {
    private final List<String> lookedEmpty = new ArrayList<>();
    private PageBitmap pass = new PageBitmap();
    private int steps;

    @Override
    public void markForLater(int pageId) {
      super.markForLater(pageId);
      look("mark " + pageId);
    }

    @Override
    public void clear(int pageId) {
      super.clear(pageId);
      look("clear " + pageId);
    }

    private void look(String step) {
      steps++;
      if (isEmpty() || pass.isEmpty()) {
        lookedEmpty.add(step);
      }
    }
  }

  @Test
  void R2_the_halves_of_a_split_root_are_marked_before_the_mark_of_the_root_goes() {
    try (TestEngine engine = new TestEngine(directory, 512)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 7; i++) {
        tx.put(tree, key(i), new byte[900]);
      }
      tx.abort();
      Watched marks = new Watched();
      marks.markForLater(tree.root());
      marks.pass = marks.begin(/* all= */ false, /* postponed= */ true);
      assertTrue(marks.pass.next(0) == tree.root());
      marks.lookedEmpty.clear();

      MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
      Tally splits = new Tally();
      Split split =
          new Split(
              engine.pool,
              engine.storage.allocator(),
              marks,
              mini,
              engine.storage.mapChanges(),
              splits);
      int leaf = split.leafWithRoom(tree, key(3), 2900);
      int leafPage = engine.pool.pageIdOf(leaf);
      engine.pool.unfixExclusive(leaf);

      assertEquals(1, splits.sum());
      assertTrue(marks.steps >= 4, "two marks and a clear, after the first mark");
      assertEquals(List.of(), marks.lookedEmpty, "the cleaner could have found no page left");
      assertEquals(2, marks.size(), "both halves, and the root no more");
      assertTrue(leafPage != tree.root());
      int root = engine.pool.fixShared(tree.root());
      for (int position = -1; position < 1; position++) {
        int half = Slotted.child(engine.pool.page(root), position);
        assertEquals(half, marks.pass.next(half), "the running pass has the half " + half);
      }
      engine.pool.unfixShared(root);
      assertFalse(marks.pass.next(tree.root()) == tree.root());
    }
  }

  private static byte[] key(int number) {
    return "key%06d".formatted(number).getBytes(StandardCharsets.UTF_8);
  }
}
