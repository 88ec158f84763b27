package org.revenantdb.jmh.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.commit.ForcesFork;

/**
 * The number of forces for lazy commits with durable readers: figure 3 of the paper, compared with
 * the paper's own algorithm.
 */
final class CommitForces {
  private static final List<Integer> QUICK = List.of(0, 1, 5, 20, 50);
  private static final List<Integer> FULL = List.of(0, 1, 2, 5, 10, 20, 30, 40, 50);
  private static final String DELAY_MILLIS = "2000";

  private CommitForces() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    List<Integer> rates = session.quick() ? QUICK : FULL;
    // Not a multiple of the delay: a force that falls on the end would count on one side only.
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("DIRECTORY", session.sized(9, 21), DELAY_MILLIS, session.seed()));
    rates.forEach(rate -> arguments.add(rate.toString()));
    Map<String, Sample> samples =
        session.run(
            "commit, forces of readers",
            1,
            List.of(
                new ForkSession.Child(
                    "queue", ForcesFork.class, List.of(), null, List.copyOf(arguments))),
            Map.of());
    session
        .figures()
        .setting(
            "forces",
            "counted once, as they are no time; 20 lazy entries a second, forced after 2 s");
    Plot plot =
        new Plot(
            "How many forces of the log, by durable reads a second?",
            Plot.Form.LINES,
            "durable reads a second",
            "forces",
            /* logarithmic= */ false);
    boolean neverAbove = true;
    double worst = 0;
    for (int rate : rates) {
      String at = ",reads=" + rate + ",queue";
      double ours = ForkSession.median(samples, "forces,rows" + at);
      double theirs = ForkSession.median(samples, "forces,pages" + at);
      neverAbove &= ours <= ForkSession.median(samples, "commits,rows" + at);
      worst = Math.max(worst, ours / Math.max(1, theirs));
      plot.mark("ours", Integer.toString(rate), "forces,rows" + at);
      plot.mark("page by page (the paper)", Integer.toString(rate), "forces,pages" + at);
    }
    session.figures().plot(plot);
    session.figures().put("forces_never_above_commits", neverAbove ? 1 : 0);
    session.figures().put("forces_vs_page_granular", worst);
  }
}
