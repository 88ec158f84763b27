package org.revenantdb.chaos.run;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The root causes of failures that a test accepts, and which of them it has seen.
 *
 * <p>A root cause is a set of <em>places</em>: for each operation that has to be lost its kind and
 * the methods that it comes from, or if nothing has to be lost, what was thrown or found and where.
 * Places have no numbers of lines, no values and no crash points, so that another seed and an edit
 * elsewhere in the file do not change them. A failure has a known cause if it has all places of
 * that cause, the rule of {@link Failure#oneOfEachCause}.
 *
 * <p>Threads: any.
 */
public final class KnownFailures {

  /** Nothing is accepted. */
  public static final KnownFailures NONE = new KnownFailures(List.of(), /* learns= */ false);

  /** The number of methods of a stack that name a place, the innermost first. */
  private static final int FRAMES = 3;

  private static final int LONGEST_PLACE = 400;
  private static final Pattern SOURCE =
      Pattern.compile("\\((?:[\\w$.-]+(?::\\d+)?|Native Method|Unknown Source)\\)");
  private static final Pattern LOADER = Pattern.compile("(\\bat )(?:[^\\s/]*/)+");
  private static final Pattern LAMBDA = Pattern.compile("lambda\\$(\\w+)\\$\\d+");
  private static final Pattern QUOTED = Pattern.compile("\"[^\"]*\"");
  private static final Pattern IDENTITY = Pattern.compile("@[0-9a-f]{2,}\\b");
  private static final Pattern NUMBER = Pattern.compile("(?<![\\w])-?\\d[\\d,.]*");

  private final boolean learns;
  private final List<Set<String>> causes;
  private final List<Set<String>> learned = new CopyOnWriteArrayList<>();
  private final Map<Set<String>, Verdict> seen = new ConcurrentHashMap<>();

  private KnownFailures(Collection<Set<String>> causes, boolean learns) {
    this.causes = new CopyOnWriteArrayList<>(causes);
    this.learns = learns;
  }

  /**
   * Creates the known causes of one test.
   *
   * @param causes the places of each cause
   * @param learns whether the causes of further failures become known, too
   * @return the causes, none of them seen
   */
  public static KnownFailures of(Collection<Set<String>> causes, boolean learns) {
    return new KnownFailures(causes, learns);
  }

  /** Whether every cause has to be found, not only the first failure of each kind. */
  boolean learns() {
    return learns;
  }

  /** Whether there are known causes, so that a failure that is not told could be a new one. */
  boolean areUsed() {
    return this != NONE;
  }

  /**
   * Returns whether a failure with these places has a known cause, and notes that it was seen.
   *
   * @param places as in {@link Failure#cause}
   */
  boolean explain(Set<String> places, Verdict verdict) {
    Set<String> stable = stable(places);
    for (Set<String> cause : causes) {
      if (stable.containsAll(cause)) {
        seen.merge(cause, verdict, Verdict::worse);
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether a failure has a known cause, and notes that it was seen. If this object learns,
   * each has one afterwards.
   *
   * @param failure of the store
   * @return true if it is accepted
   */
  public synchronized boolean explain(Failure failure) {
    if (failure.verdict() == Verdict.HARNESS_BROKEN || failure.title().equals(Tally.MORE)) {
      return false;
    }
    Set<String> places = failure.cause().isEmpty() ? Set.of(failure.title()) : failure.cause();
    if (explain(places, failure.verdict())) {
      return true;
    }
    if (learns) {
      Set<String> cause = stable(places);
      learned.add(cause);
      causes.add(cause);
      seen.merge(cause, failure.verdict(), Verdict::worse);
    }
    return learns;
  }

  /**
   * Returns the causes that were not known at first.
   *
   * @return the places of each
   */
  public List<Set<String>> learned() {
    return List.copyOf(learned);
  }

  /**
   * Returns the known causes that were seen, with the worst verdict of each.
   *
   * @return a copy
   */
  public Map<Set<String>, Verdict> seen() {
    return Map.copyOf(seen);
  }

  /**
   * Returns the known causes that were not seen.
   *
   * @return the places of each
   */
  public List<Set<String>> unseen() {
    List<Set<String>> unseen = new ArrayList<>(causes);
    unseen.removeAll(seen.keySet());
    return unseen;
  }

  /**
   * Returns the cause in the form in which it is kept.
   *
   * @param places as in {@link Failure#cause}
   * @return sorted, without what another run would say otherwise
   */
  static Set<String> stable(Set<String> places) {
    return places.stream()
        .map(KnownFailures::stable)
        .filter(place -> !place.isEmpty())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String stable(String place) {
    String text = place.lines().map(String::strip).limit(FRAMES).collect(Collectors.joining(" < "));
    text = SOURCE.matcher(text).replaceAll("");
    text = LOADER.matcher(text).replaceAll("$1");
    text = LAMBDA.matcher(text).replaceAll("$1");
    text = QUOTED.matcher(text).replaceAll("\"\"");
    text = IDENTITY.matcher(text).replaceAll("@");
    text = NUMBER.matcher(text).replaceAll("#");
    // These separate the parts of a line of the file.
    text = text.replace('|', '/').replace('&', '+').replaceAll("\\s+", " ").strip();
    return text.length() <= LONGEST_PLACE ? text : text.substring(0, LONGEST_PLACE).strip();
  }
}
