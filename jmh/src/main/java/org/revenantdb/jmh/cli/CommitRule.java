package org.revenantdb.jmh.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.revenantdb.jmh.commit.EngineWithoutRule;
import org.revenantdb.jmh.commit.MixFork;

/** The cost for durable readers of being safe from lazy commits when there are none. */
final class CommitRule {
  private static final String SESSIONS = "8";

  private CommitRule() {}

  static void measure(ForkSession session) throws CannotMeasureException {
    Path without =
        session.engine(
            "without-rule", "rule_ratio: the engine without the rule", EngineWithoutRule::write);
    List<String> arguments =
        List.of(
            "DIRECTORY",
            SESSIONS,
            session.sized(600, 3000),
            session.sized(1000, 4000),
            session.seed());
    Map<String, Sample> samples =
        session.run(
            "commit, the rule",
            List.of(
                new ForkSession.Child("with", MixFork.class, List.of(), null, arguments),
                new ForkSession.Child("without", MixFork.class, List.of(), without, arguments)),
            Map.of("transactions", "1/s", "cpu_us", "us"));
    double worst = Double.POSITIVE_INFINITY;
    for (String reads : List.of("50", "100")) {
      String point = "transactions,reads=" + reads;
      worst =
          Math.min(
              worst,
              ForkSession.median(samples, point + ",with")
                  / ForkSession.median(samples, point + ",without"));
    }
    session
        .figures()
        .setting(
            "rule_ratio",
            "half reads half updates by "
                + SESSIONS
                + " sessions, and reads alone by one; without: reads inform no witness, and none"
                + " waits for one; the worse of the two");
    session.figures().put("rule_ratio", worst);
  }
}
