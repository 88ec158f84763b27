package org.revenantdb.chaos.run;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
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
 * @param cause the places of the operations that have to be lost for it; empty if they are not
 *     known
 * @param also the titles of other failures of this cause
 */
public record Failure(
    Verdict verdict,
    String title,
    List<Finding> findings,
    String story,
    long seed,
    @Nullable Path file,
    Set<String> cause,
    List<String> also) {

  /** The line in a story behind which the long texts follow, such as the stacks of all threads. */
  public static final String AT_LENGTH = "at length:";

  private static final int ALSO_SHOWN = 3;

  /** Copies the lists. */
  public Failure {
    findings = List.copyOf(findings);
    cause = Set.copyOf(cause);
    also = List.copyOf(also);
  }

  /**
   * Creates a failure whose cause is not known.
   *
   * @param verdict the kind of failure
   * @param title one line
   * @param findings of the oracle or of the subject's own conditions
   * @param story several lines
   * @param seed that repeats the run
   * @param file the zip for {@code --replay}, or null
   */
  public Failure(
      Verdict verdict,
      String title,
      List<Finding> findings,
      String story,
      long seed,
      @Nullable Path file) {
    this(verdict, title, findings, story, seed, file, Set.of(), List.of());
  }

  /**
   * Returns one failure of each cause, with the titles of the others. A failure has the cause of
   * another one if it needs all that the other one needs: what is lost beside it only shows it in
   * another way. The failure that needs least stays; of several, the worst.
   *
   * @param all in any order
   * @return those that stay; the ones without a known cause all do
   */
  public static List<Failure> oneOfEachCause(List<Failure> all) {
    List<Failure> sorted = new ArrayList<>(all);
    sorted.sort(
        Comparator.<Failure>comparingInt(one -> one.cause.size())
            .thenComparing(Failure::verdict, Comparator.reverseOrder()));
    List<Failure> kept = new ArrayList<>();
    for (Failure one : sorted) {
      int known = 0;
      while (known < kept.size() && !one.hasCauseOf(kept.get(known))) {
        known++;
      }
      if (known == kept.size()) {
        kept.add(one);
      } else {
        kept.set(known, kept.get(known).withAlso(one));
      }
    }
    return List.copyOf(kept);
  }

  private boolean hasCauseOf(Failure other) {
    return !other.cause.isEmpty() && cause.containsAll(other.cause);
  }

  private Failure withAlso(Failure other) {
    List<String> others = new ArrayList<>(also);
    others.add(other.title);
    others.addAll(other.also);
    return new Failure(verdict, title, findings, story, seed, file, cause, others);
  }

  /**
   * Returns what the story tells before the long texts, with the other failures of the cause at the
   * end.
   *
   * @return several lines
   */
  public String told() {
    String told = story.substring(0, endOfTold());
    if (also.isEmpty()) {
      return told;
    }
    List<String> others = also.stream().map(one -> one.split("; ", 2)[0]).distinct().toList();
    StringBuilder text = new StringBuilder(told.stripTrailing());
    text.append("\nthe same lost operations also led to:\n");
    others.stream().limit(ALSO_SHOWN).forEach(one -> text.append("  ").append(one).append('\n'));
    if (others.size() > ALSO_SHOWN) {
      text.append("  and ").append(others.size() - ALSO_SHOWN).append(" more\n");
    }
    return text.toString();
  }

  /**
   * Returns the long texts of the story, from {@link #AT_LENGTH} on.
   *
   * @return several lines; empty if there are none
   */
  public String atLength() {
    return story.substring(endOfTold());
  }

  private int endOfTold() {
    int end = story.indexOf(AT_LENGTH + "\n");
    return end < 0 ? story.length() : end;
  }

  /**
   * Returns {@link #told()} and {@link #atLength()}.
   *
   * @return several lines
   */
  public String whole() {
    return told() + atLength();
  }
}
