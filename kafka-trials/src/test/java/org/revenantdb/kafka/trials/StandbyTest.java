package org.revenantdb.kafka.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.StandbyUpdateListener;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.kafka.streams.Brokers;
import org.revenantdb.kafka.streams.RevenantConfig;
import org.revenantdb.testing.Drawn;

/**
 * Two instances of an application with a standby of each task, beside a real broker. When one
 * leaves, the standbys of the other one are promoted and need no restoration; when it is back, it
 * goes on with the stores that it had. What they count is what was sent.
 */
@Tag("slow")
class StandbyTest {
  private static final String ID = "standby";
  private static final int KEYS = 300;
  private static final int RECORDS = 400;

  @TempDir Path home;

  @Test
  @Drawn(oneIn = 2)
  void a_standby_is_promoted_without_a_restoration() throws Exception {
    long seed = Long.getLong("revenant.kafka.seed", new Random().nextLong());
    System.out.println("StandbyTest: repeat with -Drevenant.kafka.seed=" + seed);
    try (Broker broker = Brokers.start(home);
        Admin admin = broker.admin()) {
      broker.createTopics(Counting.PARTITIONS, ID);
      try (Input input = new Input(broker.servers(), ID, KEYS, seed)) {
        input.sendEachKey();
        try (Instance first = new Instance(broker, "first")) {
          first.awaitRunning();
          try (Instance second = new Instance(broker, "second")) {
            input.send(RECORDS);
            awaitProcessed(admin, input);
            second.awaitChecksum(input.expected());
            long before = second.restored.get();
            first.leave();
            while (second.actives() != Counting.PARTITIONS) {
              pause();
            }
            assertEquals(before, second.restored.get(), "a standby had all records");
            second.awaitChecksum(input.expected());
            input.send(RECORDS);
            awaitProcessed(admin, input);
            second.awaitChecksum(input.expected());
            try (Instance again = new Instance(broker, "first")) {
              input.send(RECORDS);
              awaitProcessed(admin, input);
              again.awaitChecksum(input.expected());
              second.leave();
              while (again.actives() != Counting.PARTITIONS) {
                pause();
              }
              again.awaitChecksum(input.expected());
              assertTrue(
                  again.restored.get() + again.loaded.get() <= 2L * RECORDS,
                  () -> "more than was sent meanwhile: " + again.restored + ", " + again.loaded);
            }
          }
        }
      }
    }
  }

  private static void pause() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(20);
  }

  private static void awaitProcessed(Admin admin, Input input)
      throws InterruptedException, ExecutionException {
    long processed = 0;
    while (processed != input.sent()) {
      pause();
      processed = 0;
      Map<TopicPartition, OffsetAndMetadata> offsets =
          admin.listConsumerGroupOffsets(ID).partitionsToOffsetAndMetadata().get();
      for (OffsetAndMetadata offset : offsets.values()) {
        processed += offset == null ? 0 : offset.offset();
      }
    }
  }

  /** An instance with a state directory of its own. */
  private final class Instance implements AutoCloseable {
    private final AtomicLong restored = new AtomicLong();

    /** By standbys. */
    private final AtomicLong loaded = new AtomicLong();

    private final CountDownLatch running = new CountDownLatch(1);
    private final KafkaStreams streams;

    Instance(Broker broker, String name) {
      Properties properties =
          Counting.properties(Stores.REVENANT, broker.servers(), home.resolve(name), ID, "unused");
      properties.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG); // it leaves at once
      properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 1);
      properties.put(RevenantConfig.POOL_BYTES, 8L << 20);
      streams =
          new KafkaStreams(
              Counting.topology(properties, ID, /* isWindowed= */ false, () -> {}), properties);
      streams.setGlobalStateRestoreListener(
          new StateRestoreListener() {
            @Override
            public void onRestoreStart(TopicPartition of, String store, long first, long end) {}

            @Override
            public void onBatchRestored(TopicPartition of, String store, long end, long records) {
              restored.addAndGet(records);
            }

            @Override
            public void onRestoreEnd(TopicPartition of, String store, long records) {}
          });
      streams.setStandbyUpdateListener(
          new StandbyUpdateListener() {
            @Override
            public void onUpdateStart(TopicPartition of, String store, long first) {}

            @Override
            public void onBatchLoaded(
                TopicPartition of, String store, TaskId task, long at, long records, long end) {
              loaded.addAndGet(records);
            }

            @Override
            public void onUpdateSuspended(
                TopicPartition of, String store, long at, long end, SuspendReason reason) {}
          });
      streams.setStateListener((now, before) -> {
        if (now == KafkaStreams.State.RUNNING) {
          running.countDown();
        }
      });
      streams.start();
    }

    void awaitRunning() throws InterruptedException {
      running.await();
    }

    /** How many tasks it processes; 0 while it is not running. */
    long actives() {
      return streams.state() != KafkaStreams.State.RUNNING
          ? 0
          : streams.metadataForLocalThreads().stream()
              .mapToLong(thread -> thread.activeTasks().size())
              .sum();
    }

    /** Of tasks and standbys; empty while one of them is not there. */
    String checksum() {
      Checksum checksum = new Checksum();
      try (KeyValueIterator<Long, Long> rows =
          streams
              .store(
                  StoreQueryParameters.fromNameAndType(
                          Counting.STORE, QueryableStoreTypes.<Long, Long>keyValueStore())
                      .enableStaleStores())
              .all()) {
        rows.forEachRemaining(row -> checksum.add(row.key, row.value));
        return checksum.toString();
      } catch (InvalidStateStoreException notNow) {
        return "";
      }
    }

    /** The stores commit behind the producer, and standbys behind the stores. */
    void awaitChecksum(Checksum expected) throws InterruptedException {
      while (!checksum().equals(expected.toString())) {
        pause();
      }
    }

    void leave() {
      streams.close(
          CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
    }

    @Override
    public void close() {
      streams.close();
    }
  }
}
