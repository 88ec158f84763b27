package org.revenantdb.jmh.cli;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The cost of a commit, durable and lazy, part by part, compared with other engines, the disk,
 * batches, and the algorithm of the paper; and the log compared with a file. A part that fails does
 * not affect the others.
 */
final class CommitBench implements Bench {
  private static final String PEAK = "log_peak_over_bound";

  @Override
  public String name() {
    return "commit";
  }

  @Override
  public String question() {
    return "What does a commit cost, durable and lazy, and what does it cost others?";
  }

  @Override
  public List<String> promises() {
    return List.of(
        "group_commit_vs_best",
        "single_commit_vs_force",
        "lazy_vs_durable",
        "forces_never_above_commits",
        "forces_vs_page_granular",
        "reader_response_vs_batching",
        "rule_ratio",
        "log_vs_raw",
        PEAK);
  }

  @Override
  public void measure(Settings settings, Figures figures) throws CannotMeasureException {
    Rounds rounds = Rounds.of(settings, settings.quick() ? 3 : 5);
    try (ForkSession session = ForkSession.open(name(), settings, figures, rounds, Set.of(PEAK))) {
      session.begin(40);
      figures.attempt(() -> CommitGroup.measure(session));
      session.begin(48);
      figures.attempt(() -> CommitSingle.measure(session));
      session.begin(66);
      figures.attempt(() -> CommitSingle.measureLazy(session));
      session.begin(80);
      figures.attempt(() -> CommitForces.measure(session));
      session.begin(100);
      figures.attempt(() -> CommitReaders.measure(session));
      session.begin(125);
      figures.attempt(() -> CommitRule.measure(session));
      session.begin(145);
      figures.attempt(() -> CommitLog.measure(session));
      session.begin(150);
      figures.attempt(() -> CommitGroup.measureHotCounter(session));
      session.putHighest(PEAK);
    } catch (IOException e) {
      throw new CannotMeasureException("a directory for the databases: " + e.getMessage(), e);
    }
    figures.rounds(rounds.tally());
  }
}
