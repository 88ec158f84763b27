package org.revenantdb.chaos.junit;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.Bite;

/**
 * The texts that a crash test prints.
 *
 * @param subject class under test
 * @param test the name of the test
 * @param seed that repeats it
 */
record OutcomeText(Class<?> subject, String test, long seed) {

  private static final int FINDINGS_SHOWN = 5;
  private static final int FAILURES_SHOWN = 3;

  /** One line: verdict, number of crashes, checks and states, duration of recovery, seed. */
  String line(Outcome outcome) {
    StringBuilder line = new StringBuilder(title()).append(": ").append(outcome.verdict());
    if (outcome.verdict() == Verdict.NOT_MEASURED) {
      line.append(", ").append(outcome.reason().lines().findFirst().orElse(""));
    } else {
      line.append("; ").append(counts(outcome)).append(recovery(outcome));
    }
    return line.append("; seed ").append(seed).toString();
  }

  /** What was seen of the store. */
  String seen(String what) {
    return title() + ": seen " + what;
  }

  /** A warning that repeated values hide losses from the oracle. */
  String repeated(int values) {
    return """
    %s: warning: %d value(s) were given to the same key more than once, which hides losses: the\
     oracle cannot tell such writes apart. Give each write a value of its own\
    """
        .formatted(title(), values);
  }

  /** A failure that is accepted. */
  String known(Path baseline, Verdict verdict, String cause, boolean isNew) {
    return "%s: %s, %s %s: %s"
        .formatted(title(), verdict, isNew ? "written to" : "accepted by", baseline, cause);
  }

  /** An accepted failure that did not occur. */
  String unseen(Path baseline, String cause) {
    return "%s: not seen, though it is in %s: %s; if it is mended and not only missed by a short run, delete its line"
        .formatted(title(), baseline, cause);
  }

  /** The reason why the test has no result. */
  String notMeasured(String reason, String seen) {
    return Verdict.NOT_MEASURED
        + ": "
        + title()
        + "\n\n"
        + reason
        + (seen.isEmpty() ? "" : "\n\nseen " + seen);
  }

  /** The whole report of a failure. */
  String failure(Outcome outcome) {
    StringBuilder text = new StringBuilder();
    text.append(outcome.verdict()).append(": ").append(title());
    text.append("; ").append(counts(outcome)).append('\n');
    if (!outcome.seen().text().isEmpty()) {
      text.append("seen ").append(outcome.seen().text()).append('\n');
    }
    List<Failure> failures = worstFirst(outcome.failures());
    if (failures.isEmpty()) {
      text.append('\n').append(outcome.reason()).append('\n');
    }
    failures.stream().limit(FAILURES_SHOWN).forEach(failure -> append(text, failure));
    if (failures.size() > FAILURES_SHOWN) {
      text.append('\n').append(failures.size() - FAILURES_SHOWN).append(" more kinds of failure\n");
    }
    text.append("\nrepeat with -D").append(CrashTestSettings.SEED).append('=').append(seed);
    failures.stream().limit(FAILURES_SHOWN).forEach(failure -> appendRest(text, failure));
    return text.toString();
  }

  private static void append(StringBuilder text, Failure failure) {
    text.append('\n').append(failure.title()).append('\n');
    List<String> findings =
        failure.findings().stream()
            .map(Finding::toString)
            .filter(finding -> !failure.title().contains(finding))
            .toList();
    findings.stream()
        .limit(FINDINGS_SHOWN)
        .forEach(finding -> text.append("  ").append(finding).append('\n'));
    if (findings.size() > FINDINGS_SHOWN) {
      text.append("  and ").append(findings.size() - FINDINGS_SHOWN).append(" more\n");
    }
    String story = failure.told();
    if (!story.isBlank()) {
      text.append(story.stripTrailing().indent(2));
    }
    if (failure.file() != null) {
      text.append("kept in ").append(failure.file()).append('\n');
      text.append("open that one state again with -D")
          .append(CrashTestSettings.REPLAY)
          .append('=')
          .append(failure.file())
          .append('\n');
    }
  }

  /**
   * Appends what is too long for the beginning of the report, such as the stacks of all threads.
   */
  private static void appendRest(StringBuilder text, Failure failure) {
    String rest = failure.atLength();
    if (!rest.isBlank()) {
      text.append("\n\n").append(failure.title()).append(", ").append(rest.strip());
    }
  }

  /** The framework does not find a store that is broken on purpose. */
  String toothless(Bite bite) {
    return """
    %s: %s

    the framework does not find a store that is broken on purpose, so it proves nothing here:
    %s (%s) %s\
    """
        .formatted(Verdict.HARNESS_BROKEN, title(), bite.name(), bite.broken(), bite.story());
  }

  /** The result of a state that was opened again. */
  String replayed(Verdict verdict, List<Finding> findings, String story) {
    StringBuilder text = new StringBuilder();
    text.append(verdict).append(": ").append(title()).append('\n');
    append(text, new Failure(verdict, "opened again:", findings, story, seed, null));
    return text.toString().stripTrailing();
  }

  private String title() {
    return subject.getSimpleName() + ", " + test;
  }

  private static List<Failure> worstFirst(List<Failure> failures) {
    return failures.stream().sorted((a, b) -> b.verdict().compareTo(a.verdict())).toList();
  }

  /** The numbers of verdicts add up to the number of checks. */
  private static String counts(Outcome outcome) {
    EnumMap<Verdict, Long> sorted = new EnumMap<>(Verdict.class);
    sorted.putAll(outcome.verdicts());
    String verdicts =
        sorted.entrySet().stream()
            .map(entry -> entry.getValue() + " " + entry.getKey())
            .collect(Collectors.joining(", "));
    String kills = outcome.kills() == 0 ? "" : outcome.kills() + " kills, ";
    String states =
        outcome.states() == 0
            ? ""
            : "%d checks of %d different states: ".formatted(outcome.checks(), outcome.states());
    return kills + states + verdicts;
  }

  private static String recovery(Outcome outcome) {
    double[] millis = outcome.recoveryMillis().clone();
    if (millis.length == 0) {
      return "";
    }
    Arrays.sort(millis);
    return String.format(
        Locale.ROOT,
        "; opening took %.2f ms (median), %.2f ms at most",
        millis[millis.length / 2],
        millis[millis.length - 1]);
  }
}
