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

  private static final int ALSO_SHOWN = 3;

  /** Copies the list. */
  public Failure {
    findings = List.copyOf(findings);
  }

  /** The failure, with what else its cause has led to at the end of its story. */
  Failure withAlso(List<String> others) {
    if (others.isEmpty()) {
      return this;
    }
    StringBuilder text = new StringBuilder("the same lost operations also led to:\n");
    others.stream().limit(ALSO_SHOWN).forEach(one -> text.append("  ").append(one).append('\n'));
    if (others.size() > ALSO_SHOWN) {
      text.append("  and ").append(others.size() - ALSO_SHOWN).append(" more\n");
    }
    int end = story.indexOf(AT_LENGTH + "\n");
    String told = (end < 0 ? story : story.substring(0, end)).stripTrailing();
    String rest = end < 0 ? "" : story.substring(end);
    return new Failure(verdict, title, findings, told + "\n" + text + rest, seed, file);
  }
}
