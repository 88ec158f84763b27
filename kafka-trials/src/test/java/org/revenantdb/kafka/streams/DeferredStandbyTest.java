package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.StandbyUpdateListener;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.TimestampedBytesStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Transaction;
import org.revenantdb.kafka.trials.Broker;
import org.revenantdb.testing.Drawn;

/**
 * Kafka's own state updater brings up a standby that lacks more records than a ready one may, and
 * commits it behind each batch. The store defers these commits until it is ready, and writes at
 * each later one.
 */
@Tag("slow")
class DeferredStandbyTest {
  private static final String ID = "deferred";
  private static final String TOPIC = "in";
  private static final String STORE = "counts";
  private static final TopicPartition CHANGELOG =
      new TopicPartition(ID + "-" + STORE + "-changelog", 0);

  /** A standby is ready when it lacks at most so many. */
  private static final long READY = 10_000;

  private static final int BATCH = 1_000;

  /** Three batches more than a ready standby may lack. */
  private static final int RECORDS = 13_000;

  private static final long COMMIT_MILLIS = 1;

  @TempDir Path home;

  /**
   * A commit of the state updater.
   *
   * @param lag records that the standby lacked; empty if that was not known
   * @param offset where it was
   * @param stored the offset that the store had behind it
   * @param hasRows whether others found rows in the store behind it
   */
  private record Commit(OptionalLong lag, long offset, long stored, boolean hasRows) {
    boolean isOfReady() {
      return lag.orElse(0) <= READY;
    }

    boolean hasWritten() {
      return offset == stored && hasRows;
    }
  }

  @Test
  @Drawn(oneIn = 3)
  void commits_of_a_standby_are_deferred_until_it_is_ready_and_each_later_one_writes()
      throws Exception {
    List<Commit> commits = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch complete = new CountDownLatch(1);
    try (Broker broker = Brokers.start(home);
        Admin admin = broker.admin()) {
      broker.createTopics(1, TOPIC);
      try (Sending sending = new Sending(broker)) {
        for (int i = 0; i < RECORDS; i++) {
          sending.send(new ProducerRecord<>(TOPIC, 0, "key " + i, (long) i));
        }
      }
      try (KafkaStreams first = instance(broker, "first", _ -> {})) {
        first.start();
        awaitProcessed(admin);
        try (KafkaStreams second =
            instance(
                broker,
                "second",
                commit -> {
                  commits.add(commit);
                  if (commit.lag.orElse(0) == 0 && commit.hasWritten()) {
                    complete.countDown();
                  }
                })) {
          second.setStandbyUpdateListener(new CommitBehindEachBatch());
          second.start();
          complete.await();
        }
      }
    }
    List<Commit> ofReady = commits.stream().filter(Commit::isOfReady).toList();
    List<Commit> deferred = commits.stream().filter(commit -> !commit.isOfReady()).toList();
    System.out.println(
        "DeferredStandbyTest: %d commits deferred, %d not, the first one %s"
            .formatted(deferred.size(), ofReady.size(), ofReady.getFirst()));
    assertTrue(deferred.size() >= 2, () -> "commits before it was ready: " + commits);
    for (Commit commit : deferred) {
      assertEquals(TaskStore.OFFSET_UNKNOWN, commit.stored, () -> "written by " + commit);
      assertFalse(commit.hasRows, () -> "written by " + commit);
    }
    for (Commit commit : ofReady) {
      assertTrue(commit.hasWritten(), () -> "not written by " + commit);
    }
    assertEquals(deferred.size(), commits.indexOf(ofReady.getFirst()), "it was ready once");
  }

  /**
   * Kafka commits when a millisecond has passed since the last commit, and it looks behind this.
   */
  private static final class CommitBehindEachBatch implements StandbyUpdateListener {
    @Override
    public void onUpdateStart(TopicPartition of, String store, long first) {}

    @Override
    public void onBatchLoaded(
        TopicPartition of, String store, TaskId task, long at, long records, long end) {
      long now = System.currentTimeMillis();
      while (System.currentTimeMillis() - now <= COMMIT_MILLIS) {
        Thread.onSpinWait();
      }
    }

    @Override
    public void onUpdateSuspended(
        TopicPartition of, String store, long at, long end, SuspendReason reason) {}
  }

  private static void awaitProcessed(Admin admin) throws InterruptedException, ExecutionException {
    long processed = 0;
    while (processed != RECORDS) {
      TimeUnit.MILLISECONDS.sleep(20);
      processed = 0;
      Map<TopicPartition, OffsetAndMetadata> offsets =
          admin.listConsumerGroupOffsets(ID).partitionsToOffsetAndMetadata().get();
      for (OffsetAndMetadata offset : offsets.values()) {
        processed += offset == null ? 0 : offset.offset();
      }
    }
  }

  private KafkaStreams instance(Broker broker, String name, Consumer<Commit> watcher) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, ID);
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.servers());
    properties.put(StreamsConfig.STATE_DIR_CONFIG, home.resolve(name).toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, COMMIT_MILLIS);
    properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
    properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, 1);
    properties.put(
        StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
    properties.put(
        StreamsConfig.restoreConsumerPrefix(ConsumerConfig.MAX_POLL_RECORDS_CONFIG), BATCH);
    properties.put(
        StreamsConfig.DEFAULT_CLIENT_SUPPLIER_CONFIG, RevenantClientSupplier.class.getName());
    properties.put(RevenantConfig.POOL_BYTES, 32L << 20);
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream(TOPIC, Consumed.with(Serdes.String(), Serdes.Long()))
        .groupByKey(Grouped.with(Serdes.String(), Serdes.Long()))
        .count(
            Materialized.<String, Long>as(new WatchedSupplier(watcher))
                .withKeySerde(Serdes.String()));
    return new KafkaStreams(builder.build(properties), properties);
  }

  private record WatchedSupplier(Consumer<Commit> watcher) implements KeyValueBytesStoreSupplier {
    @Override
    public String name() {
      return STORE;
    }

    @Override
    public KeyValueStore<Bytes, byte[]> get() {
      return new Watched(watcher);
    }

    @Override
    public String metricsScope() {
      return RevenantStores.SCOPE;
    }
  }

  /** Reports each commit of the thread that restores. */
  private static final class Watched extends RevenantStore implements TimestampedBytesStore {
    private final Consumer<Commit> watcher;

    Watched(Consumer<Commit> watcher) {
      super(STORE);
      this.watcher = watcher;
    }

    @Override
    String format() {
      return "timestamped";
    }

    @Override
    public void commit(Map<TopicPartition, Long> offsets) {
      super.commit(offsets);
      Long at = offsets.get(CHANGELOG);
      if (at != null && at >= 0 && Thread.currentThread().getName().contains("StateUpdater")) {
        Long stored = committedOffset(CHANGELOG);
        watcher.accept(
            new Commit(RestoreLag.of(CHANGELOG), at, stored == null ? -1 : stored, hasRows()));
      }
    }

    /** Not by the store, which would write them first. */
    private boolean hasRows() {
      try (Transaction tx = read();
          Cursor rows = tx.scan(table(), StoreKeys.OWN_TO, null)) {
        return rows.next();
      }
    }
  }
}
