package org.revenantdb.engine.sort;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * Sorts in little memory, against a map: {@code -Drevenant.seed=n} repeats a run, {@code
 * -Drevenant.rounds=n} makes more of them.
 */
class ExternalSortTest {
  private static final int ROUNDS = Integer.getInteger("revenant.rounds", 4);

  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final FaultyFileSystem faulty = new FaultyFileSystem();

  /** The last value of each key; none for a deletion. */
  private final TreeMap<byte[], Optional<byte[]>> model = new TreeMap<>(Arrays::compareUnsigned);

  private int merges;

  ExternalSortTest() {
    System.out.println("ExternalSortTest -Drevenant.seed=" + seed);
  }

  private SortFiles files() {
    SpillFiles files = new SpillFiles(faulty.wrap(directory), new byte[16], 1, new IoStatistics());
    return new SortFiles(
        files,
        new ExternalSort.Steps() {
          @Override
          public <T extends @Nullable Object> T run(Supplier<T> step) {
            return step.get();
          }
        });
  }

  private ExternalSort sort(SortFiles files, long memory) {
    return new ExternalSort(
        files,
        memory,
        (bytes, isMerge) -> {
          assertTrue(bytes > 0);
          merges += isMerge ? 1 : 0;
        });
  }

  private int onDisk() {
    try (Stream<Path> there = Files.list(directory)) {
      return (int) there.count();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Often one that came before; many share their first eight bytes, and some are prefixes. */
  private byte[] key() {
    int kind = random.nextInt(4);
    if (kind == 0 && !model.isEmpty()) {
      byte[] near = model.ceilingKey(bytes(1 + random.nextInt(4)));
      return (near == null ? model.firstKey() : near).clone();
    }
    byte[] key = bytes(1 + random.nextInt(kind == 1 ? 3 : 12));
    if (kind == 2) {
      byte[] longer = new byte[8 + key.length];
      System.arraycopy(key, 0, longer, 8, key.length);
      return longer;
    }
    return random.nextInt(50) == 0 ? Arrays.copyOf(key, 1024) : key;
  }

  private void add(ExternalSort sort, int largest) throws IOException {
    byte[] key = key();
    if (random.nextInt(8) == 0) {
      sort.add(key, null);
      model.put(key.clone(), Optional.empty());
      return;
    }
    boolean isLarge = random.nextInt(60) == 0;
    byte[] value = bytes(random.nextInt(isLarge ? largest : 60));
    if (isLarge && value.length > 10) {
      int first = random.nextInt(10);
      InputStream rest = new ByteArrayInputStream(value, first, value.length - first);
      sort.add(key, Arrays.copyOf(value, first), rest);
    } else {
      sort.add(key, value);
    }
    model.put(key.clone(), Optional.of(value.clone()));
    Arrays.fill(value, (byte) 0); // the arrays are the caller's
    Arrays.fill(key, (byte) 0);
  }

  private void assertSorted(ExternalSort sort) throws IOException {
    SortedChanges found = sort.sorted();
    byte[] key = {};
    byte[] value = {};
    for (Map.Entry<byte[], Optional<byte[]>> expected : model.entrySet()) {
      assertTrue(found.next(), () -> "ends before " + Arrays.toString(expected.getKey()));
      key = found.key(key);
      assertArrayEquals(expected.getKey(), key);
      assertEquals(expected.getValue().isEmpty(), found.isDeletion());
      if (found.isBeside()) {
        byte[] large = sort.valueOf(found).readAllBytes();
        assertEquals(found.lengthBeside(), large.length);
        assertArrayEquals(expected.getValue().orElseThrow(), large);
      } else if (!found.isDeletion()) {
        value = found.value(value);
        assertArrayEquals(expected.getValue().orElseThrow(), value);
      }
    }
    assertFalse(found.next());
  }

  @Test
  @Tag("slow")
  void changes_come_back_sorted_and_of_each_key_the_last_one() throws IOException {
    for (int round = 0; round < ROUNDS; round++) {
      model.clear();
      SortFiles files = files();
      ExternalSort sort = sort(files, random.nextBoolean() ? 16_000 : 500_000);
      int count = random.nextInt(round % 4 == 0 ? 200 : 6_000);
      for (int i = 0; i < count; i++) {
        add(sort, 200_000);
        if (random.nextInt(4_000) == 0) {
          sort.spill();
        }
        if (random.nextInt(8_000) == 0) {
          assertSorted(sort); // and more are added
        }
      }
      assertEquals(count, sort.added());
      assertSorted(sort);
      assertSorted(sort);
      assertTrue(files.count() <= 5, () -> "files: " + files.count());
      files.left().deleteAll();
      assertEquals(0, onDisk());
    }
  }

  @Test
  void few_changes_need_no_file() throws IOException {
    ExternalSort sort = sort(files(), 1 << 20);
    for (int i = 0; i < 5_000; i++) {
      byte[] key = {(byte) (i >> 8), (byte) i};
      assertTrue(sort.addToMemory(key, key));
      model.put(key, Optional.of(key));
    }
    assertSorted(sort);
    assertTrue(sort.memory() <= 1 << 20);
    assertEquals(0, onDisk());
  }

  @Test
  void memory_stays_below_its_bound_and_many_runs_are_merged_in_passes() throws IOException {
    SortFiles files = files();
    ExternalSort sort = sort(files, 40_000);
    int most = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] key = bytes(12);
      sort.add(key, key);
      model.put(key, Optional.of(key));
      assertTrue(sort.memory() <= 40_000, () -> "memory: " + sort.memory());
      most = Math.max(most, sort.runs());
    }
    assertTrue(most > 10, "runs: " + most);
    assertEquals(1, files.count());
    assertSorted(sort);
    assertTrue(merges > 0);
    assertEquals(2, sort.runs());
    assertTrue(files.count() <= 5, () -> "files: " + files.count());
    files.left().deleteAll();
    assertEquals(0, onDisk());
  }

  /** The room of arrays that grow is counted before they do. */
  @Test
  void memory_stays_below_each_bound() {
    SortFiles files = files();
    for (int bound = 15_000; bound < 120_000; bound += 1_777) {
      ExternalSort sort = sort(files, bound);
      int length = bound % 90;
      int most = bound;
      for (int i = 0; i < 3_000 && sort.runs() < 2; i++) {
        sort.add(bytes(12), bytes(length));
        long memory = sort.memory();
        assertTrue(memory <= most, () -> memory + " of " + most);
      }
    }
    files.left().deleteAll();
  }

  /** An odd run at the end of a pass would keep the file before it for another pass. */
  @Test
  void passes_need_no_more_than_twice_the_space_of_the_runs() throws IOException {
    for (int runs = 3; runs < 20; runs++) {
      long[] most = {0};
      SortFiles files = files();
      ExternalSort sort =
          new ExternalSort(
              files, 30_000, (bytes, isMerge) -> most[0] = Math.max(most[0], bytesOnDisk()));
      while (sort.runs() < runs) {
        sort.add(bytes(12), bytes(100));
      }
      sort.spill();
      long needed = sort.fileBytes();
      sort.sorted();
      long space = most[0];
      assertTrue(space <= 2 * needed + 1_000, () -> space + " for " + needed);
      files.left().deleteAll();
    }
  }

  private long bytesOnDisk() {
    try {
      long bytes = 0;
      for (Path file : list()) {
        bytes += Files.size(file);
      }
      return bytes;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Each kind of file: of runs, of a pass, of large values. */
  @Test
  @Tag("slow")
  void a_full_disk_at_any_write_loses_nothing_that_was_added_before() throws IOException {
    for (int failing = 1; ; failing += 1 + failing / 12) {
      model.clear();
      random.setSeed(seed);
      SortFiles files = files();
      ExternalSort sort = sort(files, 30_000);
      int[] left = {failing};
      faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.WRITE && --left[0] == 0) {
          throw new IOException("No space left on device");
        }
      });
      int failures = 0;
      for (int i = 0; i < 2_400; i++) {
        byte[] key = bytes(10);
        byte[] value = bytes(random.nextInt(300) == 0 ? 100_000 : 30);
        try {
          sort.add(key, value);
        } catch (DiskFullException told) {
          failures++;
          assertNothingBeyond(sort, files);
          sort.add(key, value);
        }
        model.put(key, Optional.of(value));
      }
      try {
        sort.sorted();
      } catch (DiskFullException told) {
        failures++;
        assertNothingBeyond(sort, files); // a pass has written some of its runs
      }
      assertSorted(sort);
      faulty.hook(event -> {});
      files.left().deleteAll();
      assertEquals(0, onDisk());
      if (failures == 0) {
        assertTrue(failing > 12, "writes: " + failing);
        return;
      }
      assertEquals(1, failures);
    }
  }

  /** Runs of several writes, with large values that go to their file with a run, and at once. */
  @Test
  @Tag("slow")
  void what_a_full_disk_leaves_of_a_write_takes_no_space() throws IOException {
    int failures = 1;
    for (int failing = 1; failures > 0; failing += 1 + failing / 8) {
      failures = 0;
      SortFiles files = files();
      ExternalSort sort = sort(files, 700_000);
      int[] left = {failing};
      faulty.hook(event -> {
        if (event.kind() == IoEvent.Kind.WRITE && --left[0] == 0) {
          throw new IOException("No space left on device");
        }
      });
      for (int i = 0; i < 3_000 && failures == 0; i++) {
        int runs = sort.runs();
        long before = sort.fileBytes();
        try {
          sort.add(bytes(10), bytes(i % 40 == 0 ? 20_000 : i % 301 == 0 ? 150_000 : 1_000));
        } catch (DiskFullException told) {
          failures++;
          assertTrue(sort.runs() > runs || sort.fileBytes() == before);
          assertNothingBeyond(sort, files);
        }
      }
      for (int again = 0; again < 2; again++) {
        try {
          sort.spill();
          sort.sorted();
        } catch (DiskFullException told) {
          failures++;
          assertNothingBeyond(sort, files);
        }
      }
      faulty.hook(event -> {});
      files.left().deleteAll();
      assertEquals(0, onDisk());
      assertTrue(failing > 20 || failures > 0, "writes: " + failing);
    }
  }

  private void assertNothingBeyond(ExternalSort sort, SortFiles files) {
    assertEquals(sort.fileBytes() + 64L * files.count(), bytesOnDisk());
  }

  @Test
  void a_stream_that_throws_adds_nothing() throws IOException {
    SortFiles files = files();
    ExternalSort sort = sort(files, 100_000);
    sort.add(new byte[] {1}, new byte[200_000]);
    long before = sort.fileBytes();
    InputStream fails =
        new SequenceInputStream(
            new ByteArrayInputStream(new byte[100_000]),
            new InputStream() {
              @Override
              public int read() throws IOException {
                throw new IOException("says the test");
              }
            });
    assertThrows(IOException.class, () -> sort.add(new byte[] {2}, new byte[3], fails));
    assertEquals(1, sort.added());
    assertEquals(before, sort.fileBytes());
    model.put(new byte[] {1}, Optional.of(new byte[200_000]));
    assertSorted(sort);
    files.left().deleteAll();
  }

  /** The files are never forced, so a disk that fails may give other bytes back. */
  @Test
  void other_bytes_than_were_written_are_found_wherever_they_are() throws IOException {
    SortFiles files = files();
    ExternalSort sort = sort(files, 30_000);
    for (int i = 0; i < 2_000; i++) {
      sort.add(bytes(10), bytes(i % 500 == 0 ? 70_000 : 30));
    }
    readAll(sort); // which merges
    for (Path file : list()) {
      byte[] good = Files.readAllBytes(file);
      for (int i = 0; i < 6; i++) {
        byte[] bad = good.clone();
        bad[64 + random.nextInt(good.length - 64)] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, bad);
        assertDamaged(sort);
      }
      Files.write(file, Arrays.copyOf(good, good.length - 1 - random.nextInt(60_000)));
      assertDamaged(sort);
      Files.write(file, good);
    }
    readAll(sort);
    files.left().deleteAll();
  }

  /** A device that mixes up its blocks: each of them is whole. */
  @Test
  void whole_blocks_of_another_place_or_of_another_file_are_found() throws IOException {
    SortFiles files = files();
    ExternalSort[] sorts = {sort(files, 30_000), sort(files, 30_000)};
    for (ExternalSort sort : sorts) {
      sort.add(bytes(10), bytes(200_000));
    }
    Path[] both = list();
    byte[] good = Files.readAllBytes(both[0]);
    Files.write(both[0], Files.readAllBytes(both[1]));
    assertDamaged(sorts[0]);
    int block = (1 << 16) + 24;
    byte[] swapped = good.clone();
    System.arraycopy(good, 64, swapped, 64 + block, block);
    System.arraycopy(good, 64 + block, swapped, 64, block);
    Files.write(both[0], swapped);
    assertDamaged(sorts[0]);
    Files.write(both[0], good);
    readAll(sorts[0]);
    readAll(sorts[1]);
    files.left().deleteAll();
  }

  private static void assertDamaged(ExternalSort sort) {
    DamagedFileException told = assertThrows(DamagedFileException.class, () -> readAll(sort));
    assertTrue(told.getMessage().contains(".spill"), told::getMessage);
  }

  private static void readAll(ExternalSort sort) throws IOException {
    SortedChanges found = sort.sorted();
    while (found.next()) {
      if (found.isBeside()) {
        sort.valueOf(found).readAllBytes();
      }
    }
  }

  private Path[] list() throws IOException {
    try (Stream<Path> there = Files.list(directory)) {
      return there.sorted().toArray(Path[]::new);
    }
  }

  /** A file of the same name that another process has made in the meantime stays. */
  @Test
  void a_file_is_deleted_once() throws IOException {
    SortFiles files = files();
    ExternalSort sort = sort(files, 30_000);
    sort.add(new byte[] {1}, new byte[100_000]);
    Path file = list()[0];
    assertEquals("sorts-1.spill", file.getFileName().toString());
    files.left().deleteAll();
    Files.write(file, new byte[1]);
    files.left().deleteAll();
    assertEquals(1, onDisk());
  }
}
