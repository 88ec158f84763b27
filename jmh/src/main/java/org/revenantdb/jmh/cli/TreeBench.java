package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The cost of rows in a tree of pages, part by part: in memory compared with other engines, by mode
 * of the latches, and with a pool that holds a fifth of them. A part that fails does not affect the
 * others.
 */
final class TreeBench implements Bench {
  @Override
  public String name() {
    return "tree";
  }

  @Override
  public String question() {
    return "What do rows in a tree of pages cost, in memory and beyond it?";
  }

  @Override
  public List<String> promises() {
    return List.of(
        "read_vs_lmdb",
        "scan_vs_lmdb",
        "update_vs_tupl",
        "mix95_vs_tupl",
        "mix50_vs_tupl",
        "load_vs_tupl",
        "bytes_per_read",
        "miss_overhead_growth",
        "hybrid_vs_best");
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, 3);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of())) {
      session.begin(78);
      figures.attempt(() -> TreeMemory.measure(session));
      session.begin(125);
      figures.attempt(() -> TreeLatches.measure(session));
      session.begin(165);
      figures.attempt(() -> TreeSpill.measure(session));
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }
}
