package org.revenantdb.suite.crash;

import java.util.List;
import java.util.stream.Collectors;
import org.revenantdb.chaos.report.RunReport;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The conclusion of a run, and its exit code.
 *
 * <p>A part that could not be measured is not the store's fault, so it does not fail the run. But
 * it is reported, and the text does not say that all checks passed.
 *
 * @param text a sentence or two, or the command that repeats a failed run
 * @param exitCode 0 or 1
 */
public record Conclusion(String text, int exitCode) {

  /** The seconds in which a run measures everything. */
  private static final int ENOUGH_SECONDS = 30;

  /**
   * Concludes.
   *
   * @param report of the run
   * @param seconds the time of the run
   * @return the conclusion
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
