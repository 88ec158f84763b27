package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * A real broker, and an application of two sub-topologies that is killed while it counts. After
 * each kill the rows of each store are what its changelog holds up to the store's own offset, and
 * that offset is at most one transaction of the producer behind. If it counts exactly once, the
 * output is what a model computes for the input that is processed. At the end output, stores and
 * changelogs are what it computes for all of it; at least once, they are not less.
 */
@Tag("slow")
class KilledApplicationTest {
  private static final boolean LONG = Boolean.getBoolean("revenant.long");
  private static final int KILLS = Integer.getInteger("revenant.kafka.kills", LONG ? 200 : 2);
  private static final int FEWER_KILLS = Integer.getInteger("revenant.kafka.kills", LONG ? 40 : 1);
  private static final int RECORDS = 400;

  /** Sent after each commit that the application tells of, so that another one comes. */
  private static final int MORE = 100;

  /** Twice as many lines as the application writes until it is running. */
  private static final int LINES_OF_A_START = 30;

  @TempDir Path home;

  private final Random random = KilledLives.random(KilledApplicationTest.class);

  @Test
  void an_application_that_is_killed_counts_exactly_once_and_restores_what_is_missing()
      throws Exception {
    countExactlyOnce(/* brokers= */ 1, KILLS);
  }

  /** Every other life is beside two of three brokers. */
  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void beside_three_brokers_of_which_one_is_killed_it_counts_exactly_once() throws Exception {
    countExactlyOnce(/* brokers= */ 3, FEWER_KILLS);
  }

  @Test
  @Drawn(oneIn = 4)
  void with_two_threads_that_commit_together_it_counts_exactly_once() throws Exception {
    countExactlyOnce(/* brokers= */ 1, FEWER_KILLS, "num.stream.threads=2");
  }

  private void countExactlyOnce(int brokers, int kills, String... properties) throws Exception {
    try (Broker broker = Brokers.start(home, brokers);
        CountingTrial trial = new CountingTrial(broker, random)) {
      KilledLives lives = trial.lives(home, properties);
      kill(trial, lives, kills, /* isExact= */ true);
      trial.compareAll(lives, home);
    }
  }

  @Test
  @Drawn(oneIn = 3)
  void an_application_that_is_killed_loses_nothing_at_least_once() throws Exception {
    try (Broker broker = Brokers.start(home);
        CountingTrial trial = new CountingTrial(broker, random)) {
      KilledLives lives = trial.lives(home, "processing.guarantee=at_least_once");
      kill(trial, lives, FEWER_KILLS, /* isExact= */ false);
      StoredRows rows = CountingTrial.stored(lives);
      Map<TopicPartition, Long> stored = rows.compareWithChangelogs(home);
      assertEquals(CountingTrial.STORES, stored.size());
      rows.demandNothingBehind(stored);
      Map<String, Long> counts = rows.counts(CountingApplication.COUNTS);
      demandAtLeast(trial.counts(), counts);
      assertEquals(counts, CountingTrial.last(lives, "out"));
      demandAtLeast(trial.sums(), rows.counts(CountingApplication.SUMS));
      Map<String, Long> groups = rows.counts(CountingApplication.GROUPS);
      demandAtLeast(trial.groups(), groups);
      assertEquals(groups, CountingTrial.last(lives, "grouped"));
    }
  }

  private static void demandAtLeast(Map<String, Long> least, Map<String, Long> found) {
    assertEquals(least.keySet(), found.keySet());
    least.forEach((key, value) ->
        assertTrue(
            value <= found.getOrDefault(key, 0L),
            () -> key + ": " + value + ", " + found.get(key)));
  }

  private void kill(CountingTrial trial, KilledLives lives, int kills, boolean isExact)
      throws Exception {
    int first = random.nextInt(4);
    for (int kill = 0; kill < kills; kill++) {
      trial.send(RECORDS);
      lives.live(first + kill, LINES_OF_A_START, random, () -> trial.send(MORE));
      CountingTrial.stored(lives).compareWithChangelogs(home);
      if (isExact && (!LONG || random.nextInt(10) == 0)) {
        lives.fence(trial.admin());
        trial.compareOutput(lives);
      }
      if (LONG && (kill + 1) % 20 == 0) {
        System.out.println(
            "KilledApplicationTest: %d kills, %d restored".formatted(kill + 1, lives.restored()));
      }
    }
    trial.send(RECORDS);
    lives.last(life -> trial.awaitProcessed(lives, life));
    System.out.println(
        "KilledApplicationTest: %d kills, %d records, %d restored"
            .formatted(kills, trial.sent(), lives.restored()));
  }
}
