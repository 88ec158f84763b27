package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.Samples.bytes;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.version.CleanerSteps;

/** An idle database is left alone, also when versions are there that cannot go yet. */
@Timeout(60)
class CleanerRestTest {
  @TempDir private Path folder;

  /** It went through all marked pages every two seconds, and read them from disk for that. */
  @Test
  void the_cleaner_rests_while_nothing_becomes_durable() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Tree tree = engine.table("t");
      for (String value : new String[] {"1", "2"}) {
        TestEngine.Tx tx = engine.begin();
        tx.put(tree, bytes("k"), bytes(value));
        tx.commit();
      }
      engine.clean();
      assertFalse(engine.storage.marks().isEmpty(), "the version before is needed if this is lost");
      assertTrue(CleanerSteps.isNothingNew(engine.cleaner));

      engine.journal.force();
      assertFalse(CleanerSteps.isNothingNew(engine.cleaner));
      engine.clean();
      assertTrue(engine.storage.marks().isEmpty());
    }
  }

  @Test
  void the_cleaner_rests_while_a_snapshot_is_open() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Tree tree = engine.table("t");
      TestEngine.Tx reader = null;
      for (String value : new String[] {"1", "2", "3"}) {
        TestEngine.Tx tx = engine.begin();
        tx.put(tree, bytes("k"), bytes(value));
        tx.commit();
        reader = reader == null ? engine.begin() : reader;
      }
      engine.clean();
      assertTrue(CleanerSteps.isNothingNew(engine.cleaner));
      reader.abort();
      assertFalse(CleanerSteps.isNothingNew(engine.cleaner), "the snapshot has been given back");
      engine.clean();
      assertEquals(0, engine.storage.versions().rows());
    }
  }
}
