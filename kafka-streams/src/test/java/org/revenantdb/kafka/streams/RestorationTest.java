package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When gathered records of a changelog are written (README.md, "Restoration"). */
class RestorationTest {
  private static final TopicPartition CHANGELOG = new TopicPartition("app-store-changelog", 0);

  /** A pool of 4 MiB: one store gathers 1 MiB. */
  private static final int MUCH = 2_000;

  @TempDir Path home;

  private TaskContext context;

  /** Whether a commit is one of those between two batches. */
  private boolean isPeriodic = true;

  private RevenantStore open() {
    return open("store");
  }

  private RevenantStore open(String name) {
    if (context == null) {
      context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
    }
    RevenantStore store =
        new RevenantStore(name) {
          @Override
          boolean isPeriodicCommit() {
            return isPeriodic;
          }
        };
    store.init(context, store);
    return store;
  }

  private static byte[] bytes(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  private static ConsumerRecord<byte[], byte[]> change(long offset, long key, Long value) {
    return new ConsumerRecord<>(
        CHANGELOG.topic(), 0, offset, bytes(key), value == null ? null : bytes(value));
  }

  /** Records from an offset on, each of a key of its own; the key is negative for half of them. */
  private void restore(long from, int count) {
    List<ConsumerRecord<byte[], byte[]>> batch = new ArrayList<>();
    for (long offset = from; offset < from + count; offset++) {
      batch.add(change(offset, key(offset), offset));
    }
    context.restore.restoreBatch(batch);
  }

  private static long key(long offset) {
    return (offset % 2 == 0 ? offset : -offset) * 31;
  }

  private static Map<Long, Long> rows(RevenantStore store) {
    Map<Long, Long> rows = new HashMap<>();
    try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
      all.forEachRemaining(row ->
          rows.put(ByteBuffer.wrap(row.key.get()).getLong(), ByteBuffer.wrap(row.value).getLong()));
    }
    return rows;
  }

  private static Map<Long, Long> outside(RevenantStore store) throws Exception {
    FutureTask<Map<Long, Long>> read = new FutureTask<>(() -> rows(store));
    Thread.ofPlatform().start(read).join();
    return read.get();
  }

  private static Map<Long, Long> restored(long offsets) {
    Map<Long, Long> rows = new HashMap<>();
    for (long offset = 0; offset < offsets; offset++) {
      rows.put(key(offset), offset);
    }
    return rows;
  }

  /** The store as a process finds it that comes after the death of this one. */
  private void assertNextLife(long offsets) {
    RevenantStore next = open();
    assertEquals(
        offsets == 0 ? TaskStore.OFFSET_UNKNOWN : offsets - 1, next.committedOffset(CHANGELOG));
    assertEquals(restored(offsets), rows(next));
    next.close();
  }

  /** Kafka Streams uses the object of a store again when it revives a corrupted task. */
  @Test
  void a_store_that_is_opened_again_restores_into_its_new_table() throws Exception {
    RevenantStore store = open();
    isPeriodic = false;
    restore(0, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    store.close();
    Files.delete(context.stateDir().toPath().resolve("store").resolve(SharedDatabase.MARKER));
    store.init(context, store);
    assertEquals(Map.of(), rows(store));
    restore(0, 2 * MUCH);
    store.commit(Map.of(CHANGELOG, 2 * MUCH - 1L));
    assertEquals(restored(2 * MUCH), rows(store));
    store.close();
    assertNextLife(2 * MUCH);
  }

  @Test
  void a_commit_of_much_between_two_batches_is_deferred() throws Exception {
    RevenantStore store = open();
    restore(0, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(CHANGELOG));
    assertEquals(Map.of(), outside(store));
    store.close(); // as after a failure
    assertNextLife(0);
  }

  @Test
  void any_other_commit_writes() throws Exception {
    RevenantStore store = open();
    restore(0, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    assertEquals(MUCH - 1, store.committedOffset(CHANGELOG));
    assertEquals(restored(MUCH), outside(store));
    store.close();
    assertNextLife(MUCH);
  }

  /** A release of Kafka that does it elsewhere would make the batches small. */
  @Test
  void kafka_commits_between_two_batches_where_it_is_expected() throws Exception {
    assertNotNull(
        Class.forName(TaskStore.STATE_UPDATER)
            .getDeclaredMethod(TaskStore.PERIODIC_COMMITS, long.class));
    assertFalse(new RevenantStore("store").isPeriodicCommit());
  }

  /** Rows of it would be in the way of all that follow, which could not be appended. */
  @Test
  void a_commit_of_little_between_two_batches_is_deferred_as_well() throws Exception {
    RevenantStore store = open();
    restore(0, 10);
    store.commit(Map.of(CHANGELOG, 9L));
    assertEquals(Map.of(), outside(store));
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, 9L));
    assertEquals(9, store.committedOffset(CHANGELOG));
    assertEquals(restored(10), outside(store));
    store.close();
    assertNextLife(10);
  }

  private Path runs() {
    return context.stateDir().toPath().resolve("store").resolve("restoring");
  }

  /** Restores until there is a run; returns the next offset. */
  private long restoreRun() {
    long offset = 0;
    while (!Files.exists(runs())) {
      restore(offset, MUCH);
      offset += MUCH;
    }
    return offset;
  }

  @Test
  void what_does_not_fit_in_the_memory_becomes_a_run_and_all_is_one_transaction() throws Exception {
    RevenantStore store = open();
    long offset = restoreRun();
    restore(offset, 10);
    offset += 10;
    store.commit(Map.of(CHANGELOG, offset - 1)); // is deferred, as little as there is in memory
    assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(CHANGELOG));
    assertEquals(Map.of(), outside(store));
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, offset - 1));
    assertEquals(offset - 1, store.committedOffset(CHANGELOG));
    assertEquals(restored(offset), outside(store));
    assertFalse(Files.exists(runs()));
    store.close();
    assertNextLife(offset);
  }

  @Test
  void runs_are_written_when_there_are_enough_of_them() throws Exception {
    List<RevenantStore> others = new ArrayList<>();
    for (int other = 0; other < 7; other++) { // so that each one's share of the memory is small
      others.add(open("other" + other));
      restore(0, 10);
    }
    RevenantStore store = open();
    long offset = 0;
    while (outside(store).isEmpty()) {
      restore(offset, MUCH);
      offset += MUCH;
    }
    assertEquals(65 * MUCH, offset);
    assertEquals(offset - 1, store.committedOffset(CHANGELOG));
    assertFalse(Files.exists(runs()));
    others.forEach(RevenantStore::close);
    store.close();
    assertNextLife(offset);
  }

  @Test
  void a_store_that_is_closed_deletes_its_runs_and_begins_again() {
    RevenantStore store = open();
    restoreRun();
    store.close(); // as after a failure
    assertFalse(Files.exists(runs()));
    assertNextLife(0);
  }

  @Test
  void runs_of_a_process_that_has_died_are_deleted_when_the_store_is_opened() throws Exception {
    RevenantStore store = open();
    store.close();
    Files.write(runs(), new byte[100]);
    assertNextLife(0);
    assertFalse(Files.exists(runs()));
  }

  @Test
  void a_run_that_cannot_be_written_fails_the_statement_and_the_next_one_tries_again()
      throws Exception {
    RevenantStore store = open();
    Files.createDirectory(runs()); // where the file should be
    long[] offset = {0};
    assertThrows(
        ProcessorStateException.class,
        () -> {
          for (; offset[0] < 1_000 * MUCH; offset[0] += MUCH) {
            restore(offset[0], MUCH);
          }
        });
    Files.delete(runs());
    offset[0] += MUCH; // what the failed statement brought is gathered
    restore(offset[0], MUCH);
    offset[0] += MUCH;
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, offset[0] - 1));
    assertEquals(restored(offset[0]), outside(store));
    store.close();
    assertNextLife(offset[0]);
  }

  @Test
  void the_task_sees_what_is_restored_and_writes_over_it() throws Exception {
    RevenantStore store = open();
    restore(0, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    assertEquals(restored(MUCH), rows(store));
    assertEquals(MUCH - 1, store.committedOffset(CHANGELOG));
    restore(MUCH, MUCH);
    store.commit(Map.of(CHANGELOG, 2L * MUCH - 1));
    store.put(Bytes.wrap(bytes(key(1))), bytes(-1));
    Map<Long, Long> expected = restored(2 * MUCH);
    assertEquals(expected, outside(store));
    expected.put(key(1), -1L);
    assertEquals(expected, rows(store));
    store.commit(Map.of(CHANGELOG, 2L * MUCH));
    assertEquals(expected, outside(store));
    store.close();
  }

  @Test
  void a_write_of_another_store_of_the_task_comes_behind_what_is_restored() {
    RevenantStore other = open("other");
    RevenantStore store = open();
    restore(0, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    other.put(Bytes.wrap(bytes(1)), bytes(1)); // begins the transaction of the task
    store.put(Bytes.wrap(bytes(key(1))), bytes(-1));
    Map<Long, Long> expected = restored(MUCH);
    expected.put(key(1), -1L);
    assertEquals(expected, rows(store));
    other.commit(Map.of(new TopicPartition("app-other-changelog", 0), 1L));
    store.commit(Map.of(CHANGELOG, (long) MUCH));
    store.close();
    other.close();
  }

  @Test
  void offsets_that_are_removed_take_what_was_gathered_along() {
    RevenantStore store = open();
    restore(0, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    restore(MUCH, 10);
    store.commit(Map.of());
    assertEquals(Map.of(), rows(store));
    restore(0, 10);
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, 9L));
    store.close();
    assertNextLife(10);
  }

  /** Against a map: batches with new keys, old ones and deletions; commits, reads and new lives. */
  @Test
  void random_restorations_leave_what_the_changelog_has() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    random.nextInt();
    RevenantStore store = open();
    Map<Long, Long> model = new TreeMap<>();
    long offset = 0;
    boolean hadRuns = false;
    for (int batch = 0; batch < 120; batch++) {
      List<ConsumerRecord<byte[], byte[]>> changes = new ArrayList<>();
      int keys = random.nextBoolean() ? 40 : 1 << 20;
      boolean deletes = random.nextInt(12) == 0;
      for (int i = random.nextInt(6_000); i >= 0; i--) {
        long key = random.nextInt(keys) - keys / 2;
        Long value = deletes && random.nextInt(4) == 0 ? null : offset;
        changes.add(change(offset++, key, value));
        if (value == null) {
          model.remove(key);
        } else {
          model.put(key, value);
        }
      }
      context.restore.restoreBatch(changes);
      hadRuns |= Files.exists(runs());
      switch (random.nextInt(24)) {
        case 0, 1, 2, 5, 6, 7, 8, 9 -> store.commit(Map.of(CHANGELOG, offset - 1));
        case 3 -> assertEquals(model, new TreeMap<>(rows(store)));
        case 4 -> {
          isPeriodic = false;
          store.commit(Map.of(CHANGELOG, offset - 1));
          isPeriodic = true;
          store.close();
          store = open();
          assertEquals(offset - 1, store.committedOffset(CHANGELOG));
          assertEquals(model, new TreeMap<>(rows(store)));
        }
        default -> {}
      }
    }
    assertTrue(hadRuns);
    store.close();
  }
}
