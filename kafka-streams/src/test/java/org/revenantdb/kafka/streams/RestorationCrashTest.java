package org.revenantdb.kafka.streams;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Durability;

/**
 * Power cuts while a store is restored: its rows are exactly those that the changelog has up to its
 * offset, whether they were loaded into the empty table with runs, loaded between other rows, or
 * put because of deletions.
 */
@Tag("slow")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 40,
    seed = 20_261_128)
class RestorationCrashTest implements CrashSubject<RestorationCrashTest.Restored> {
  private static final TopicPartition CHANGELOG = new TopicPartition("store-changelog", 0);
  private static final int KEYS = 3_001;
  private static final int DELETED = 7;

  /** From then on there are no deletions. */
  private static final int PUT_ONLY = 28_500;

  /** More than the quarter of the pool that is gathered at most. */
  private static final int MUCH = 8_000;

  private static final int LITTLE = 100;

  @Override
  public Restored open(Path directory) throws Exception {
    return new Restored(directory);
  }

  @Override
  public void work(Restored restored, Promises promises) {
    boolean isEmpty = restored.next == 0; // not in a life behind a crash that left rows
    restored.restore(MUCH, promises); // a run
    restored.restore(MUCH, promises); // another one
    restored.restore(LITTLE, promises);
    restored.demandRuns(isEmpty);
    restored.commit(promises); // into the empty table
    restored.demandRuns(false);
    for (int commit = 0; commit < 3; commit++) {
      restored.restore(LITTLE, promises);
      restored.commit(promises);
    }
    restored.restore(MUCH, promises); // put at once, because there are deletions
    promises.durable("offset", Long.toString(restored.next - 1));
    restored.restore((int) (PUT_ONLY - restored.next), promises);
    restored.commit(promises);
    restored.restore(MUCH, promises); // loaded between other rows
    promises.durable("offset", Long.toString(restored.next - 1));
    restored.restore(2 * LITTLE, promises);
    restored.commit(promises);
    restored.demandRuns(false);
    restored.restore(LITTLE, promises); // not committed
  }

  @Override
  public void check(Restored restored, Recovered recovered) {
    Long offset = restored.store.committedOffset(CHANGELOG);
    long last = offset == null || offset == TaskStore.OFFSET_UNKNOWN ? -1 : offset;
    recovered.verify(key -> last < 0 ? null : Long.toString(last));
    Map<Long, Long> expected = new TreeMap<>();
    for (long change = 0; change <= last; change++) {
      if (isDeletion(change)) {
        expected.remove(change % KEYS);
      } else {
        expected.put(change % KEYS, change);
      }
    }
    Map<Long, Long> found = new TreeMap<>();
    try (KeyValueIterator<Bytes, byte[]> rows = restored.store.all()) {
      rows.forEachRemaining(row ->
          found.put(
              ByteBuffer.wrap(row.key.get()).getLong(), ByteBuffer.wrap(row.value).getLong()));
    }
    recovered.demand(
        expected.equals(found),
        "at offset " + last + ": " + expected.size() + " rows expected, found " + found.size());
  }

  private static boolean isDeletion(long offset) {
    return offset < PUT_ONLY && offset % DELETED == 0;
  }

  /** A store that is restored, whose database has the files of the framework. */
  static final class Restored implements AutoCloseable {
    final SharedDatabase shared;
    final RevenantStore store = new RevenantStore("store");
    private final Path runs;
    private long next;

    Restored(Path home) throws Exception {
      runs = home.resolve("0_0").resolve("store").resolve("restoring");
      TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
      shared = TaskContext.smallDatabase(home, Durability.DURABLE);
      store.open(context, home.resolve("0_0"));
      Long offset = store.committedOffset(CHANGELOG);
      next = offset == null || offset == TaskStore.OFFSET_UNKNOWN ? 0 : offset + 1;
    }

    /** Records from the next offset on. */
    void restore(int count, Promises promises) {
      List<ConsumerRecord<byte[], byte[]>> batch = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        long offset = next++;
        byte[] value = isDeletion(offset) ? null : bytes(offset, 80);
        batch.add(
            new ConsumerRecord<>(
                CHANGELOG.topic(), 0, offset, bytes(offset % KEYS, Long.BYTES), value));
      }
      promises.attempt("offset", Long.toString(next - 1));
      store.restore(batch);
    }

    /** This test is of no use if the paths are others than it says. */
    void demandRuns(boolean areThere) {
      if (Files.exists(runs) != areThere) {
        throw new AssertionError("there should be " + (areThere ? "" : "no ") + "runs");
      }
    }

    void commit(Promises promises) {
      store.commit(Map.of(CHANGELOG, next - 1));
      promises.durable("offset", Long.toString(next - 1));
    }

    private static byte[] bytes(long number, int length) {
      return ByteBuffer.allocate(length).putLong(number).array();
    }

    @Override
    public void close() {
      store.close();
      shared.release();
    }
  }
}
