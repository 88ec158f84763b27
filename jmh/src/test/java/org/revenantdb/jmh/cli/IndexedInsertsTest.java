package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.peer.MvStoreBareItems;
import org.revenantdb.jmh.peer.MvStoreItems;
import org.revenantdb.jmh.peer.SqliteItems;
import org.revenantdb.jmh.work.IndexedInsertFork;
import org.revenantdb.jmh.work.IndexedItems;
import org.revenantdb.jmh.work.RevenantIndexedItems;
import org.revenantdb.testing.Drawn;

/** What becomes of the points of inserts with two indexes. */
class IndexedInsertsTest {
  @TempDir private Path folder;

  @Test
  void figure_isAgainstTheBetterOfThoseThatPromiseTheSame() throws CannotMeasureException {
    Map<String, Sample> samples = new HashMap<>();
    put(samples, "revenant", 90);
    put(samples, "mvstore", 45);
    put(samples, "sqlite", 30);
    put(samples, "mvstore without transactions", 900);
    assertEquals(2, IndexedInserts.ratio(samples));
    put(samples, "sqlite", 60);
    assertEquals(1.5, IndexedInserts.ratio(samples));
    samples.remove("indexed_inserts,engine=mvstore,rows=1");
    assertThrows(CannotMeasureException.class, () -> IndexedInserts.ratio(samples));
  }

  private static void put(Map<String, Sample> samples, String engine, double rate) {
    samples.put("indexed_inserts,engine=" + engine + ",rows=1", Sample.of(List.of(rate), "1/s"));
  }

  @Test
  void figure_isPromised_andCanBeMeasuredAlone() {
    CollectionsBench bench = new CollectionsBench();
    assertTrue(bench.promises().contains("indexed_insert_vs_best"));
    assertTrue(bench.measuresSome());
  }

  /** The fork looks for the rows by both indexes, and fails if they are others. */
  @ParameterizedTest
  @ValueSource(
      classes = {
        RevenantIndexedItems.class,
        MvStoreItems.class,
        MvStoreBareItems.class,
        SqliteItems.class
      })
  @Tag("slow")
  @Drawn(oneIn = 2)
  void fork_tellsRateAndProcessorTime(Class<? extends IndexedItems> engine) throws IOException {
    Fork fork =
        new Fork(IndexedInsertFork.class, ShortForks.with(Peers.NATIVE), Duration.ofMinutes(3));
    Fork.Said said = fork.run(folder.toString(), engine.getName(), "250", "3", "16777216", "1");
    assertEquals("", said.failure());
    assertEquals(
        List.of("indexed_inserts", "indexed_insert_cpu_us"), List.copyOf(said.values().keySet()));
  }
}
