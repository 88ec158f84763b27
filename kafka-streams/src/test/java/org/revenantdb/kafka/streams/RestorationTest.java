package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
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
import java.util.Set;
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

  private static final TopicPartition WINDOWS = new TopicPartition("app-windows-changelog", 0);

  /** A pool of 4 MiB: one store gathers 1 MiB. */
  private static final int MUCH = 2_000;

  /** Of them far less are enough. */
  private static final int MOST_BATCHES = 1_000;

  @TempDir Path home;

  private TaskContext context;

  /** Whether a commit is one of those between two batches. */
  private boolean isPeriodic = true;

  /** Whether the task is active, and else whether it is too far behind to be ready. */
  private boolean isActive = true;

  private boolean isFarBehind = true;

  /** Whether it waits for an active one. */
  private boolean isPaused;

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

          @Override
          boolean isActive() {
            return isActive;
          }

          @Override
          boolean isFarBehind(Set<TopicPartition> changelogs) {
            assertEquals(Set.of(CHANGELOG), changelogs);
            return isFarBehind;
          }

          @Override
          boolean isPaused(Set<TopicPartition> changelogs) {
            return isPaused;
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
    Files.delete(SharedDatabase.marker(context.stateDir().toPath(), "store"));
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

  /** A standby task commits in each commit interval, while it catches up as well. */
  @Test
  void a_standby_that_is_far_behind_is_written_once() throws Exception {
    isActive = false;
    RevenantStore store = open();
    long offset = 0;
    while (!Files.exists(runs()) && offset < (long) MUCH * MOST_BATCHES) {
      restore(offset, MUCH);
      offset += MUCH;
      store.commit(Map.of(CHANGELOG, offset - 1));
      assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(CHANGELOG));
      assertEquals(Map.of(), outside(store));
    }
    assertTrue(Files.exists(runs()));
    isFarBehind = false;
    store.commit(Map.of(CHANGELOG, offset - 1));
    assertEquals(offset - 1, store.committedOffset(CHANGELOG));
    assertEquals(restored(offset), outside(store));
    store.close();
    assertNextLife(offset);
  }

  @Test
  void a_standby_that_is_ready_is_written_at_each_commit() throws Exception {
    isActive = false;
    isFarBehind = false;
    RevenantStore store = open();
    for (long offset = 10; offset < 50; offset += 10) {
      restore(offset - 10, 10);
      store.commit(Map.of(CHANGELOG, offset - 1));
      assertEquals(offset - 1, store.committedOffset(CHANGELOG));
      assertEquals(restored(offset), outside(store));
    }
    store.close();
    assertNextLife(40);
  }

  /** In an interval may come more records than a standby may lack to be ready. */
  @Test
  void a_standby_that_was_ready_once_is_written_at_each_commit() throws Exception {
    isActive = false;
    isFarBehind = false;
    RevenantStore store = open();
    restore(0, 10);
    store.commit(Map.of(CHANGELOG, 9L));
    isFarBehind = true;
    restore(10, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH + 9L));
    assertEquals(restored(MUCH + 10), outside(store));
    store.close();
    assertNextLife(MUCH + 10);
  }

  @Test
  void standbys_leave_half_of_the_files_to_active_tasks() throws Exception {
    isActive = false;
    RevenantStore standby = open();
    SharedDatabase shared = standby.opened().shared();
    long half = SharedDatabase.MOST_IN_FILES / 2;
    assertTrue(shared.takesFile(half, false)); // as if other standbys had it
    long offset = restoreUntilWritten(standby, 0);
    assertTrue(offset < 30 * MUCH, "as soon as the memory is full, and not at offset " + offset);
    isActive = true;
    RevenantStore active = open("other");
    restoreRun("other", 0);
    assertEquals(Map.of(), outside(active));
    active.close();
    shared.givesFile(half);
    standby.close();
    isActive = false;
    assertNextLife(offset);
  }

  /** Kafka lets standbys wait while an active task is restored, which then has the memory. */
  @Test
  void a_standby_that_is_paused_has_nothing_in_memory() throws Exception {
    isActive = false;
    RevenantStore store = open();
    SharedDatabase shared = store.opened().shared();
    restore(0, MUCH);
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    assertFalse(Files.exists(runs()));
    isPaused = true;
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    assertTrue(Files.exists(runs()));
    long most = 1 << 20;
    assertFalse(shared.gathers(0, most), "all of the memory is free");
    shared.forgets(most);
    assertEquals(Map.of(), outside(store));
    isPaused = false;
    restore(MUCH, MUCH);
    isFarBehind = false;
    store.commit(Map.of(CHANGELOG, 2 * MUCH - 1L));
    assertEquals(restored(2 * MUCH), outside(store));
    assertTrue(hasAllOfTheFiles(store));
    store.close();
    assertNextLife(2 * MUCH);
  }

  @Test
  void a_standby_that_is_paused_and_can_have_no_run_is_written() throws Exception {
    isActive = false;
    RevenantStore store = open();
    restore(0, MUCH);
    SharedDatabase shared = store.opened().shared();
    assertTrue(shared.takesFile(SharedDatabase.MOST_IN_FILES, true));
    isPaused = true;
    store.commit(Map.of(CHANGELOG, MUCH - 1L));
    assertEquals(restored(MUCH), outside(store));
    shared.givesFile(SharedDatabase.MOST_IN_FILES);
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
    return runs("store");
  }

  private Path runs(String store) {
    return SharedDatabase.directory(context.stateDir().toPath(), store).resolve("restoring");
  }

  /** Restores until there is a run; returns the next offset. */
  private long restoreRun() {
    return restoreRun("store", 0);
  }

  private long restoreRun(String store, long from) {
    long offset = from;
    for (int batch = 0; batch < MOST_BATCHES && !Files.exists(runs(store)); batch++) {
      restore(offset, MUCH);
      offset += MUCH;
    }
    assertTrue(Files.exists(runs(store)));
    return offset;
  }

  /** Restores until something is written; returns the next offset. */
  private long restoreUntilWritten(RevenantStore store, long from) throws Exception {
    long offset = from;
    long before = store.committedOffset(CHANGELOG);
    for (int batch = 0;
        batch < MOST_BATCHES && store.committedOffset(CHANGELOG) == before;
        batch++) {
      restore(offset, MUCH);
      offset += MUCH;
    }
    assertEquals(offset - 1, store.committedOffset(CHANGELOG));
    assertEquals(restored(offset), outside(store));
    return offset;
  }

  /** Whether all that the files of the instance may have is free. */
  private static boolean hasAllOfTheFiles(RevenantStore store) {
    SharedDatabase shared = store.opened().shared();
    boolean has = shared.takesFile(SharedDatabase.MOST_IN_FILES, true);
    if (has) {
      shared.givesFile(SharedDatabase.MOST_IN_FILES);
    }
    return has;
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
    assertTrue(hasAllOfTheFiles(store));
    store.close();
    assertNextLife(offset);
  }

  @Test
  void runs_are_written_when_there_are_enough_of_them() throws Exception {
    RevenantStore store = open();
    store.opened().shared().gathers(0, 3L << 20); // as if others had it, so that runs are small
    long offset = restoreRun();
    assertEquals(3 * MUCH, offset);
    offset = restoreUntilWritten(store, offset);
    assertEquals(65 * 3 * MUCH, offset);
    assertFalse(Files.exists(runs()));
    assertTrue(hasAllOfTheFiles(store));
    store.close();
    assertNextLife(offset);
  }

  @Test
  void runs_are_written_when_the_files_of_the_instance_have_no_room_for_another() throws Exception {
    RevenantStore store = open();
    long offset = restoreRun();
    SharedDatabase shared = store.opened().shared();
    long run = Files.size(runs());
    assertTrue(shared.takesFile(SharedDatabase.MOST_IN_FILES - run, true)); // as if others had it
    assertFalse(shared.takesFile(1, true));
    offset = restoreUntilWritten(store, offset);
    assertFalse(Files.exists(runs()));
    assertTrue(shared.takesFile(run, true));
    assertFalse(shared.takesFile(1, true));
    store.close();
    assertNextLife(offset);
  }

  /** Else one late deletion would turn all runs into one transaction of single rows. */
  @Test
  void a_table_with_rows_gets_no_runs() throws Exception {
    RevenantStore store = open();
    isPeriodic = false;
    restore(0, 10);
    store.commit(Map.of(CHANGELOG, 9L));
    isPeriodic = true;
    long offset = restoreUntilWritten(store, 10);
    assertTrue(offset < 30 * MUCH, "as soon as the memory is full, and not at offset " + offset);
    restore(offset, MUCH);
    context.restore.restoreBatch(List.of(change(offset + MUCH, key(1), null)));
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, offset + MUCH));
    Map<Long, Long> expected = restored(offset + MUCH);
    expected.remove(key(1));
    assertEquals(expected, outside(store));
    store.close();
  }

  /** In an empty table a deletion is only the end of the changes before it. */
  @Test
  void a_deletion_behind_runs_is_a_part_of_their_load() throws Exception {
    RevenantStore store = open();
    long offset = restoreRun();
    context.restore.restoreBatch(List.of(change(offset, key(1), null)));
    for (int batch = 0; batch < 30; batch++) { // more runs
      restore(offset + 1 + batch * MUCH, MUCH);
    }
    long last = offset + 30 * MUCH;
    assertTrue(Files.exists(runs()));
    assertEquals(Map.of(), outside(store));
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, last));
    Map<Long, Long> expected = restored(last + 1);
    expected.remove(key(1));
    expected.remove(key(offset)); // where the deletion was
    assertEquals(expected, outside(store));
    store.close();
  }

  @Test
  void a_store_that_is_closed_deletes_its_runs_and_begins_again() {
    RevenantStore store = open();
    restoreRun();
    SharedDatabase shared = store.opened().shared();
    assertFalse(shared.takesFile(SharedDatabase.MOST_IN_FILES, true));
    RevenantStore other = open("other");
    store.close(); // as after a failure
    assertFalse(Files.exists(runs()));
    assertTrue(hasAllOfTheFiles(other));
    other.close();
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
  void records_go_to_the_table_if_their_file_cannot_be_written() throws Exception {
    RevenantStore store = open();
    Files.createDirectories(runs().resolve("in the way")); // where the file should be
    long offset = restoreUntilWritten(store, 0);
    assertTrue(hasAllOfTheFiles(store));
    offset = restoreUntilWritten(store, offset);
    Files.delete(runs().resolve("in the way"));
    store.close();
    assertNextLife(offset);
  }

  /** The file is never forced, so a disk may have lost what was written. */
  @Test
  void a_file_with_other_bytes_than_were_written_is_not_loaded() throws Exception {
    RevenantStore store = open();
    long offset = restoreRun();
    byte[] file = Files.readAllBytes(runs());
    file[file.length - 1] ^= 1; // of a value: all keys are as they were
    Files.write(runs(), file);
    isPeriodic = false;
    for (int attempt = 0; attempt < 2; attempt++) {
      assertThrows(
          ProcessorStateException.class, () -> store.commit(Map.of(CHANGELOG, offset - 1)));
      assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(CHANGELOG));
      assertEquals(Map.of(), outside(store));
    }
    store.close(); // as Kafka closes a task that has failed
    assertFalse(Files.exists(runs()));
    assertNextLife(0);
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

  /** The transaction of the task would have to begin behind what the other store has gathered. */
  @Test
  void a_store_of_windows_of_the_task_does_not_make_the_others_write() throws Exception {
    RevenantStore store = open();
    SegmentedStore windows =
        new SegmentedStore("windows", TimedKeys.WINDOW, "plain", /* retention= */ 500, 100);
    windows.open(context, context.directory());
    long offset = 0;
    for (long window = 0; window < 40; window++) {
      restore(offset, MUCH);
      offset += MUCH;
      long failing = window;
      assertThrows(
          ProcessorStateException.class, () -> windows.restore(List.of(window(failing, 2_000))));
      windows.restore(List.of(window(window, 8)));
      windows.commit(Map.of(WINDOWS, window));
      store.commit(Map.of(CHANGELOG, offset - 1));
      assertEquals(window, windows.committedOffset(WINDOWS));
      assertEquals(Map.of(), outside(store));
    }
    assertTrue(Files.exists(runs()));
    isPeriodic = false;
    windows.commit(Map.of(WINDOWS, 39L));
    store.commit(Map.of(CHANGELOG, offset - 1));
    assertEquals(restored(offset), outside(store));
    for (long window = 30; window < 40; window++) { // the others are over
      byte[] value = windows.get(Bytes.wrap(window(window, 8).key()), /* inside= */ true);
      assertArrayEquals(bytes(window), value);
    }
    windows.close();
    store.close();
    assertNextLife(offset);
  }

  private static ConsumerRecord<byte[], byte[]> window(long offset, int keyLength) {
    return new ConsumerRecord<>(
        WINDOWS.topic(),
        0,
        offset,
        TimedKeys.window(Bytes.wrap(new byte[keyLength]), offset * 50, 0),
        bytes(offset));
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
    Random random = Seeds.random();
    long offset = 0;
    for (int round = 0; round < 4; round++) {
      offset = randomRestoration(random, "store" + round, offset);
    }
  }

  private long randomRestoration(Random random, String name, long from) {
    RevenantStore store = open(name);
    Map<Long, Long> model = new TreeMap<>();
    long offset = restoreRun(name, from);
    for (long restored = from; restored < offset; restored++) {
      model.put(key(restored), restored);
    }
    for (int batch = 0; batch < 30; batch++) {
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
      switch (random.nextInt(24)) {
        case 0, 1, 2, 5, 6, 7, 8, 9 -> store.commit(Map.of(CHANGELOG, offset - 1));
        case 3 -> assertEquals(model, new TreeMap<>(rows(store)));
        case 4 -> store = reopened(store, offset);
        default -> {}
      }
    }
    store = reopened(store, offset);
    assertEquals(model, new TreeMap<>(rows(store)));
    store.close();
    return offset;
  }

  private RevenantStore reopened(RevenantStore store, long offset) {
    isPeriodic = false;
    store.commit(Map.of(CHANGELOG, offset - 1));
    isPeriodic = true;
    store.close();
    RevenantStore next = open(store.name());
    assertEquals(offset - 1, next.committedOffset(CHANGELOG));
    return next;
  }
}
