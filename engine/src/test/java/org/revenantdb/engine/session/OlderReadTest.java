package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.put;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.recovery.testing.Await;

/**
 * Readers of an old snapshot took the leaf's shared latch to find out that it has not the version
 * that they see. With a hundred thousand readers and one writer to that leaf, each reader waited
 * for the writer, and the writer for all of them. Each was a virtual thread that first had to get a
 * processor: five updates took nine seconds.
 */
class OlderReadTest {
  @TempDir private Path folder;

  @Test
  void a_reader_of_a_version_outside_the_leaf_does_not_wait_behind_a_writer_of_the_leaf()
      throws Exception {
    try (Database db = Samples.open(folder.resolve("db"))) {
      Table table = db.getOrCreateTable("t");
      put(db, "t", "k", "0");
      try (Transaction reader = db.begin()) {
        put(db, "t", "k", "1");
        put(db, "t", "k", "2");
        put(db, "t", "new", "2");
        Engine engine = ApiAccess.api().core(reader).engine();
        Tree tree = TableState.of(table).newest().all().getFirst();
        int leaf = tree.leafShared(bytes("k"), new Descent());
        Thread writer = Thread.ofPlatform().start(() -> put(db, "t", "k", "3"));
        try {
          while (writer.getState() == Thread.State.RUNNABLE
              || writer.getState() == Thread.State.NEW) {
            Await.pause();
          }
          // A newcomer does not join those who share the latch, so a reader would wait for ever.
          assertArrayEquals(bytes("0"), reader.get(table, bytes("k")));
          byte[] value = new byte[1];
          assertEquals(1, reader.get(table, bytes("k"), value, 0));
          assertArrayEquals(bytes("0"), value);
          assertNull(reader.get(table, bytes("new")));
        } finally {
          engine.storage().pool().unfixShared(leaf);
          writer.join();
        }
        assertArrayEquals(bytes("0"), reader.get(table, bytes("k")));
      }
    }
  }
}
