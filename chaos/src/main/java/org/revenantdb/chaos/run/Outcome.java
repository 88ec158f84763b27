package org.revenantdb.chaos.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.subject.Verdict;

/**
 * What a part of a run came to.
 *
 * @param name of the part, for instance {@code power cut, EXT4_ORDERED}
 * @param verdict the worst of all
 * @param reason in a sentence; empty if all survived
 * @param verdicts how often each was given
 * @param states distinct images that were opened and checked
 * @param kills processes that were killed and whose store was opened and checked
 * @param recoveryMillis how long each opening took, in milliseconds
 * @param failures what went wrong, each kind once, at most a few dozen
 */
public record Outcome(
    String name,
    Verdict verdict,
    String reason,
    Map<Verdict, Long> verdicts,
    long states,
    long kills,
    double[] recoveryMillis,
    List<Failure> failures) {

  /** Copies list and map. */
  public Outcome {
    verdicts = Map.copyOf(verdicts);
    failures = List.copyOf(failures);
  }

  /**
   * An outcome without states or kills.
   *
   * @param name of the part
   * @param verdict given once
   * @param reason in a sentence
   * @return the outcome
   */
  public static Outcome of(String name, Verdict verdict, String reason) {
    Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    verdicts.put(verdict, 1L);
    return new Outcome(name, verdict, reason, verdicts, 0, 0, new double[0], List.of());
  }

  /**
   * The same with other failures told.
   *
   * @param others instead of its own
   * @return the outcome
   */
  public Outcome withFailures(List<Failure> others) {
    return new Outcome(name, verdict, reason, verdicts, states, kills, recoveryMillis, others);
  }

  /**
   * Several outcomes as one: counts added, the worst verdict with its reason.
   *
   * @param name of the whole
   * @param all at least one
   * @return the sum
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
        name, worst.verdict(), worst.reason(), verdicts, states, kills, millis, failures);
  }
}
