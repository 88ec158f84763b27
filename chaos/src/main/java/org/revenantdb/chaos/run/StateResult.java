package org.revenantdb.chaos.run;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The result of opening and checking one image.
 *
 * @param verdict of this image
 * @param findings of the oracle and of the subject's own conditions
 * @param failure the exception, or null
 * @param phase the last phase: {@code open}, {@code check}, {@code resume}, {@code close}, {@code
 *     open again}, {@code check again}, {@code a thread of the store}, or {@code done}
 * @param openNanos the duration of the first opening
 * @param answers hash of all answers in the first check
 */
public record StateResult(
    Verdict verdict,
    List<Finding> findings,
    @Nullable Throwable failure,
    String phase,
    long openNanos,
    long answers) {

  /** The phase of an uncaught exception in a thread of the store. */
  static final String OF_A_THREAD = "a thread of the store";

  /** Copies the list. */
  public StateResult {
    findings = List.copyOf(findings);
  }

  /**
   * Returns whether the image was survived.
   *
   * @return true if it was
   */
  public boolean survived() {
    return verdict == Verdict.SURVIVED;
  }

  /** Whether it is an uncaught exception in a thread of the store. */
  boolean isOfAThread() {
    return phase.equals(OF_A_THREAD);
  }

  /** Whether the check did not end. */
  boolean hangs() {
    return failure instanceof Hang;
  }

  /**
   * Returns the kind of failure, so that a thousand states with one cause are reported once.
   *
   * @return phase, kinds of findings, and the exception with its place
   */
  public String signature() {
    String kinds =
        findings.stream()
            .map(finding -> finding.kind().name())
            .distinct()
            .sorted()
            .collect(Collectors.joining("+"));
    String thrown = "";
    if (failure != null) {
      StackTraceElement[] stack = failure.getStackTrace();
      thrown = RemoteFailure.typeOf(failure) + (stack.length > 0 ? " at " + stack[0] : "");
    }
    return verdict + " " + phase + " " + kinds + " " + thrown;
  }

  /**
   * Returns what is wrong, in one line.
   *
   * @return the first finding, the exception, or both in this order
   */
  public String summary() {
    if (failure != null) {
      String before = findings.isEmpty() ? "" : " after a finding (" + findings.getFirst() + ")";
      return phase + " failed" + before + ": " + failure;
    }
    return findings.isEmpty() ? phase : phase + ": " + findings.getFirst();
  }
}
