package org.revenantdb.chaos.run;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.subject.Verdict;

/**
 * One thing that went wrong, with all that is needed to see it again.
 *
 * @param verdict which kind of wrong
 * @param title in a line: which crash, where in the run
 * @param findings what the oracle or the subject's own demands found; empty if there is only an
 *     exception
 * @param story several lines: the smallest set of lost, torn or failed operations that does it,
 *     each with its stack, and the exception if there was one; behind {@link #AT_LENGTH} what is
 *     too long for the eye
 * @param seed that repeats the run it was found in
 * @param file the zip that {@code --replay} takes, or null if it could not be written
 */
public record Failure(
    Verdict verdict,
    String title,
    List<Finding> findings,
    String story,
    long seed,
    @Nullable Path file) {

  /**
   * The line in a story behind which stands what is too long to be read first, such as the stacks
   * of all threads.
   */
  public static final String AT_LENGTH = "at length:";

  /** Copies the list. */
  public Failure {
    findings = List.copyOf(findings);
  }
}
