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
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.recovery.FirstRowFork;
import org.revenantdb.jmh.recovery.FirstSecondsFork;
import org.revenantdb.jmh.recovery.LostRowsFork;
import org.revenantdb.testing.Drawn;

/**
 * That databases are killed with the log and the pages that are asked for, and are opened again:
 * the forks check rows, log and pages, and fail. How long that takes is not asked.
 */
class RecoveryOpeningTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final String ROWS = "30000";
  private static final String LOG = Integer.toString(1 << 20);
  private static final String POOL = Integer.toString(16 << 20);
  private static final String PAGES = ",pages=600";
  private static final String COLD = PAGES + ",files=not-cached,many pages";

  @TempDir private Path folder;

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void killedDatabases_haveAsManyPagesAsAskedFor_andAreOpened() throws IOException {
    Map<String, Double> said =
        run(FirstRowFork.class, folder.toString(), ROWS, "60,600", LOG, POOL, "1", "1");
    for (String name : List.of("first_row_seconds", "jvm_start_to_first_row", "analysis_seconds")) {
      assertTrue(said.containsKey(name + PAGES), said::toString);
      assertTrue(said.containsKey(name + ",pages=60"), said::toString);
    }
    assertEquals(0.0 + 60, said.getOrDefault("pages_pending,pages=60", 0.0), 6, said::toString);
    assertEquals(0.0 + 600, said.getOrDefault("pages_pending" + PAGES, 0.0), 60, said::toString);
    assertTrue(said.containsKey("all_redone_seconds" + PAGES), said::toString);
    boolean isDropped = said.getOrDefault("files_dropped", 0.0) == 1;
    assertEquals(
        isDropped,
        said.containsKey("first_row_seconds" + PAGES + ",files=not-cached"),
        said::toString);
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void traffic_isToldOfBothDatabases() throws IOException {
    Map<String, Double> said =
        run(
            FirstSecondsFork.class,
            folder.toString(),
            ROWS,
            "600",
            LOG,
            POOL,
            "300",
            "0",
            "300",
            "2",
            "1");
    for (String kind : List.of(",killed", ",clean")) {
      for (String name :
          List.of("first_seconds_ratio", "first_second_p99_ms", "rate_in_second,second=1")) {
        assertTrue(said.containsKey(name + kind), said::toString);
      }
    }
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void kills_areCounted() throws IOException {
    Map<String, Double> said = run(LostRowsFork.class, folder.toString(), "2", "1");
    double acknowledged = said.getOrDefault("acknowledged_rows", 0.0);
    assertTrue(acknowledged > 0, said::toString);
    assertEquals(0, said.getOrDefault("lost_after_kill", -1.0), said::toString);
    assertEquals(0, said.getOrDefault("kills_that_lost", -1.0), said::toString);
  }

  @Test
  void promises_haveAllFigures_andNoneTwice() {
    List<String> promises = new RecoveryBench().promises();
    assertTrue(promises.containsAll(RecoveryOpening.FIGURES), promises::toString);
    assertEquals(promises.size(), promises.stream().distinct().count());
    assertTrue(promises.contains("log_peak_over_bound"));
    assertEquals(40, promises.size());
  }

  @Test
  void coldFiles_whatCameFromTheDeviceIsAsked() throws CannotMeasureException {
    Map<String, Sample> samples = samples();
    assertEquals(0.7, RecoveryOpening.cold(samples, PAGES));
    samples.put("fetched_bytes" + COLD, Sample.of(List.of(900.0, 10.0, 900.0), "bytes"));
    assertThrows(CannotMeasureException.class, () -> RecoveryOpening.cold(samples, PAGES));
    samples.put(
        "fetched_bytes" + COLD, Sample.of(List.of(-1.0), "bytes")); // the system tells nothing
    assertThrows(CannotMeasureException.class, () -> RecoveryOpening.cold(samples, PAGES));
  }

  @Test
  void coldFiles_withoutDd_areNotMeasured_andTheReasonIsTold() {
    Map<String, Sample> samples = samples();
    samples.put("files_dropped,many pages", Sample.of(List.of(0.0), ""));
    CannotMeasureException thrown =
        assertThrows(CannotMeasureException.class, () -> RecoveryOpening.cold(samples, PAGES));
    assertTrue(thrown.sentence().contains("dd"), thrown.sentence());
  }

  private static Map<String, Sample> samples() {
    Map<String, Sample> samples = new HashMap<>();
    samples.put("files_dropped,many pages", Sample.of(List.of(1.0, 1.0, 1.0), ""));
    samples.put("log_bytes_read" + COLD, Sample.of(List.of(1_000.0, 1_000.0, 1_000.0), "bytes"));
    samples.put("fetched_bytes" + COLD, Sample.of(List.of(950.0, 1_200.0, 990.0), "bytes"));
    samples.put("first_row_seconds" + COLD, Sample.of(List.of(0.9, 0.6, 0.7), "s"));
    return samples;
  }

  private static Map<String, Double> run(Class<?> main, String... arguments) throws IOException {
    Fork.Said said = new Fork(main, ShortForks.with(RecoveryOpening.FLAGS), LIMIT).run(arguments);
    assertEquals("", said.failure());
    return said.values();
  }
}
