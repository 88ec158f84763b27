package org.revenantdb.engine.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.testing.TestEngine;

/**
 * A page that became illegal in memory. Its bytes in the file are good, so it was found only by the
 * restart that refused it.
 */
class ChangedPageTest {
  @TempDir private Path directory;

  @Test
  void a_page_that_a_restart_would_refuse_is_found_while_it_is_in_memory() {
    try (TestEngine engine = new TestEngine(directory, 128)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < 100; i++) {
        tx.put(tree, new byte[] {(byte) i}, new byte[500]);
      }
      tx.commitDurably();
      engine.check();
      int leaf = lastLeaf(engine);
      flip(engine, leaf);
      List<String> problems = Checker.alone(engine.storage).problems();
      assertEquals(1, problems.size(), problems::toString);
      String problem = problems.getFirst();
      assertTrue(
          problem.contains("in memory, page " + leaf) && problem.contains("unknown flags"),
          problem);
      flip(engine, leaf);
      engine.check();
    }
  }

  private static int lastLeaf(TestEngine engine) {
    int last = 0;
    for (Map.Entry<Integer, byte[]> page : engine.memory().entrySet()) {
      if (Page.type(MemorySegment.ofArray(page.getValue())) == Page.LEAF) {
        last = Math.max(last, page.getKey());
      }
    }
    return last;
  }

  /** Changes the reserved byte of the first row. */
  private static void flip(TestEngine engine, int leaf) {
    int frame = engine.pool.fixExclusive(leaf);
    MemorySegment page = engine.pool.page(frame);
    int reserved = Slotted.cell(page, 0) + 3;
    byte there = page.get(ValueLayout.JAVA_BYTE, reserved);
    page.set(ValueLayout.JAVA_BYTE, reserved, (byte) (there ^ 1));
    engine.pool.unfixExclusive(frame);
  }
}
