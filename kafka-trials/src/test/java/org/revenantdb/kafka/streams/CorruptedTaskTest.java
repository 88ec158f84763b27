package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * A changelog no longer has what a store needs. Kafka Streams declares the task corrupted, and
 * deletes its directory; the application goes on in the same life.
 */
@Tag("slow")
class CorruptedTaskTest {
  private static final int RECORDS = 400;
  private static final int MORE = 100;
  private static final String CHANGELOG =
      CountingApplication.ID + "-" + CountingApplication.COUNTS + "-changelog";
  private static final String OF_SAME_TASK =
      CountingApplication.ID + "-" + CountingApplication.SUMS + "-changelog";

  @TempDir Path home;

  @Test
  @Drawn(oneIn = 3)
  void a_task_whose_changelog_was_cut_off_comes_back_with_what_the_changelogs_have()
      throws Exception {
    Random random = KilledLives.random(CorruptedTaskTest.class);
    try (Broker broker = Brokers.start(home);
        CountingTrial trial = new CountingTrial(broker, random)) {
      KilledLives lives = trial.lives(home);
      Map<TopicPartition, Long> behind;
      do { // the last commit may be that of the other sub-topology
        trial.send(RECORDS);
        lives.liveUntilCommit(4, () -> trial.send(MORE));
        lives.fence(trial.admin());
        behind = behind(lives, CountingTrial.stored(lives).compareWithChangelogs(home));
      } while (behind.isEmpty());
      cutOff(trial.admin());
      lives.forget(); // Kafka Streams deletes the stores of the task
      trial.send(RECORDS);
      KilledLives.Life life = lives.begin();
      try {
        trial.awaitProcessed(lives, life);
        life.end();
      } finally {
        life.destroy();
      }
      behind.forEach((changelog, at) -> demandRevived(life, changelog, at));
      StoredRows rows = CountingTrial.stored(lives);
      assertEquals(CountingTrial.STORES, rows.compareWithChangelogs(home).size());
      assertEquals(trial.sums(), rows.counts(CountingApplication.SUMS));
      assertEquals(trial.groups(), rows.counts(CountingApplication.GROUPS));
    }
  }

  /** Stores whose changelogs have more than they, and where these are. */
  private static Map<TopicPartition, Long> behind(
      KilledLives lives, Map<TopicPartition, Long> stored) {
    Map<TopicPartition, Long> behind = new HashMap<>();
    for (ConsumerRecord<byte[], byte[]> change :
        lives.committed(CHANGELOG, CountingTrial.PARTITIONS)) {
      TopicPartition changelog = new TopicPartition(CHANGELOG, change.partition());
      Long at = stored.get(changelog);
      if (at != null && change.offset() > at) {
        behind.put(changelog, at);
      }
    }
    return behind;
  }

  /** The store had its rows, and then not: it goes on with what the changelog has. */
  private static void demandRevived(KilledLives.Life life, TopicPartition changelog, long at) {
    List<Long> beginnings = life.beginnings(changelog);
    assertEquals(2, beginnings.size(), () -> changelog + ": " + beginnings);
    assertEquals(at + 1, beginnings.getFirst());
    assertTrue(beginnings.getLast() > at + 1, () -> changelog + ": " + beginnings);
    TopicPartition other = new TopicPartition(OF_SAME_TASK, changelog.partition());
    assertEquals(0, life.beginnings(other).getLast(), "all stores of the task are restored");
  }

  /** Deletes all that a changelog has. A broker refuses that for a topic that it only compacts. */
  private static void cutOff(Admin admin) throws Exception {
    ConfigResource changelog = new ConfigResource(ConfigResource.Type.TOPIC, CHANGELOG);
    AlterConfigOp both =
        new AlterConfigOp(
            new ConfigEntry("cleanup.policy", "compact,delete"), AlterConfigOp.OpType.SET);
    admin.incrementalAlterConfigs(Map.of(changelog, List.of(both))).all().get();
    Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
    for (int i = 0; i < CountingTrial.PARTITIONS; i++) {
      all.put(new TopicPartition(CHANGELOG, i), RecordsToDelete.beforeOffset(-1));
    }
    admin.deleteRecords(all).all().get();
  }
}
