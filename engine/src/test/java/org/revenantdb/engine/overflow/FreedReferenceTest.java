package org.revenantdb.engine.overflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.version.CleanerSteps;
import org.revenantdb.engine.version.RowWriter;

/**
 * A version that nobody can see any more keeps the reference of its large value when the value is
 * freed (protocols.md §26, "Slots"). The value's page may then become the leaf to which a split
 * moves the row, so the row refers to its own page. Such a page was refused as damaged when it was
 * read or redone. Found by a power cut test, once in thousands of runs.
 *
 * <p>The cleaner moves only when it is told to, so it frees the value and has not come to the leaf.
 */
class FreedReferenceTest {
  private static final byte[] KEY = key(1_000_000);
  private static final int FIRST_ROWS = 30;

  @TempDir private Path directory;

  private static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  private static void put(TestEngine engine, Tree tree, byte[] key, byte[] value) {
    TestEngine.Tx tx = engine.begin();
    assertEquals(RowWriter.Outcome.DONE, tx.put(tree, key, value));
    tx.commitDurably();
  }

  /** The page of the only large value that is the current version of a row. */
  private static int pageOfValue(TestEngine engine) {
    for (byte[] bytes : engine.memory().values()) {
      MemorySegment page = MemorySegment.ofArray(bytes);
      if (Page.type(page) == Page.LEAF) {
        for (int slot = 0; slot < Slotted.count(page); slot++) {
          int cell = Slotted.cell(page, slot);
          if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
            return ValueReference.of(page, LeafCell.valueOffset(page, cell)).page();
          }
        }
      }
    }
    throw new AssertionError("no row has a large value");
  }

  /** A tree with several leaves: so a split moves the upper rows to a new page. */
  private static Tree tree(TestEngine engine) {
    Tree tree = engine.table("t");
    for (int row = 0; row < FIRST_ROWS; row++) {
      put(engine, tree, key(row), new byte[700]);
    }
    return tree;
  }

  /** Whether a page is the leaf of the key, and a version of the key refers to that page. */
  private static boolean refersToItself(int id, MemorySegment page) {
    if (Page.type(page) != Page.LEAF) {
      return false;
    }
    for (int slot = 0; slot < Slotted.count(page); slot++) {
      int cell = Slotted.cell(page, slot);
      int flags = LeafCell.flags(page, cell);
      boolean former = (flags & LeafCell.PREDECESSOR_OVERFLOW) != 0;
      if (former && ValueReference.of(page, LeafCell.predecessorOffset(page, cell)).page() == id) {
        return true;
      }
      boolean current = (flags & LeafCell.OVERFLOW) != 0;
      if (current && ValueReference.of(page, LeafCell.valueOffset(page, cell)).page() == id) {
        return true;
      }
    }
    return false;
  }

  /** Puts rows in front of the key until splits have moved it to the page. */
  private static void moveRowTo(TestEngine engine, Tree tree, int page) {
    for (int row = FIRST_ROWS; row < 2_000; row++) {
      put(engine, tree, key(row), new byte[700]);
      if (refersToItself(page, MemorySegment.ofArray(engine.page(page)))) {
        return;
      }
    }
    throw new AssertionError("the row was never on page " + page);
  }

  private static void assertLegal(TestEngine engine, int page) {
    MemorySegment bytes = MemorySegment.ofArray(engine.page(page));
    assertNull(PageStructure.problemOf(page, bytes));
    assertNull(PageStructure.problemBeforeChange(page, bytes));
    assertTrue(refersToItself(page, bytes));
    engine.check();
  }

  @ParameterizedTest
  @ValueSource(ints = {4_000, 20_000})
  void a_row_may_be_on_the_page_that_its_former_version_has_left(int length) {
    try (TestEngine engine = new TestEngine(directory, 1_024)) {
      Tree tree = tree(engine);
      put(engine, tree, KEY, new byte[length]);
      int page = pageOfValue(engine);
      put(engine, tree, KEY, new byte[] {1});
      CleanerSteps.visit(engine.cleaner, page);
      moveRowTo(engine, tree, page);
      assertLegal(engine, page);
      assertArrayEquals(new byte[] {1}, engine.read(tree, KEY));
      engine.checkAllClean();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4_000, 20_000})
  void a_row_may_be_on_the_page_that_its_aborted_version_has_left(int length) {
    try (TestEngine engine = new TestEngine(directory, 1_024)) {
      Tree tree = tree(engine);
      put(engine, tree, KEY, new byte[] {1});
      TestEngine.Tx tx = engine.begin();
      tx.put(tree, KEY, new byte[length]);
      int page = pageOfValue(engine);
      tx.abort();
      CleanerSteps.visit(engine.cleaner, page);
      moveRowTo(engine, tree, page);
      assertLegal(engine, page);
      assertArrayEquals(new byte[] {1}, engine.read(tree, KEY));
      engine.checkAllClean();
    }
  }
}
