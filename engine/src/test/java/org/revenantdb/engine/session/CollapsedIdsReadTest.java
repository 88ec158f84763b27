package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.testing.TestEngine;

/**
 * R21 through rows: their versions have lifetimes that end at a commit's own LSN, or at the value
 * of the ids around it, and each snapshot finds its own version between those.
 */
@Tag("slow")
class CollapsedIdsReadTest {
  /** Some are written all the time, others so seldom that their writers are forgotten before. */
  private static final int HOT = 12;

  private static final int ROWS = 1_500;

  @TempDir private Path folder;

  private record Reader(TestEngine.Tx tx, Map<String, byte[]> rows) {}

  @Test
  void R21_each_snapshot_finds_its_versions_when_the_ids_that_wrote_them_are_one_value() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("CollapsedIdsReadTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    try (TestEngine engine = new TestEngine(folder, 256)) {
      Tree tree = engine.table("t");
      Map<String, byte[]> rows = new HashMap<>();
      List<Reader> readers = new ArrayList<>();
      int mostSpans = 0;
      for (int step = 0; step < 60_000; step++) {
        String key = "row" + random.nextInt(random.nextBoolean() ? HOT : ROWS);
        byte[] value = bytes("value " + step);
        TestEngine.Tx tx = engine.begin();
        tx.put(tree, bytes(key), value);
        if (random.nextInt(50) == 0) {
          tx.abort();
        } else {
          tx.commit();
          rows.put(key, value);
        }
        if (random.nextInt(6_000) == 0) {
          readers.add(new Reader(engine.begin(), Map.copyOf(rows)));
        }
        if (readers.size() > 6) {
          readers.remove(random.nextInt(readers.size())).tx().abort();
        }
        if (random.nextInt(700) == 0) {
          engine.journal.force();
          engine
              .storage
              .transactions()
              .forget(engine.storage.horizon().refresh(), engine.journal.durableLsn());
          mostSpans = Math.max(mostSpans, engine.storage.transactions().size());
        }
        if (random.nextInt(3_000) == 0) {
          engine.journal.force();
          engine.pass();
        }
        if (step % 2_000 == 0) {
          for (Reader reader : readers) {
            for (int row = 0; row < ROWS; row++) {
              String read = "row" + row;
              assertArrayEquals(
                  reader.rows().get(read),
                  reader.tx().get(tree, bytes(read)),
                  () -> read + " at " + reader.tx().snapshot);
            }
          }
        }
      }
      assertTrue(mostSpans <= 2 * 8 + 3, mostSpans + " spans");
      readers.forEach(reader -> reader.tx().abort());
      engine.journal.force();
      engine.checkAllClean();
      assertEquals(1, engine.storage.transactions().size());
    }
  }
}
