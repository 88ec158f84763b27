package org.revenantdb.chaos.examples;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;
import org.jspecify.annotations.Nullable;

/**
 * The log of a partition of Apache Kafka, with {@code flush.messages=1}: "if this was set to 1 we
 * would fsync after every message". The same text goes on: "In general we recommend you not set
 * this and use replication for durability". A commit is one batch, and the last record of a key
 * counts.
 *
 * <p>What the broker's log manager does around a log is done here. It writes the recovery points to
 * a file from time to time (each minute, here at each tenth commit) and at its end, and opens each
 * log with the point from that file. Each opening is that of a broker that did not end in order.
 */
final class KafkaSubject extends PairSubject<KafkaSubject.Opened> {
  private static final TopicPartition PARTITION = new TopicPartition("pairs", 0);
  private static final int COMMITS_OF_A_CHECKPOINT = 10;
  private static final int EPOCH = 0;
  private static final int MOST_BYTES = 1 << 20;

  /** With the usual 1 GiB no log would ever get a second segment, and an index is mapped memory. */
  private static final int SEGMENT = 48 << 10;

  private static final int INDEX = 4 << 10;

  /** A log, and what a broker has around it. */
  static final class Opened implements AutoCloseable {
    private final UnifiedLog log;
    private final OffsetCheckpointFile points;
    private final KafkaScheduler scheduler;
    private int commits;

    Opened(UnifiedLog log, OffsetCheckpointFile points, KafkaScheduler scheduler) {
      this.log = log;
      this.points = points;
      this.scheduler = scheduler;
    }

    private void checkpoint() {
      points.write(Map.of(PARTITION, log.recoveryPoint()));
    }

    @Override
    public void close() {
      try {
        log.flush(/* forceFlushActiveSegment= */ true);
        log.close();
        checkpoint();
      } finally {
        stop(scheduler);
      }
    }
  }

  @Override
  public Opened open(Path dir) throws IOException {
    Map<String, Object> settings = new HashMap<>();
    settings.put(TopicConfig.FLUSH_MESSAGES_INTERVAL_CONFIG, "1");
    settings.put(LogConfig.INTERNAL_SEGMENT_BYTES_CONFIG, Integer.toString(SEGMENT));
    settings.put(TopicConfig.SEGMENT_INDEX_BYTES_CONFIG, Integer.toString(INDEX));
    LogDirFailureChannel failures = new LogDirFailureChannel(1);
    File points = new File(dir.toFile(), LogManager.RECOVERY_POINT_CHECKPOINT_FILE);
    OffsetCheckpointFile file = new OffsetCheckpointFile(points, failures);
    KafkaScheduler scheduler = new KafkaScheduler(1);
    scheduler.startup();
    try {
      UnifiedLog log =
          UnifiedLog.create(
              new File(dir.toFile(), PARTITION.toString()),
              new LogConfig(settings),
              /* logStartOffset= */ 0,
              file.read().getOrDefault(PARTITION, 0L),
              scheduler,
              new BrokerTopicStats(),
              Time.SYSTEM,
              /* maxTransactionTimeoutMs= */ 900_000,
              new ProducerStateManagerConfig(
                  86_400_000, /* transactionVerificationEnabled= */ false),
              /* producerIdExpirationCheckIntervalMs= */ 600_000,
              failures,
              /* lastShutdownClean= */ false,
              Optional.empty());
      return new Opened(log, file, scheduler);
    } catch (IOException | RuntimeException | Error failure) {
      stop(scheduler);
      throw failure;
    }
  }

  private static void stop(KafkaScheduler scheduler) {
    try {
      scheduler.shutdown();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  void commit(Opened store, SortedMap<String, String> changes) throws IOException {
    SimpleRecord[] records =
        changes.entrySet().stream()
            .map(change -> new SimpleRecord(bytes(change.getKey()), bytes(change.getValue())))
            .toArray(SimpleRecord[]::new);
    store.log.appendAsLeader(MemoryRecords.withRecords(Compression.NONE, records), EPOCH);
    if (++store.commits % COMMITS_OF_A_CHECKPOINT == 0) {
      store.checkpoint();
    }
  }

  @Override
  @Nullable String get(Opened store, String key) throws IOException {
    String found = null;
    long next = store.log.logStartOffset();
    while (next < store.log.logEndOffset()) {
      Records records =
          store.log.read(next, MOST_BYTES, FetchIsolation.LOG_END, /* minOneMessage= */ true)
              .records;
      long before = next;
      for (Record record : records.records()) {
        if (Utils.utf8(record.key()).equals(key)) {
          found = Utils.utf8(record.value());
        }
        next = record.offset() + 1;
      }
      if (next == before) {
        throw new IOException("no record at offset " + next + " of " + store.log.logEndOffset());
      }
    }
    return found;
  }
}
