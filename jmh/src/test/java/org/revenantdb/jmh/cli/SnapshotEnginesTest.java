package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.gc.ChFork;
import org.revenantdb.jmh.gc.HotRowsFork;
import org.revenantdb.jmh.gc.UpdatesFork;

/**
 * Each engine of {@code bench gc} has a snapshot on this JDK, with its flags: the forks check every
 * row of it, and fail if it is wrong. The numbers are not checked.
 */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true") // peers and baselines
class SnapshotEnginesTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  void engine_reportsAllPoints(SnapshotEngines engine) throws IOException {
    Fork fork = new Fork(HotRowsFork.class, ShortForks.with(engine.flags()), LIMIT);
    Fork.Said said = fork.run(folder.toString(), engine.className(), "1", "3000", "60000", "1");
    assertEquals("", said.failure());
    assertEquals(3000.0, said.values().get("updates_done"));
    for (String point : List.of("snapshot_updates", "memory_growth_bytes", "disk_growth_bytes")) {
      assertTrue(said.values().containsKey(point), point);
    }
    assertEquals(
        engine == SnapshotEngines.OURS, said.values().containsKey(GcBench.EXCESS), said::toString);
  }

  @Test
  @Tag("slow")
  void updates_areReportedWithScans() throws IOException {
    Fork fork = new Fork(UpdatesFork.class, ShortForks.with(List.of("-Xmx256m")), LIMIT);
    Fork.Said said =
        fork.run(folder.toString(), "1000", "1.0", "2", "50", "0", "200", "1", "", "1");
    assertEquals("", said.failure());
    assertTrue(said.values().containsKey("key_updates"), said::toString);
    assertTrue(said.values().containsKey("table_scans"), said::toString);
  }

  @Test
  @Tag("slow")
  void sweeps_areReportedByValue() throws IOException {
    Fork ch = new Fork(ChFork.class, ShortForks.with(List.of("-Xmx256m")), LIMIT);
    String[] readers = {
      folder.toString(), "1", "0.01", "1", "1", "each", "100", "200", "1", "1", "readers=0,2", "2"
    };
    Fork.Said said = ch.run(readers);
    assertEquals("", said.failure());
    for (String point : List.of("transactions,readers=0", "rows_read,readers=2")) {
      assertTrue(said.values().containsKey(point), said::toString);
    }
    assertFalse(said.values().containsKey("transactions"), said::toString);
    Fork updates = new Fork(UpdatesFork.class, ShortForks.with(List.of("-Xmx256m")), LIMIT);
    said =
        updates.run(folder.toString(), "1000", "0", "2", "0", "0", "100", "1", "reads=0,50", "1");
    assertEquals("", said.failure());
    for (String point : List.of("key_updates,reads=0", "table_scans,reads=50")) {
      assertTrue(said.values().containsKey(point), said::toString);
    }
  }

  @Test
  void versions_areFound() {
    Figures figures = new Figures();
    for (SnapshotEngines engine : SnapshotEngines.values()) {
      engine.describe(figures);
    }
    assertEquals(4, figures.versions().size());
    figures.versions().values().forEach(version -> assertNotEquals("not there", version));
  }

  @Test
  void figure_isAgainstTheBestOfTheOthers() throws CannotMeasureException {
    Map<String, Sample> samples = new HashMap<>();
    double rate = 10;
    for (SnapshotEngines engine : SnapshotEngines.values()) {
      samples.put("snapshot_updates," + engine.variant(), Sample.of(List.of(rate), ""));
      rate += 10;
    }
    assertEquals(0.2, GcPeers.versusBest(samples));
    samples.remove("snapshot_updates," + SnapshotEngines.LMDB.variant());
    assertThrows(CannotMeasureException.class, () -> GcPeers.versusBest(samples));
  }

  @Test
  void tpccFigure_isAgainstTheBestOfTheOtherStrategies_inRoundsAfterItWasFound()
      throws CannotMeasureException {
    Map<String, Sample> samples = new HashMap<>();
    double rate = 12;
    for (GcStrategies each : GcStrategies.values()) {
      samples.put("transactions,tpcc,sessions=2," + each.variant(), Sample.of(List.of(rate), ""));
      rate -= 2;
    }
    String lucky = "transactions,tpcc,sessions=2," + GcStrategies.INTERVAL.variant();
    samples.put(lucky, Sample.of(List.of(100.0), ""));
    assertEquals(GcStrategies.INTERVAL, GcTpcc.best(samples));
    String pair = "transactions,tpcc,pair,sessions=2,";
    Map<String, Sample> after = new HashMap<>(samples);
    after.put(pair + GcStrategies.EAGER.variant(), Sample.of(List.of(12.0), ""));
    after.put(pair + GcStrategies.INTERVAL.variant(), Sample.of(List.of(10.0), ""));
    assertEquals(1.2, GcTpcc.versus(GcStrategies.INTERVAL, after));
    samples.remove(lucky);
    assertThrows(CannotMeasureException.class, () -> GcTpcc.best(samples));
  }
}
