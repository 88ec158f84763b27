package org.revenantdb.suite.crash;

import java.time.Duration;
import java.util.List;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * Runs the parts one after the other: a part that throws is {@link Verdict#HARNESS_BROKEN}, and the
 * next one still runs.
 *
 * <p>Threads: one.
 */
final class SuiteParts {

  private final RunReport.Builder report;
  private final long seed;

  SuiteParts(RunReport.Builder report, long seed) {
    this.report = report;
    this.seed = seed;
  }

  /** A part of the run. */
  @FunctionalInterface
  interface Part {
    void run(SuiteProgress progress) throws Exception;
  }

  /** Runs a part, with a progress line. */
  void run(String name, Duration budget, Part part) {
    try (SuiteProgress progress = SuiteProgress.start(name, budget)) {
      part.run(progress);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      report.part(Outcome.of(name, Verdict.HARNESS_BROKEN, "the run was interrupted"));
    } catch (Exception e) { // of the framework or the suite; the other parts still run
      StringBuilder story = new StringBuilder(e.toString());
      for (StackTraceElement frame : e.getStackTrace()) {
        story.append("\n    at ").append(frame);
      }
      Failure failure =
          new Failure(
              Verdict.HARNESS_BROKEN,
              name + " failed: " + e,
              List.of(),
              story.toString(),
              seed,
              null);
      Outcome broken = Outcome.of(name, Verdict.HARNESS_BROKEN, failure.title());
      report.part(broken.withFailures(List.of(failure)));
    }
  }
}
