package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.PageClassStatistics;
import org.revenantdb.engine.PoolStatistics;

/** Some 200 stores of an instance cost no more threads and no more memory than one. */
@Tag("slow")
class ManyStoresTest {
  /** Threads of databases that Kafka's own tests have left open. */
  private final Set<Thread> others = Thread.getAllStackTraces().keySet();

  private static final int TASKS = 26;
  private static final int ROWS_STORES = 5;
  private static final int WINDOW_STORES = 2;
  private static final int STORES = TASKS * (ROWS_STORES + WINDOW_STORES + 1);
  private static final int SEGMENTS = 3;
  private static final int ROWS = 30;
  private static final long POOL_BYTES = 4L << 20;

  /** Checkpoints, cleaner, log, writer of pages, and some that work now and then. */
  private static final int THREADS = 8;

  private static final Set<String> SHARED = Set.of("revenant-idle", "revenant-forgotten");

  /** Of a page, as docs/format.md has it. */
  private static final long PAGE_BYTES = 8_192;

  @TempDir Path home;

  /** All stores of the instance, opened in the order of their tasks. */
  private List<TaskStore> open() throws Exception {
    List<TaskStore> stores = open(TASKS);
    assertEquals(STORES, stores.size());
    return stores;
  }

  private List<TaskStore> open(int tasks) throws Exception {
    TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
    List<TaskStore> stores = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      Path directory = Files.createDirectories(home.resolve("0_" + task));
      List<TaskStore> ofTask = new ArrayList<>();
      for (int i = 0; i < ROWS_STORES; i++) {
        ofTask.add(new RevenantStore("rows-" + i));
      }
      for (int i = 0; i < WINDOW_STORES; i++) {
        ofTask.add(new SegmentedStore("windows-" + i, TimedKeys.WINDOW, "plain", 3_000, 1_000));
      }
      ofTask.add(new RevenantVersionedStore("versions", 3_000, 1_000));
      for (TaskStore store : ofTask) {
        store.open(context, directory);
      }
      stores.addAll(ofTask);
    }
    return stores;
  }

  private static void write(TaskStore store, int row) {
    byte[] value = new byte[1_000];
    value[0] = (byte) row;
    Bytes key = key(row);
    switch (store) {
      case RevenantStore rows -> rows.put(key, value);
      case SegmentedStore windows ->
          windows.put(Bytes.wrap(TimedKeys.window(key, time(row), 0)), value);
      case RevenantVersionedStore versions -> {
        versions.put(key, value, time(row));
        versions.put(key, value, time(row) + 500); // the first version is in a segment then
      }
      default -> throw new AssertionError(store);
    }
  }

  private static Bytes key(int row) {
    return Bytes.wrap(ByteBuffer.allocate(Integer.BYTES).putInt(row).array());
  }

  private static long time(int row) {
    return row % SEGMENTS * 1_000L;
  }

  private static byte[] read(TaskStore store, int row) {
    return switch (store) {
      case RevenantStore rows -> rows.get(key(row));
      case SegmentedStore windows ->
          windows.get(Bytes.wrap(TimedKeys.window(key(row), time(row), 0)), /* inside= */ true);
      case RevenantVersionedStore versions -> versions.get(key(row), time(row)).value();
      default -> throw new AssertionError(store);
    };
  }

  private static void commit(List<TaskStore> stores, long offset) {
    for (TaskStore store : stores) {
      store.commit(Map.of(new TopicPartition(store.name(), 0), offset));
    }
  }

  private static void close(List<TaskStore> stores) {
    stores.forEach(TaskStore::close);
  }

  /** Those of the engine, without those that all databases of a process share. */
  private List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !others.contains(thread))
        .map(Thread::getName)
        .filter(name -> name.startsWith("revenant") && !SHARED.contains(name))
        .sorted()
        .toList();
  }

  private static long residentBytes(SharedDatabase shared) {
    PoolStatistics pool = shared.database().statistics().pool();
    return PAGE_BYTES
        * Stream.of(pool.leaf(), pool.inner(), pool.overflow(), pool.map())
            .mapToLong(PageClassStatistics::resident)
            .sum();
  }

  private void assertBounded(SharedDatabase shared) {
    List<String> threads = threads();
    assertTrue(threads.size() <= THREADS, threads::toString);
    DatabaseStatistics statistics = shared.database().statistics();
    assertTrue(residentBytes(shared) <= POOL_BYTES, statistics::toString);
    assertTrue(
        statistics.versions().memoryBytes() <= shared.database().options().versionMemory(),
        statistics::toString);
    assertEquals(0, shared.gatheredBytes());
    assertEquals(0, shared.openIterators());
  }

  @Test
  void stores_share_threads_and_memory_are_looked_up_by_name_and_leave_nothing_behind()
      throws Exception {
    List<TaskStore> stores = open();
    SharedDatabase shared = stores.getFirst().opened().shared();
    assertEquals(1, shared.listings(), "a list for each store takes the time of all stores");
    for (TaskStore store : stores) {
      assertSame(shared, store.opened().shared());
    }
    for (int row = 0; row < ROWS; row++) {
      for (TaskStore store : stores) {
        write(store, row);
      }
      commit(stores, row);
      assertBounded(shared);
    }
    assertTrue(
        shared.database().statistics().files().dataFilePages() * PAGE_BYTES > POOL_BYTES,
        "all rows have room in memory");
    assertRows(stores);
    close(stores.subList(0, STORES / 2)); // their tasks move away and come back
    List<TaskStore> back = open(TASKS / 2);
    assertRows(back);
    assertEquals(1, shared.listings(), "a list for each store takes the time of all stores");
    close(back);
    close(stores.subList(STORES / 2, STORES));
    assertLeftNothing(shared);

    List<TaskStore> again = open();
    SharedDatabase next = again.getFirst().opened().shared();
    assertRows(again);
    assertBounded(next);
    close(again);
    assertLeftNothing(next);
  }

  private void assertLeftNothing(SharedDatabase shared) {
    assertTrue(shared.database().isClosed());
    assertNull(SharedDatabase.ifOpen(home));
    assertEquals(List.of(), threads());
    // No file is locked, and the tables are those of the stores, their segments, and no others.
    try (Database left = Database.open(home.resolve(SharedDatabase.DIRECTORY))) {
      int segmented = TASKS * (WINDOW_STORES + 1);
      assertEquals(STORES + segmented * SEGMENTS, left.tableNames().size());
    }
  }

  private static void assertRows(List<TaskStore> stores) {
    for (TaskStore store : stores) {
      for (int row : new int[] {0, ROWS - 1}) {
        assertEquals((byte) row, read(store, row)[0], store.toString());
      }
    }
  }
}
