package org.revenantdb.suite.crash;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.report.ToothLine;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.teeth.Bite;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.Teeth;

/** The proof, before a run, that the framework finds broken stores. */
final class TeethProof {

  /** How long it takes if all goes well. */
  static final Duration LONGEST = Duration.ofSeconds(10);

  private TeethProof() {}

  /** Hunts each broken store that one of these kinds of crash finds. */
  static void prove(
      Set<Crash> crashes, Duration time, RunReport.Builder report, SuiteProgress progress) {
    List<BrokenSubjects.Broken> broken =
        BrokenSubjects.all().stream()
            .filter(one -> crashes.contains(one.trigger().crash()))
            .toList();
    int found = 0;
    for (BrokenSubjects.Broken one : broken) {
      // With the seed that found it before: how fast a fresh seed finds it depends on luck.
      Bite bite = Teeth.hunt(one, one.seed(), time.dividedBy(broken.size()).plus(LONGEST));
      found += bite.found() ? 1 : 0;
      report.tooth(
          new ToothLine(
              bite.name() + ": " + bite.broken(),
              bite.found(),
              bite.time().toNanos() / 1e9,
              bite.states(),
              bite.story()));
      progress.note(found + " of " + broken.size() + " broken stores found");
    }
  }
}
