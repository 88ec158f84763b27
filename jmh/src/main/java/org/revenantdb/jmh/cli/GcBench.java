package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The cost of snapshots for writers, and the fate of older versions: the experiments of "Scalable
 * Concurrency Control" (Böttcher, thesis 2023), chapters 4 and 5, each strategy over the same store
 * of versions. A part that fails does not affect the others.
 */
final class GcBench implements Bench {
  static final String EXCESS = "max_chain_excess";

  /** For parts with points and plots only. */
  static final int ROUNDS_OF_SWEEP = 3;

  static final Map<String, String> UNITS =
      Map.ofEntries(
          Map.entry("transactions", "1/s"),
          Map.entry("rows_read", "1/s"),
          Map.entry("updates", "1/s"),
          Map.entry("snapshot_updates", "1/s"),
          Map.entry("key_updates", "1/s"),
          Map.entry("table_scans", "1/s"),
          Map.entry("cpu_us_per_tx", "us"),
          Map.entry("memory_growth_bytes", "bytes"),
          Map.entry("disk_growth_bytes", "bytes"),
          Map.entry("disk_bytes", "bytes"),
          Map.entry("disk_peak_bytes", "bytes"),
          Map.entry("disk_bound_bytes", "bytes"),
          Map.entry("version_peak_bytes", "bytes"),
          Map.entry("version_bound_bytes", "bytes"),
          Map.entry("version_memory_bytes", "bytes"),
          Map.entry("version_file_bytes", "bytes"));

  @Override
  public String name() {
    return "gc";
  }

  @Override
  public String question() {
    return "What do snapshots cost writers, and how are older versions removed?";
  }

  @Override
  public List<String> promises() {
    return List.of(
        GcReader.FIGURE,
        GcFlatness.FIGURE,
        EXCESS,
        GcTpcc.FIGURE,
        GcBegin.FIGURE,
        GcSkew.ABORTS,
        GcSkew.SPEEDUP,
        GcPeers.FIGURE,
        GcPoll.FIGURE);
  }

  @Override
  public boolean measuresSome() {
    return true;
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 2 : 3);
    try (ForkSession session =
        ForkSession.open(name(), settings, figures, rounds, Set.of(EXCESS))) {
      for (GcStrategies each : GcStrategies.values()) {
        each.describe(figures);
      }
      if (settings.wants(GcBegin.FIGURE)) {
        figures.attempt(() -> GcBegin.measure(figures, rounds, settings.quick()));
      }
      if (settings.wants(GcFlatness.FIGURE, EXCESS)) {
        figures.attempt(() -> GcFlatness.measure(session));
      }
      GcTpcc tpcc = new GcTpcc(session);
      if (settings.wants(GcTpcc.FIGURE)) {
        figures.attempt(tpcc::tune);
      }
      session.begin(60);
      if (settings.wants(GcReader.FIGURE)) {
        figures.attempt(() -> GcReader.measure(session, tpcc.frequencies()));
      }
      session.begin(85);
      if (settings.wants(GcPeers.FIGURE)) {
        figures.attempt(() -> GcPeers.measure(session));
      }
      session.begin(95);
      if (settings.wants(GcPoll.FIGURE)) {
        figures.attempt(() -> GcPoll.measure(session));
      }
      session.begin(100);
      if (settings.wants(GcSkew.ABORTS, GcSkew.SPEEDUP)) {
        figures.attempt(() -> GcSkew.measure(session));
      }
      if (settings.wants(GcTpcc.FIGURE)) {
        figures.attempt(tpcc::measure);
      }
      if (settings.isWhole()) {
        figures.attempt(() -> GcReader.sweep(session, tpcc.frequencies()));
        figures.attempt(() -> GcUpdates.measure(session, tpcc.frequencies()));
      }
      if (settings.wants(EXCESS)) {
        session.putHighest(EXCESS);
      }
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }
}
