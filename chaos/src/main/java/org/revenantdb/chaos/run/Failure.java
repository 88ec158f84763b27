package org.revenantdb.chaos.run;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.subject.Verdict;

/**
 * One failure, with everything needed to reproduce it.
 *
 * @param verdict the kind of failure
 * @param title one line: which crash, where in the run
 * @param findings the findings of the oracle or of the subject's own conditions; empty if there is
 *     only an exception
 * @param story several lines: the smallest set of lost, torn or failed operations that causes it,
 *     each with its stack, and the exception if there was one; long texts follow behind {@link
 *     #AT_LENGTH}
 * @param seed a seed that repeats the run
 * @param file the zip for {@code --replay}, or null if it could not be written
 */
public record Failure(
    Verdict verdict,
    String title,
    List<Finding> findings,
    String story,
    long seed,
    @Nullable Path file) {

  /** The line in a story behind which the long texts follow, such as the stacks of all threads. */
  public static final String AT_LENGTH = "at length:";

  /** Copies the list. */
  public Failure {
    findings = List.copyOf(findings);
  }
}
