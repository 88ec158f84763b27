package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;

/** An idle database is left alone, also when versions are there that cannot go yet. */
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

  /**
   * Regression: each commit of an application that commits at intervals was followed by a whole
   * pass.
   */
  @Test
  void the_cleaner_does_not_pass_over_all_pages_between_two_commits_at_intervals() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      long interval = 5 * Cleaner.SHORTEST_PAUSE;
      long now = 0;
      for (int commit = 0; commit < 10; commit++) {
        now += interval;
        engine.cleaner.poke(now);
        assertFalse(engine.cleaner.wouldPassWhole(now), "somebody has just written");
        assertEquals(commit == 0, engine.cleaner.wouldPassWhole(now + interval - 1));
      }
      assertTrue(engine.cleaner.wouldPassWhole(now + Cleaner.LONGEST_PAUSE));
    }
  }

  /** Its id was the oldest of those active, and the cleaner looked again only when that changed. */
  @Test
  void a_prepared_transaction_keeps_no_pages_but_its_own_from_being_cleaned() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Tree tree = engine.table("t");
      Tree other = engine.table("other");
      TestEngine.Tx first = engine.begin();
      first.put(tree, bytes("k"), bytes("1"));
      first.put(other, bytes("k"), bytes("1"));
      first.commitDurably();
      TestEngine.Tx prepared = engine.begin();
      prepared.put(tree, bytes("k"), bytes("2"));
      prepared.prepare(bytes("p"));
      TestEngine.Tx longer = engine.begin();
      longer.delete(other, bytes("k"));
      CleanerSteps.passBesideWriters(engine.cleaner);
      longer.commitDurably();
      CleanerSteps.passBesideWriters(engine.cleaner);
      assertEquals(null, engine.read(other, bytes("k")));
      assertEquals(1, engine.check().pagesToClean());
      assertTrue(engine.storage.marks().isEmpty(), "nothing to do before it is decided");

      assertTrue(engine.engine.prepared().commit(bytes("p")) > 0);
      engine.journal.force();
      assertFalse(engine.storage.marks().isEmpty());
      engine.checkAllClean();
      assertEquals("2", Samples.text(engine.read(tree, bytes("k"))));
    }
  }

  /** Its page waited for the decision, with its bit set: so it was not marked, and was skipped. */
  @Test
  void
      R2_what_an_aborted_transaction_wrote_beside_a_prepared_one_is_taken_back_before_it_is_forgotten() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Tree tree = engine.table("t");
      TestEngine.Tx first = engine.begin();
      first.put(tree, bytes("a"), bytes("1"));
      first.put(tree, bytes("b"), bytes("1"));
      first.commitDurably();
      TestEngine.Tx prepared = engine.begin();
      prepared.put(tree, bytes("a"), bytes("2"));
      prepared.prepare(bytes("p"));
      engine.journal.force();
      CleanerSteps.pass(engine.cleaner, /* everything= */ true);
      assertTrue(engine.storage.marks().isEmpty(), "the page waits for the decision alone");

      TestEngine.Tx aborted = engine.begin();
      aborted.put(tree, bytes("b"), bytes("2"));
      aborted.put(tree, bytes("c"), bytes("2"));
      aborted.abort();
      CleanerSteps.pass(engine.cleaner, /* everything= */ false);
      assertEquals(0, engine.storage.transactions().aborted().size(), "it is forgotten");
      assertEquals("1", Samples.text(engine.read(tree, bytes("b"))));
      assertEquals(null, engine.read(tree, bytes("c")));
      engine.check();

      assertTrue(engine.engine.prepared().rollback(bytes("p")) > 0);
      CleanerSteps.pass(engine.cleaner, /* everything= */ false);
      assertEquals("1", Samples.text(engine.read(tree, bytes("a"))));
      engine.checkAllClean();
    }
  }

  /** Its id was the oldest of those active, and the cleaner looked again only when that changed. */
  @Test
  void a_long_transaction_keeps_no_pages_but_its_own_from_being_cleaned() {
    try (TestEngine engine = new TestEngine(folder, 64)) {
      Tree tree = engine.table("t");
      Tree other = engine.table("other");
      engine.shortRows = 10;
      CleanerSteps.allTakeLong(engine.cleaner);
      TestEngine.Tx longer = engine.begin();
      longer.put(tree, bytes("k"), bytes("2"));
      for (int pass = 0; pass < 3; pass++) {
        CleanerSteps.passBesideWriters(engine.cleaner);
      }
      long visits = engine.storage.counters().pagesCleaned.sum();
      CleanerSteps.passBesideWriters(engine.cleaner);
      assertEquals(visits, engine.storage.counters().pagesCleaned.sum(), "nobody has ended");
      for (int round = 0; round < 3; round++) {
        TestEngine.Tx aborted = engine.begin();
        aborted.put(other, bytes("k" + round), bytes("1"));
        CleanerSteps.passBesideWriters(engine.cleaner);
        assertTrue(aborted.putBack());
        CleanerSteps.passBesideWriters(engine.cleaner);
        assertTrue(engine.storage.marks().isEmpty(), "its page has nothing more");
      }
      longer.commitDurably();
      engine.checkAllClean();
      assertEquals("2", Samples.text(engine.read(tree, bytes("k"))));
    }
  }
}
