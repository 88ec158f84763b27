package org.revenantdb.jmh.work;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.jmh.peer.MvStoreBareItems;
import org.revenantdb.jmh.peer.MvStoreItems;

/**
 * That each engine in Java keeps the rows and both indexes that the measurement is about. SQLite
 * needs a flag of the JVM, so it is only in the test of the fork.
 */
class IndexedInsertForkTest {
  private static final long CACHE = 16 << 20;

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(classes = {RevenantIndexedItems.class, MvStoreItems.class, MvStoreBareItems.class})
  void engine_hasAllRows_andFindsThemByBothIndexes(Class<? extends IndexedItems> engine)
      throws Exception {
    try (IndexedItems items = open(engine)) {
      IndexedInsertFork.Inserts inserts = new IndexedInsertFork.Inserts(items, 1);
      assertTrue(inserts.run(500, 1) > 0);
      assertTrue(inserts.run(550, 100) > 0);
      inserts.check();
      assertNull(items.named("nobody"));
      assertEquals(List.of(), items.numbered(-1));
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {RevenantIndexedItems.class, MvStoreItems.class})
  void engine_refusesAKeyOrANameThatIsThere_andKeepsNothingOfThatRow(
      Class<? extends IndexedItems> engine) throws Exception {
    try (IndexedItems items = open(engine)) {
      IndexedItem first = new IndexedItem("name", 7, "first");
      items.insert(1, List.of(first));
      assertThrows(
          Exception.class, () -> items.insert(1, List.of(new IndexedItem("other", 7, "second"))));
      assertThrows(Exception.class, () -> items.insert(2, List.of(first)));
      assertEquals(new IndexedItems.Counts(1, 1, 1), items.counts());
      assertEquals(List.of(1L), items.numbered(7));
      assertEquals(first, items.named("name"));
    }
  }

  @ParameterizedTest
  @ValueSource(classes = {RevenantIndexedItems.class, MvStoreBareItems.class})
  void check_noticesARowThatWasNotInserted(Class<? extends IndexedItems> engine) throws Exception {
    try (IndexedItems items = open(engine)) {
      IndexedInsertFork.Inserts inserts = new IndexedInsertFork.Inserts(items, 1);
      assertTrue(inserts.run(10, 10) > 0);
      items.insert(1_000, List.of(new IndexedItem("extra", 1, "")));
      assertThrows(IllegalStateException.class, inserts::check);
    }
  }

  private IndexedItems open(Class<? extends IndexedItems> engine) throws Exception {
    return engine.getDeclaredConstructor(Path.class, long.class).newInstance(directory, CACHE);
  }
}
