package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.chaos.report.ReportFolder;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.report.Surroundings;
import org.revenantdb.chaos.run.Outcome;

/**
 * The results of a class under test as a page and as JSON, in the directory of its failures. Both
 * are written anew with each result, so that a build that is killed leaves those it had.
 *
 * <p>Threads: any.
 */
final class ClassReport {
  private final Class<?> type;
  private final CrashTestSettings settings;
  private final Instant began = Instant.now();
  private final List<Outcome> parts = new ArrayList<>();

  ClassReport(Class<?> type, CrashTestSettings settings) {
    this.type = type;
    this.settings = settings;
  }

  /** Adds a result. A report that cannot be written is no failure of the test. */
  synchronized void add(Outcome outcome) {
    parts.add(outcome);
    RunReport.Builder report =
        RunReport.builder(type.getName(), settings.seed())
            .command("-D" + CrashTestSettings.SEED + "=" + settings.seed())
            .ran(began, Duration.between(began, Instant.now()))
            .surroundings(Here.SURROUNDINGS);
    for (Outcome part : parts) {
      report.part(part);
      part.seen().coverage().forEach(report::coverage);
      part.seen().faults().forEach(report::fault);
    }
    try {
      ReportFolder.of(settings.directory()).put(report.build());
    } catch (IOException | UncheckedIOException e) {
      System.out.printf(
          "%s: its report in %s could not be written: %s%n",
          type.getSimpleName(), settings.directory(), e);
    }
  }

  /** Found once in a JVM: the commit comes from another process. */
  private static final class Here {
    static final Surroundings SURROUNDINGS = Surroundings.here();
  }
}
