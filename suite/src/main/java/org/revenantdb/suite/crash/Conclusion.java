package org.revenantdb.suite.crash;

import java.util.List;
import java.util.stream.Collectors;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The last words of a run, and its exit code.
 *
 * <p>What could not be measured is no fault of the store's, so it does not fail the run; but it is
 * said, and nobody is told that all of it held.
 *
 * @param text a sentence or two, or the command that repeats a run which failed
 * @param exitCode 0 or 1
 */
public record Conclusion(String text, int exitCode) {

  /** What a run needs that is to measure everything. */
  private static final int ENOUGH_SECONDS = 30;

  /**
   * Concludes.
   *
   * @param report of the run
   * @param seconds that it was given
   * @return what to say
   */
  public static Conclusion of(RunReport report, int seconds) {
    if (report.verdict() == Verdict.SURVIVED) {
      return new Conclusion("All checks passed.", 0);
    }
    if (report.verdict() != Verdict.NOT_MEASURED) {
      return new Conclusion("repeat: " + report.command(), 1);
    }
    List<Outcome> missing =
        report.parts().stream().filter(part -> part.verdict() == Verdict.NOT_MEASURED).toList();
    boolean nothing = missing.size() == report.parts().size();
    String names =
        missing.stream()
            .map(part -> part.name() + " (" + part.reason() + ")")
            .collect(Collectors.joining("; "));
    String text =
        (nothing ? "Nothing was measured" : "All that was measured passed; not measured") + ": ";
    boolean hurried = missing.stream().anyMatch(Outcomes::hurried);
    String hint = hurried ? "\nGive it more time: --seconds " + more(seconds) : "";
    return new Conclusion(text + (names.isEmpty() ? "no part was run" : names) + "." + hint, 0);
  }

  private static long more(int seconds) {
    return Math.max(ENOUGH_SECONDS, 3L * seconds);
  }
}
