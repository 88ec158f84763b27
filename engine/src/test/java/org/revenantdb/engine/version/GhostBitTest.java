package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.check.Checker;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.testing.MemoryJournal;
import org.revenantdb.engine.testing.Replay;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.engine.testing.TestEngine.Tx;

/**
 * The ghost bit of pages where only the cleaner can give something back (protocols.md §8), in the
 * space map and on the page.
 */
class GhostBitTest {
  private static final int VERSIONS = Page.FLAG_VERSIONS;
  private static final int GHOSTS = Page.FLAG_VERSIONS | Page.FLAG_GHOST;

  /** Leaves that a pass beside writers takes of those that can wait. */
  private static final int FEW = 32;

  @TempDir Path directory;

  private static byte[] key(int i) {
    return new byte[] {'k', (byte) (i >> 8), (byte) i};
  }

  /** What space map and page of a row say, which is the same. */
  private static int flags(TestEngine engine, Tree tree, byte[] key) {
    int frame = tree.leafExclusive(key, new Descent());
    int page = engine.pool.pageIdOf(frame);
    int flags = Page.flags(engine.pool.page(frame));
    engine.pool.unfixExclusive(frame);
    int map = engine.pool.fixShared(SpaceMapPage.mapOf(page));
    int bits = SpaceMapPage.bits(engine.pool.page(map), page);
    engine.pool.unfixShared(map);
    assertEquals(
        flags, SpaceMapPage.flags(bits), "the space map says something else than the page");
    return flags;
  }

  private static int page(TestEngine engine, Tree tree, byte[] key) {
    int frame = tree.leafExclusive(key, new Descent());
    try {
      return engine.pool.pageIdOf(frame);
    } finally {
      engine.pool.unfixExclusive(frame);
    }
  }

  private static void insert(TestEngine engine, Tree tree, int from, int to, int length) {
    Tx tx = engine.begin();
    for (int i = from; i < to; i++) {
      tx.put(tree, key(i), Samples.random(length + i, length)); // unlike the version before
    }
    tx.commitDurably();
  }

  private static void delete(TestEngine engine, Tree tree, int i) {
    Tx tx = engine.begin();
    tx.delete(tree, key(i));
    tx.commitDurably();
  }

  @Test
  void insertsAndUpdates_canWait_aDeletedRowCannot() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      insert(engine, tree, 0, 10, 100);
      assertEquals(VERSIONS, flags(engine, tree, key(0)));
      insert(engine, tree, 0, 10, 200);
      assertEquals(VERSIONS, flags(engine, tree, key(0)));
      delete(engine, tree, 5);
      assertEquals(GHOSTS, flags(engine, tree, key(0)));
      insert(engine, tree, 5, 6, 10);
      assertEquals(GHOSTS, flags(engine, tree, key(0)), "the bit is the cleaner's");
      engine.clean();
      assertEquals(0, flags(engine, tree, key(0)));
      engine.checkAllClean();
    }
  }

  @Test
  void leafWhoseLargeValueWasReplaced_hasTheBit_andSoHasTheValue() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      insert(engine, tree, 0, 1, 20_000);
      engine.checkAllClean();
      assertEquals(0, flags(engine, tree, key(0)));
      insert(engine, tree, 0, 1, 10);
      assertEquals(GHOSTS, flags(engine, tree, key(0)));
      assertEquals(2, engine.check().pagesToClean());
      engine.checkAllClean();
    }
  }

  @Test
  void rowsThatASplitMoves_bringTheBitWithThem_andAMergeBringsItBack() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      insert(engine, tree, 0, 7, 1_000);
      engine.clean();
      Tx reader = engine.begin(); // who still sees the row
      delete(engine, tree, 3);
      int before = page(engine, tree, key(3));
      insert(engine, tree, 20, 40, 1_000);
      for (int i = 0; i < 3; i++) {
        insert(engine, tree, i, i + 1, 1_400); // before it, so it moves to the right
      }
      assertNotEquals(before, page(engine, tree, key(3)));
      assertEquals(GHOSTS, flags(engine, tree, key(3)));
      engine.check();
      reader.abort();
      for (int i = 0; i < 40; i++) {
        delete(engine, tree, i);
      }
      engine.pass();
      engine.check();
      engine.checkAllClean();
    }
  }

  /** Else each leaf that is appended would be one that cannot wait, after one deleted row. */
  @Test
  void leavesThatAreAppended_doNotInheritTheBitOfARowThatStays() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      insert(engine, tree, 0, 3, 1_000);
      Tx reader = engine.begin();
      delete(engine, tree, 2);
      insert(engine, tree, 3, 100, 1_000);
      assertEquals(GHOSTS, flags(engine, tree, key(2)));
      assertEquals(VERSIONS, flags(engine, tree, key(50)));
      assertEquals(VERSIONS, flags(engine, tree, key(99)));
      reader.abort();
      engine.checkAllClean();
    }
  }

  @Test
  void afterARestart_aPassBesideWriters_readsThePagesWithGhosts_andAFew() {
    List<MemoryJournal.Entry> entries;
    try (TestEngine engine = new TestEngine(directory, 512)) {
      Tree tree = engine.table("t");
      insert(engine, tree, 0, 1_500, 1_000);
      for (int i = 100; i < 1_500; i += 500) {
        delete(engine, tree, i);
      }
      assertTrue(engine.check().pagesToClean() > 4 * FEW, "too few pages with versions");
      entries = engine.journal.entries();
    }
    Map<Integer, byte[]> pages = Replay.newDatabase();
    Replay.redo(pages, entries);
    try (TestEngine engine = TestEngine.restart(directory, entries, pages)) {
      Tree tree = engine.table("t");
      assertEquals(GHOSTS, flags(engine, tree, key(600)));
      CleanerSteps.passBesideWriters(engine.cleaner);
      long visited = engine.storage.counters().pagesCleaned.sum();
      assertTrue(visited <= FEW + 3, visited + " pages were visited");
      for (int i = 100; i < 1_500; i += 500) {
        assertEquals(0, flags(engine, tree, key(i)), "row " + i);
      }
      engine.checkAllClean();
    }
  }

  @Test
  void check_findsADeletedRowOnAPageWithoutTheBit() {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      insert(engine, tree, 0, 3, 100);
      delete(engine, tree, 1);
      int frame = tree.leafExclusive(key(1), new Descent());
      int page = engine.pool.pageIdOf(frame);
      Page.putByte(engine.pool.page(frame), Page.FLAGS, VERSIONS);
      assertEquals(3, Slotted.count(engine.pool.page(frame)));
      engine.pool.unfixExclusive(frame);
      String problems = Checker.alone(engine.storage).problems().toString();
      assertTrue(problems.contains("slot 1 is deleted, but the page has no ghost bit"), problems);
      assertTrue(problems.contains("page " + page + ": its version and ghost bits"), problems);
    }
  }
}
