package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * Two processes with a standby for each task of the other one. One that processes is killed while
 * records flow, and its tasks go to the standbys. Its stores are what their changelogs hold, and so
 * are those of the other one at the end. Neither restores what it had, and the output is what a
 * model computes.
 */
@Tag("slow")
class KilledPairTest {
  private static final int KILLS =
      Integer.getInteger("revenant.kafka.kills", Boolean.getBoolean("revenant.long") ? 30 : 1);

  private static final int RECORDS = 400;
  private static final int MORE = 100;
  private static final List<String> NAMES = List.of("first", "second");

  @TempDir Path home;

  @Test
  @Drawn(oneIn = 3)
  void standbys_take_over_the_tasks_of_a_process_that_is_killed_while_records_flow()
      throws Exception {
    Random random = KilledLives.random(KilledPairTest.class);
    try (Broker broker = Brokers.start(home);
        CountingTrial trial = new CountingTrial(broker, random)) {
      List<KilledLives> lives = new ArrayList<>();
      List<KilledLives.Life> running = new ArrayList<>();
      try {
        for (String name : NAMES) {
          KilledLives each =
              trial.lives(
                  Files.createDirectory(home.resolve(name)),
                  "group.instance.id=" + name,
                  "num.standby.replicas=1");
          lives.add(each);
          running.add(each.begin());
        }
        for (int kill = 0; kill < KILLS; kill++) {
          int killed = random.nextInt(2);
          KilledLives.Life other = running.get(1 - killed);
          other.awaitStandby();
          kill(trial, NAMES.get(killed), lives.get(killed), running.get(killed), random);
          trial.awaitProcessed(lives.get(1 - killed), other);
          other.awaitPromotion();
          CountingTrial.stored(lives.get(killed)).compareWithChangelogs(home);
          trial.compareAllOutput(lives.get(1 - killed));
          running.set(killed, lives.get(killed).begin());
        }
        // The one that was killed last processes as well before the end.
        trial.send(RECORDS);
        for (KilledLives.Life each : running) {
          each.awaitCommit(() -> trial.send(MORE));
        }
        trial.awaitProcessed(lives.get(0), running.get(0));
        for (KilledLives.Life each : running) {
          each.end();
        }
      } finally {
        running.forEach(KilledLives.Life::destroy);
      }
      trial.compareAllOutput(lives.get(0));
      compareAllStores(lives);
      System.out.println(
          "KilledPairTest: %d kills, %d records, %d and %d restored"
              .formatted(KILLS, trial.sent(), lives.get(0).restored(), lives.get(1).restored()));
    }
  }

  private static void kill(
      CountingTrial trial, String name, KilledLives lives, KilledLives.Life life, Random random)
      throws Exception {
    trial.send(RECORDS);
    int commits = 1 + random.nextInt(5);
    for (int i = 0; i < commits; i++) {
      life.awaitCommit(() -> trial.send(MORE));
      trial.send(MORE);
    }
    life.kill();
    // What a broker does when the times for that are over.
    lives.fence(trial.admin());
    trial
        .admin()
        .removeMembersFromConsumerGroup(
            CountingApplication.ID,
            new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove(name + "-1"))))
        .all()
        .get();
  }

  /** Each changelog ends where the one of the two stores is that was not a standby. */
  private void compareAllStores(List<KilledLives> lives) throws Exception {
    Map<TopicPartition, Long> latest = new HashMap<>();
    for (KilledLives each : lives) {
      Map<TopicPartition, Long> stored = CountingTrial.stored(each).compareWithChangelogs(home);
      assertEquals(CountingTrial.STORES, stored.size());
      stored.forEach((changelog, at) -> latest.merge(changelog, at, Math::max));
    }
    CountingTrial.stored(lives.get(0)).demandNothingBehind(latest);
  }
}
