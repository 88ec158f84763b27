package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.TestEngine;

/**
 * A scan of a leaf without the version bit looks at no writer, if what was last done to the leaf is
 * visible and durable (docs/protocols.md §39).
 */
class SettledLeafTest {
  @TempDir Path directory;

  private TestEngine engine;
  private Tree tree;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 64);
    tree = engine.table("t");
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static byte[] key(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private long put(String row) {
    TestEngine.Tx tx = engine.begin();
    tx.put(tree, key(row), key(row));
    return tx.commit();
  }

  private boolean hasVersions() {
    int frame = tree.leafShared(key("a"), new Descent());
    try {
      return Page.hasVersions(engine.pool.page(frame));
    } finally {
      engine.pool.unfixShared(frame);
    }
  }

  private List<String> scan(Reading reading, boolean descending) {
    RowReader reader = new RowReader(engine.storage);
    RowScan scan = new RowScan(engine.storage, reader, tree, reading, descending, null, null);
    List<String> rows = new ArrayList<>();
    RowBatch batch = new RowBatch();
    for (scan.fill(batch); !batch.isEmpty(); scan.fill(batch)) {
      for (int row = 0; row < batch.size(); row++) {
        rows.add(new String(batch.key(row), StandardCharsets.UTF_8));
      }
    }
    return rows;
  }

  private void assertScans(TestEngine.Tx reader, List<String> rows) {
    assertEquals(rows, scan(reader.freshReading(), /* descending= */ false));
    assertEquals(rows.reversed(), scan(reader.freshReading(), /* descending= */ true));
  }

  /** An insert leaves nothing undecided, so the cleaner clears the bit while snapshots are open. */
  @Test
  void an_older_snapshot_does_not_see_a_row_of_a_leaf_whose_version_bit_is_clear() {
    put("a");
    engine.journal.force();
    engine.clean();
    TestEngine.Tx reader = engine.begin();
    put("b");
    engine.clean();
    engine.journal.force();
    assertFalse(hasVersions());
    assertScans(reader, List.of("a"));
    TestEngine.Tx later = engine.begin();
    assertScans(later, List.of("a", "b"));
    reader.abort();
    later.abort();
  }

  @Test
  void R10_a_scan_depends_on_a_commit_that_is_not_durable_though_the_version_bit_is_clear() {
    put("a");
    engine.journal.force();
    engine.clean();
    long lsn = put("b");
    engine.pass();
    assertFalse(hasVersions());
    assertTrue(engine.journal.durableLsn() < lsn);
    TestEngine.Tx reader = engine.begin();
    for (boolean descending : new boolean[] {false, true}) {
      Reading reading = reader.freshReading();
      assertEquals(2, scan(reading, descending).size());
      assertEquals(lsn, reading.witness().lsn());
    }
    reader.abort();
  }

  @Test
  void a_settled_leaf_is_read_without_looking_up_its_writers() {
    put("a");
    put("b");
    engine.journal.force();
    engine.pass();
    engine.journal.force();
    assertFalse(hasVersions());
    TestEngine.Tx reader = engine.begin();
    Reading reading = reader.freshReading();
    assertEquals(List.of("a", "b"), scan(reading, /* descending= */ false));
    assertEquals(0, reading.witness().lsn(), "all is durable: nothing is noted");
    reader.abort();
  }

  @Test
  void with_the_version_bit_rows_that_are_active_aborted_or_deleted_are_not_seen() {
    put("a");
    put("b");
    engine.journal.force();
    engine.clean();
    TestEngine.Tx active = engine.begin();
    active.put(tree, key("c"), key("c"));
    TestEngine.Tx aborted = engine.begin();
    aborted.put(tree, key("d"), key("d"));
    aborted.abort();
    TestEngine.Tx deleter = engine.begin();
    deleter.delete(tree, key("b"));
    deleter.commitDurably();
    assertTrue(hasVersions());
    TestEngine.Tx reader = engine.begin();
    assertScans(reader, List.of("a"));
    assertScans(active, List.of("a", "b", "c"));
    reader.abort();
    active.abort();
    engine.checkAllClean();
  }
}
