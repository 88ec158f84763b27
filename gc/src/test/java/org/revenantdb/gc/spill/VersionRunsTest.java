package org.revenantdb.gc.spill;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.gc.VersionFlags;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * Runs against a map in memory (docs/protocols.md §30).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
class VersionRunsTest {
  private static final int ROWS = 300;
  private static final int STEP = 10;

  /** Small, so that fences are thinned out and filters let much through. */
  private static final long BUDGET = 128 * 1024;

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final List<IoEvent> reads = Collections.synchronizedList(new ArrayList<>());
  private final IoStatistics io = new IoStatistics();
  private final ActiveSnapshots snapshots = new ActiveSnapshots();
  private final AtomicLong clock = new AtomicLong(STEP);
  private final AtomicLong memory = new AtomicLong();
  private SpillFiles files;
  private VersionRuns runs;

  /** Of each row its versions, by when they were superseded. */
  private final List<TreeMap<Long, SpilledVersion>> model = new ArrayList<>();

  @BeforeEach
  void open() {
    System.out.println("VersionRunsTest -Drevenant.seed=" + seed);
    faulty.hook(event -> {
      if (event.kind() == IoEvent.Kind.READ) {
        reads.add(event);
      }
    });
    files = new SpillFiles(faulty.wrap(directory), new byte[16], 1, io);
    runs = newRuns(BUDGET);
    for (int row = 0; row < ROWS; row++) {
      model.add(new TreeMap<>());
    }
  }

  private VersionRuns newRuns(long budget) {
    return new VersionRuns(files, budget, memory::addAndGet, bytes -> memory.addAndGet(-bytes));
  }

  @AfterEach
  void close() {
    FileThread.call(
        "closes",
        () -> {
          files.close();
          return files;
        });
    assertEquals(0, filesThere());
  }

  private int filesThere() {
    try (Stream<Path> there = Files.list(directory)) {
      return (int) there.filter(file -> SpillFiles.isOne(file.getFileName().toString())).count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private byte[] row(int number) {
    // Keys of several lengths, many of which begin alike; two tables.
    byte[] key = new byte[4 + number % 3 * 150];
    ByteBuffer.wrap(key).putInt(key.length - 4, number);
    return SpilledVersion.row(number % 2 == 0 ? 7 : -7, key);
  }

  /** New versions of rows at random, in order, one after the other in time. */
  private List<SpilledVersion> newVersions(int count) {
    List<SpilledVersion> versions = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = random.nextInt(ROWS);
      TreeMap<Long, SpilledVersion> row = model.get(number);
      long from = row.isEmpty() ? 0 : row.lastKey();
      long to = clock.addAndGet(STEP);
      int flags = random.nextInt(10) == 0 ? VersionFlags.DELETED : 0;
      byte[] value = new byte[random.nextInt(random.nextInt(20) == 0 ? 1000 : 60)];
      random.nextBytes(value);
      SpilledVersion version = new SpilledVersion(row(number), from, to, flags, value);
      row.put(to, version);
      versions.add(version);
    }
    versions.sort(SpilledVersion::compare);
    return versions;
  }

  private void add(List<SpilledVersion> versions) {
    FileThread.call(
        "adds",
        () -> {
          runs.add(versions.stream(), versions.size(), snapshots.snapshots(clock::get));
          return runs;
        });
  }

  private boolean merge(SnapshotSet needed) {
    return FileThread.call("merges", () -> runs.merge(needed, () -> {}));
  }

  private @Nullable SpilledVersion expected(int number, long snapshot) {
    var version = model.get(number).higherEntry(snapshot);
    return version == null || version.getValue().committedAt() > snapshot
        ? null
        : version.getValue();
  }

  private void assertFinds(long snapshot, boolean inOrder) {
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      numbers.add(i);
    }
    if (inOrder) {
      numbers.sort((a, b) -> java.util.Arrays.compareUnsigned(row(a), row(b)));
    } else {
      Collections.shuffle(numbers, random);
    }
    List<byte[]> rows = numbers.stream().map(this::row).toList();
    @Nullable SpilledVersion[] found = runs.find(rows, snapshot);
    for (int i = 0; i < found.length; i++) {
      assertSame(expected(numbers.get(i), snapshot), found[i], numbers.get(i) + " at " + snapshot);
    }
  }

  private static void assertSame(
      @Nullable SpilledVersion expected, @Nullable SpilledVersion found, String where) {
    if (expected == null || found == null) {
      assertNull(expected, where);
      assertNull(found, where);
      return;
    }
    assertArrayEquals(expected.row(), found.row(), where);
    assertArrayEquals(expected.value(), found.value(), where);
    assertEquals(expected.flags(), found.flags(), where);
    assertEquals(expected.committedAt(), found.committedAt(), where);
    assertEquals(expected.supersededAt(), found.supersededAt(), where);
  }

  @Test
  void every_snapshot_finds_in_runs_what_a_map_has_also_when_they_are_merged() {
    SnapshotSet all = snapshots.snapshots(() -> 0); // above 0 all may be needed
    for (int round = 0; round < 30; round++) {
      add(newVersions(1 + random.nextInt(800)));
      for (int i = 0; i < 5; i++) {
        assertFinds(random.nextLong(clock.get() + 1), random.nextBoolean());
      }
      while (merge(all)) {
        assertFinds(random.nextLong(clock.get() + 1), /* inOrder= */ true);
      }
      assertTrue(runs.count() <= 8, () -> runs.count() + " runs");
      assertEquals(runs.count(), filesThere());
    }
    assertTrue(memory.get() > 0 && memory.get() <= BUDGET / 4 + 1024, () -> memory + " bytes");
    drop(clock.get());
    assertEquals(0, runs.count());
    assertEquals(0, memory.get());
    assertEquals(0, filesThere());
  }

  /** As if no snapshot were older. */
  private void drop(long now) {
    FileThread.call(
        "drops",
        () -> {
          runs.drop(new ActiveSnapshots().snapshots(() -> now));
          return runs;
        });
  }

  @Test
  void a_merge_keeps_what_a_snapshot_needs_and_nothing_else() {
    add(newVersions(500));
    int slot = snapshots.open(clock::get);
    long open = snapshots.snapshot(slot);
    for (int i = 0; i < 3; i++) {
      add(newVersions(500));
    }
    long all = runs.bytes();
    assertTrue(merge(snapshots.snapshots(clock::get)));
    assertEquals(1, runs.count());
    assertTrue(runs.bytes() < all / 2, () -> runs.bytes() + " of " + all);
    assertFinds(open, /* inOrder= */ true);
    snapshots.close(slot);
    FileThread.call(
        "drops",
        () -> {
          runs.drop(snapshots.snapshots(clock::get));
          return runs;
        });
    assertEquals(0, filesThere());
  }

  /** An old snapshot keeps the run; what younger ones needed of it goes all the same. */
  @Test
  void a_run_is_written_anew_when_half_of_its_snapshots_have_gone() {
    int oldest = snapshots.open(clock::get);
    List<Integer> younger = new ArrayList<>();
    List<SpilledVersion> versions = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      versions.addAll(newVersions(500));
      younger.add(snapshots.open(clock::get));
    }
    versions.addAll(newVersions(500));
    SnapshotSet open = snapshots.snapshots(clock::get);
    versions.removeIf(version -> !open.needs(version.committedAt(), version.supersededAt()));
    versions.sort(SpilledVersion::compare);
    add(versions);
    long all = runs.bytes();
    snapshots.close(younger.removeFirst());
    assertFalse(runs.wantsMerge(snapshots.snapshots(clock::get)));
    younger.forEach(snapshots::close);
    SnapshotSet left = snapshots.snapshots(clock::get);
    assertTrue(runs.wantsMerge(left));
    assertTrue(merge(left));
    assertFalse(merge(left), "once is enough");
    assertTrue(runs.bytes() < all / 2, () -> runs.bytes() + " of " + all);
    assertFinds(snapshots.snapshot(oldest), /* inOrder= */ true);
    snapshots.close(oldest);
  }

  @Test
  void a_snapshot_outside_of_a_runs_time_reads_nothing_of_it() {
    add(newVersions(500));
    reads.clear();
    assertFinds(clock.get(), /* inOrder= */ true);
    assertEquals(List.of(), reads);
  }

  @Test
  void of_rows_that_are_not_there_few_are_looked_for() {
    runs = newRuns(1 << 22);
    List<SpilledVersion> versions = newVersions(2000);
    add(versions.stream().filter(version -> version.table() == 7).toList());
    reads.clear();
    int asked = 0;
    for (int i = 1; i < ROWS; i += 2) {
      assertNull(runs.find(List.of(row(i)), STEP)[0]);
      asked++;
    }
    int most = asked / 10;
    assertTrue(reads.size() <= most, () -> reads.size() + " reads");
  }

  @Test
  void rows_in_order_are_found_with_one_read_of_each_part() {
    runs = newRuns(1 << 24);
    add(newVersions(5000));
    reads.clear();
    assertFinds(STEP * 100, /* inOrder= */ true);
    long blocks = runs.bytes() / SpillLayout.FULL_BLOCK + 1;
    assertTrue(reads.size() <= blocks, () -> reads.size() + " reads");
  }

  /** A reader that has the list from before a merge, and finds a run of it gone. */
  @Test
  void readers_find_everything_while_runs_are_merged_and_deleted_under_them() throws Exception {
    SnapshotSet all = snapshots.snapshots(() -> 0);
    List<SpilledVersion> versions = newVersions(4000);
    AtomicBoolean ended = new AtomicBoolean();
    CountDownLatch begun = new CountDownLatch(2);
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (int part = 0; part < 4; part++) {
      add(versions.subList(part * 1000, (part + 1) * 1000));
    }
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Random own = new Random(seed + i);
      readers.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  while (!ended.get()) {
                    SpilledVersion version = versions.get(own.nextInt(versions.size()));
                    long snapshot = version.supersededAt() - 1;
                    assertNotNull(
                        runs.find(List.of(version.row()), snapshot)[0], "a version that is there");
                    begun.countDown();
                  }
                } catch (Throwable failure) {
                  failures.add(failure);
                  begun.countDown();
                  begun.countDown();
                }
              }));
    }
    begun.await();
    for (int round = 0; round < 40; round++) {
      merge(all);
      for (int i = 0; i < 3; i++) {
        add(
            List.of(
                new SpilledVersion(SpilledVersion.row(9, new byte[] {1}), 0, 1, 0, new byte[0])));
      }
    }
    ended.set(true);
    for (Thread reader : readers) {
      reader.join();
    }
    assertEquals(List.of(), failures);
  }

  /**
   * A reader has the list of four runs and reads the first; meanwhile they are merged, and the
   * others deleted. Once it took those for runs without its row.
   */
  @Test
  void a_reader_whose_list_has_a_run_that_is_gone_looks_at_the_new_list() throws Exception {
    byte[] row = row(0);
    for (int version = 1; version <= 4; version++) {
      SpilledVersion one =
          new SpilledVersion(row, 10 * version, 10 * version + 10, 0, new byte[] {(byte) version});
      SpilledVersion wide = new SpilledVersion(row(1), 1, 100, 0, new byte[] {9}); // of any time
      add(version == 1 ? List.of(one, wide) : List.of(one));
    }
    clock.set(100);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicBoolean isFirst = new AtomicBoolean(true);
    faulty.gate(event -> {
      if (event.kind() == IoEvent.Kind.READ && isFirst.getAndSet(false)) {
        reading.countDown();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
    });
    AtomicReference<@Nullable SpilledVersion> found = new AtomicReference<>();
    Thread reader = Thread.ofPlatform().start(() -> found.set(runs.find(List.of(row), 35)[0]));
    reading.await();
    assertTrue(merge(snapshots.snapshots(() -> 0)));
    assertEquals(2, filesThere(), "the merged one, and the one that is read");
    goOn.countDown();
    reader.join();
    assertEquals(30, found.get().committedAt());
    assertEquals(1, filesThere());
  }

  @Test
  void a_damaged_block_is_an_error_that_names_file_and_place() throws IOException {
    add(newVersions(1000));
    Path file;
    try (Stream<Path> there = Files.list(directory)) {
      file = there.findFirst().orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(file);
    int damaged = SpillLayout.HEADER + random.nextInt(bytes.length - SpillLayout.HEADER);
    bytes[damaged] ^= (byte) (1 << random.nextInt(8));
    Files.write(file, bytes);
    List<byte[]> rows = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      rows.add(row(i));
    }
    List<DamagedFileException> told = new ArrayList<>();
    for (long snapshot = 0; snapshot < clock.get(); snapshot += STEP) {
      try {
        runs.find(rows, snapshot);
      } catch (DamagedFileException damage) {
        told.add(damage);
      }
    }
    assertTrue(!told.isEmpty(), "nobody was told of byte " + damaged);
    assertEquals(file, FaultyFileSystem.unwrap(told.getFirst().file()));
    assertTrue(told.getFirst().offset() <= damaged, () -> told.getFirst().getMessage());
    DamagedFileException merging =
        assertThrows(
            DamagedFileException.class,
            () -> {
              for (int i = 0; i < 3; i++) {
                add(newVersions(1000));
              }
              merge(snapshots.snapshots(() -> 0));
            });
    assertTrue(merging.offset() <= damaged, merging::getMessage);
    assertEquals(4, filesThere(), "inputs stay, and half a result goes");
  }

  @Test
  void a_full_disk_leaves_the_list_as_it_was_and_no_half_file() {
    add(newVersions(300));
    faulty.diskFullAfter(10_000);
    assertThrows(RuntimeException.class, () -> add(newVersions(3000)));
    assertEquals(1, runs.count());
    assertEquals(1, filesThere());
    faulty.diskFullAfter(0);
    assertThrows(RuntimeException.class, () -> add(newVersions(1)));
    assertEquals(1, filesThere());
    faulty.diskFullAfter(Long.MAX_VALUE);
    add(newVersions(10));
    assertEquals(2, filesThere());
  }

  @Test
  void an_interrupt_of_a_reading_thread_is_kept_and_closes_nothing() {
    List<SpilledVersion> versions = newVersions(500);
    add(versions);
    for (SpilledVersion version : versions) {
      Thread.currentThread().interrupt();
      assertNotNull(runs.find(List.of(version.row()), version.supersededAt() - 1)[0]);
      assertTrue(Thread.interrupted());
    }
  }

  @Test
  void what_a_former_life_has_left_is_deleted_and_other_files_are_not() throws IOException {
    Path run = Files.write(directory.resolve("versions-1.spill"), new byte[100]);
    Path stack = Files.write(directory.resolve("savepoints-77.spill"), new byte[0]);
    Path other = Files.write(directory.resolve("versions-1.txt"), new byte[1]);
    SpillFiles.deleteLeftOvers(directory);
    assertTrue(!Files.exists(run) && !Files.exists(stack) && Files.exists(other));
  }

  @Test
  void a_file_that_could_not_be_deleted_does_no_harm() throws IOException {
    Path stays = Files.write(directory.resolve("versions-1.spill"), new byte[100]);
    List<SpilledVersion> versions = newVersions(10);
    add(versions);
    SpilledVersion last = versions.getLast();
    assertNotNull(runs.find(List.of(last.row()), last.supersededAt() - 1)[0]);
    assertEquals(100, Files.size(stays));
    Files.delete(stays);
  }
}
