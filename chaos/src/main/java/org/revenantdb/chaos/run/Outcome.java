package org.revenantdb.chaos.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.subject.Verdict;

/**
 * The result of a part of a run.
 *
 * @param name of the part, for instance {@code power cut, EXT4_ORDERED}
 * @param verdict the worst verdict
 * @param reason in a sentence; empty if all survived
 * @param verdicts how often each verdict occurred: one for each check
 * @param states distinct images that were opened and checked
 * @param kills processes that were killed and whose store was opened and checked
 * @param recoveryMillis the duration of each opening, in milliseconds
 * @param failures the failures, each cause once, at most a few dozen
 * @param seen what was seen of the store
 */
public record Outcome(
    String name,
    Verdict verdict,
    String reason,
    Map<Verdict, Long> verdicts,
    long states,
    long kills,
    double[] recoveryMillis,
    List<Failure> failures,
    Seen seen) {

  /** Copies list and map. */
  public Outcome {
    verdicts = Map.copyOf(verdicts);
    failures = List.copyOf(failures);
  }

  /**
   * Creates an outcome that does not tell what was seen.
   *
   * @param name of the part
   * @param verdict the worst verdict
   * @param reason in a sentence
   * @param verdicts how often each verdict occurred
   * @param states distinct images
   * @param kills processes
   * @param recoveryMillis the duration of each opening
   * @param failures the failures
   */
  public Outcome(
      String name,
      Verdict verdict,
      String reason,
      Map<Verdict, Long> verdicts,
      long states,
      long kills,
      double[] recoveryMillis,
      List<Failure> failures) {
    this(name, verdict, reason, verdicts, states, kills, recoveryMillis, failures, Seen.NOTHING);
  }

  /**
   * Returns an outcome without states or kills.
   *
   * @param name of the part
   * @param verdict the only verdict
   * @param reason in a sentence
   * @return the outcome
   */
  public static Outcome of(String name, Verdict verdict, String reason) {
    Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    verdicts.put(verdict, 1L);
    return new Outcome(name, verdict, reason, verdicts, 0, 0, new double[0], List.of());
  }

  /**
   * Returns how many checks there were. A state is checked again at a later crash point if the
   * store had promised more by then, so there may be more checks than states.
   *
   * @return the sum of {@link #verdicts}
   */
  public long checks() {
    return verdicts.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Returns the outcome with other failures.
   *
   * @param others instead of its own
   * @return the changed outcome
   */
  public Outcome withFailures(List<Failure> others) {
    return new Outcome(
        name, verdict, reason, verdicts, states, kills, recoveryMillis, others, seen);
  }

  /**
   * Returns the outcome with what was seen of the store.
   *
   * @param what instead of its own
   * @return the changed outcome
   */
  public Outcome withSeen(Seen what) {
    return new Outcome(
        name, verdict, reason, verdicts, states, kills, recoveryMillis, failures, what);
  }

  /**
   * Combines several outcomes: counts added, the worst verdict with its reason, one failure of each
   * cause. What was seen is known only if all have seen the same, for instance of one recording.
   *
   * @param name of the combination
   * @param all at least one
   * @return the combination
   */
  public static Outcome sum(String name, List<Outcome> all) {
    Outcome worst = all.getFirst();
    Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    List<Failure> failures = new ArrayList<>();
    long states = 0;
    long kills = 0;
    for (Outcome one : all) {
      worst = one.verdict().compareTo(worst.verdict()) > 0 ? one : worst;
      one.verdicts().forEach((verdict, count) -> verdicts.merge(verdict, count, Long::sum));
      failures.addAll(one.failures());
      states += one.states();
      kills += one.kills();
    }
    double[] millis =
        all.stream().flatMapToDouble(one -> Arrays.stream(one.recoveryMillis())).toArray();
    return new Outcome(
        name,
        worst.verdict(),
        worst.reason(),
        verdicts,
        states,
        kills,
        millis,
        Failure.oneOfEachCause(failures),
        all.stream().map(Outcome::seen).distinct().count() == 1
            ? all.getFirst().seen()
            : Seen.NOTHING);
  }
}
