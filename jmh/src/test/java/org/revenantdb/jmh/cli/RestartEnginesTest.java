package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.recovery.StoreRestartFork;

/**
 * That each engine of {@code bench recovery} is killed and opened again with the rows that were
 * committed: the fork checks them, and fails. How long that takes is not asked.
 */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true") // peers and baselines
class RestartEnginesTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final double LEAST = 3_000 * 200;

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  void killedEngine_hasCommittedRows(RestartEngines engine) throws IOException {
    Fork fork = new Fork(StoreRestartFork.class, ShortForks.with(RestartEngines.FLAGS), LIMIT);
    Fork.Said said = fork.run(folder.toString(), engine.className(), "3000");
    assertEquals("", said.failure());
    assertEquals(1, said.values().get("opened"));
    assertTrue(said.values().containsKey("reopen_seconds"), said::toString);
    for (String bytes : List.of("filled_bytes", "disk_bytes", "disk_bytes_after")) {
      assertTrue(said.values().getOrDefault(bytes, 0.0) > LEAST, said::toString);
    }
  }

  @Test
  void settingsAndVersions_areReportedForAll() {
    Figures figures = new Figures();
    for (RestartEngines engine : RestartEngines.values()) {
      engine.describe(figures);
    }
    assertEquals(RestartEngines.values().length, figures.settings().size());
    assertEquals(RestartEngines.values().length - 1, figures.versions().size());
    figures.versions().values().forEach(version -> assertNotEquals("not there", version));
  }

  @Test
  void promises_nameEachEngineTwice() {
    List<String> promises = new RecoveryBench().promises();
    for (String engine : List.of("ours", "rocksdb", "tupl", "mvstore", "sqlite", "berkeley")) {
      assertTrue(promises.contains("reopen_seconds_" + engine), engine);
      assertTrue(promises.contains("disk_bytes_" + engine), engine);
    }
    assertEquals(12, RecoveryPeers.figures().size());
  }

  @Test
  void engineThatDidNotAlwaysOpen_hasFigures_andIsReported() throws CannotMeasureException {
    Figures figures = new Figures();
    RecoveryPeers.put(
        figures,
        Map.of(
            "opened,mvstore", Sample.of(List.of(1.0, 0.0, 1.0), ""),
            "disk_bytes,mvstore", Sample.of(List.of(10.0, 20.0, 30.0), "bytes"),
            "reopen_seconds,mvstore", Sample.of(List.of(2.0, 2.0), "s")),
        RestartEngines.MVSTORE);
    assertEquals(
        Map.of("disk_bytes_mvstore", 20.0, "reopen_seconds_mvstore", 2.0), figures.figures());
    assertEquals("2 of 3 times", figures.settings().get("H2 MVStore, opened after the kill"));
  }

  @Test
  void engineThatNeverOpened_hasNoTime() {
    Figures figures = new Figures();
    Map<String, Sample> samples =
        Map.of(
            "opened,mvstore", Sample.of(List.of(0.0), ""),
            "disk_bytes,mvstore", Sample.of(List.of(10.0), "bytes"));
    assertThrows(
        CannotMeasureException.class,
        () -> RecoveryPeers.put(figures, samples, RestartEngines.MVSTORE));
    assertTrue(figures.figures().containsKey("disk_bytes_mvstore"));
    assertFalse(figures.figures().containsKey("reopen_seconds_mvstore"));
    assertEquals("0 of 1 times", figures.settings().get("H2 MVStore, opened after the kill"));
  }
}
