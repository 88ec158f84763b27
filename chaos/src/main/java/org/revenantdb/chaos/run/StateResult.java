package org.revenantdb.chaos.run;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.subject.Verdict;

/**
 * What came of opening and checking one image.
 *
 * @param verdict of this image
 * @param findings of the oracle and of the subject's own demands
 * @param failure what was thrown, or null
 * @param phase what was being done last: {@code open}, {@code check}, {@code resume}, {@code
 *     close}, {@code open again}, {@code check again}, {@code a thread of the store}, or {@code
 *     done}
 * @param openNanos how long the first opening took
 * @param answers hash of all that the first check was answered
 */
public record StateResult(
    Verdict verdict,
    List<Finding> findings,
    @Nullable Throwable failure,
    String phase,
    long openNanos,
    long answers) {

  /** The phase of what a thread died of that the store had started. */
  static final String OF_A_THREAD = "a thread of the store";

  /** Copies the list. */
  public StateResult {
    findings = List.copyOf(findings);
  }

  /**
   * Whether the image was survived.
   *
   * @return true if so
   */
  public boolean survived() {
    return verdict == Verdict.SURVIVED;
  }

  /** Whether it is the death of a thread of the store. */
  boolean isOfAThread() {
    return phase.equals(OF_A_THREAD);
  }

  /**
   * What sort of failure it is, so that a thousand states with one cause are reported once.
   *
   * @return phase, kinds of findings, and the exception with the place it was thrown at
   */
  String signature() {
    String kinds =
        findings.stream()
            .map(finding -> finding.kind().name())
            .distinct()
            .sorted()
            .collect(Collectors.joining("+"));
    String thrown = "";
    if (failure != null) {
      StackTraceElement[] stack = failure.getStackTrace();
      thrown = failure.getClass().getName() + (stack.length > 0 ? " at " + stack[0] : "");
    }
    return verdict + " " + phase + " " + kinds + " " + thrown;
  }

  /**
   * What is wrong, in a line.
   *
   * @return the first finding or the exception
   */
  String summary() {
    if (failure != null) {
      return phase + " failed: " + failure;
    }
    return findings.isEmpty() ? phase : phase + ": " + findings.getFirst();
  }
}
