package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.revenantdb.chaos.oracle.Finding.Kind;
import org.revenantdb.chaos.oracle.PromisedStore.Habits;
import org.revenantdb.chaos.oracle.PromisedStore.Tx;

/**
 * The oracle against a simulated store: a legal state is never reported, and one illegal change of
 * it always is. The seed is printed; {@code -Drevenant.promises.seed} sets it.
 */
class PromiseOracleFuzzTest {

  private static final int RUNS = 1_500;

  private static long seed() {
    long seed = Long.getLong("revenant.promises.seed", System.nanoTime());
    System.out.println("promises: seed " + seed);
    return seed;
  }

  private static RandomGenerator random(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  @ParameterizedTest
  @CsvSource({
    "1, false, false",
    "1, true, true",
    "3, false, false",
    "3, true, false",
    "3, true, true"
  })
  void legalState_isNeverReported(int clients, boolean doubt, boolean unannounced) {
    long seed = seed();
    Habits habits = new Habits(clients, doubt, unannounced);
    for (int run = 0; run < RUNS; run++) {
      RandomGenerator random = random(seed + run);
      PromiseLog log = new PromiseLog();
      Map<Bytes, Bytes> start = Map.of();
      for (int life = random.nextInt(3); life >= 0; life--) {
        PromisedStore store =
            new PromisedStore(random, habits, start, life, PromiseIndex.lastGroup(log.events()));
        store.run(random.nextInt(60));
        log = continued(log, store);
        long crash = random.nextLong(0, store.now() + 2);
        for (int state = 0; state < 4; state++) {
          start = store.apply(store.survivors(crash));
          expectNothing(log.at(crash), start, seed + run);
          expectNothing(log.before(crash).at(0), start, seed + run);
        }
        log = log.before(crash);
      }
    }
  }

  private static PromiseLog continued(PromiseLog log, PromisedStore store) {
    List<PromiseEvent> events = new ArrayList<>(log.events());
    events.addAll(store.said);
    return PromiseLog.of(events);
  }

  private static void expectNothing(RecoveredState state, Map<Bytes, Bytes> content, long seed) {
    look(state, content);
    assertTrue(
        state.findings().isEmpty(), () -> "seed " + seed + ": " + state.findings() + content);
  }

  private static void look(RecoveredState state, Map<Bytes, Bytes> content) {
    Map<String, String> all = new TreeMap<>();
    content.forEach((key, value) -> all.put(key.text(), value.text()));
    state.verifyAll(all);
  }

  /**
   * One client, nothing in doubt: then every illegal change has one kind that must be among the
   * findings.
   */
  @Test
  void illegalChange_isFoundAsItsKind() {
    long seed = seed();
    Map<Kind, Integer> made = new EnumMap<>(Kind.class);
    for (int run = 0; run < 4 * RUNS || !hasMadeAll(made); run++) {
      RandomGenerator random = random(seed + run);
      PromisedStore store =
          new PromisedStore(
              random, new Habits(1, /* doubt= */ false, random.nextBoolean()), Map.of(), 0, 0);
      store.run(random.nextInt(60));
      PromiseLog log = PromiseLog.of(store.said);
      long crash = store.now() + 1;
      List<Tx> survivors = store.survivors(crash);
      Map<Bytes, Bytes> content = store.apply(survivors);
      Kind kind = new Damage(store, survivors, content, random).make();
      if (kind == null) {
        continue;
      }
      made.merge(kind, 1, Integer::sum);
      RecoveredState state = log.at(crash);
      look(state, content);
      long failing = seed + run;
      assertTrue(
          state.findings().stream().anyMatch(finding -> finding.kind() == kind),
          () ->
              ""
                  + store.said
                  + "seed "
                  + failing
                  + ": no "
                  + kind
                  + " in "
                  + state.findings()
                  + content);
    }
    System.out.println("damages: " + made);
  }

  /** Fifty of each kind. */
  private static boolean hasMadeAll(Map<Kind, Integer> made) {
    return Stream.of(
            Kind.LOST,
            Kind.RESURRECTED,
            Kind.PHANTOM,
            Kind.UNCOMMITTED,
            Kind.TORN,
            Kind.NOT_A_PREFIX)
        .allMatch(kind -> made.getOrDefault(kind, 0) > 50);
  }
}
