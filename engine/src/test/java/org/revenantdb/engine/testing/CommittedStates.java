package org.revenantdb.engine.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;

/** What a table had after each commit, to be looked for wherever the log ends. */
public final class CommittedStates {
  private final List<Map<Integer, byte[]>> states = new ArrayList<>();
  private final List<Long> commits = new ArrayList<>();

  public static byte[] key(int i) {
    return ByteBuffer.allocate(4).putInt(i).array();
  }

  /** A commit, if there was something to commit. */
  public void add(long lsn, Map<Integer, byte[]> rows) {
    if (lsn != 0) {
      commits.add(lsn);
      states.add(new TreeMap<>(rows));
    }
  }

  public int size() {
    return commits.size();
  }

  public static void assertRow(TestEngine engine, Tree tree, int key, byte @Nullable [] value) {
    assertRow(key, value, engine.read(tree, key(key)));
  }

  public static void assertRow(int key, byte @Nullable [] value, byte @Nullable [] found) {
    if (value == null) {
      assertNull(found, "row " + key);
    } else {
      assertArrayEquals(value, found, "row " + key);
    }
  }

  /**
   * The pages are those that redo makes; and behind records at random the log ends: the table "t"
   * has what was committed, before and after it was cleaned.
   *
   * @param keys rows are below this number
   */
  public void assertKeptWhereverTheLogEnds(
      TestEngine engine, Path directory, int keys, Random random) {
    List<MemoryJournal.Entry> entries = engine.journal.entries();
    Map<Integer, byte[]> redone = Replay.newDatabase();
    Replay.redo(redone, entries);
    TestEngine.assertSamePages(engine.memory(), redone);
    for (int end = 5; end <= entries.size(); end += 1 + random.nextInt(40)) {
      List<MemoryJournal.Entry> kept = entries.subList(0, end);
      long last = kept.getLast().lsn();
      int state = (int) commits.stream().filter(lsn -> lsn <= last).count() - 1;
      Map<Integer, byte[]> pages = Replay.newDatabase();
      Replay.redo(pages, kept);
      try (TestEngine restarted = TestEngine.restart(directory, kept, pages)) {
        if (restarted.catalog.find("t") == null) {
          continue;
        }
        Tree table = restarted.table("t");
        restarted.check();
        Map<Integer, byte[]> expected = state < 0 ? Map.of() : states.get(state);
        for (int pass = 0; pass < 2; pass++) {
          for (int key = 0; key < keys; key++) {
            assertRow(restarted, table, key, expected.get(key));
          }
          restarted.checkAllClean();
        }
      }
    }
  }
}
