package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Sorted runs in a file, and what they have together (README.md, §60). */
class RestoredRunsTest {
  @TempDir Path directory;

  private static void assertChanges(Map<byte[], byte[]> model, SortedChanges changes)
      throws IOException {
    Iterator<Map.Entry<byte[], byte[]>> expected = model.entrySet().iterator();
    while (changes.next()) {
      Map.Entry<byte[], byte[]> next = expected.next();
      assertArrayEquals(next.getKey(), RestoredRowsTest.key(changes));
      assertArrayEquals(next.getValue(), RestoredRowsTest.value(changes));
    }
    assertFalse(expected.hasNext());
  }

  /** What the runs and the memory have together. */
  private static void assertChanges(
      Map<byte[], byte[]> model, RestoredRuns runs, RestoredRows memory) throws IOException {
    if (runs.isEmpty()) {
      assertChanges(model, memory.sorted());
      return;
    }
    try (FileChannel file = runs.open()) {
      List<SortedChanges> all = runs.read(file);
      all.add(memory.sorted());
      assertChanges(model, SortedChanges.merged(all));
    }
  }

  private static Map<byte[], byte[]> model() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  @Test
  void runs_and_memory_together_have_the_last_change_of_each_key() throws Exception {
    Random random = Seeds.random();
    RestoredRuns runs = new RestoredRuns(directory);
    for (int round = 0; round < 60; round++) {
      Map<byte[], byte[]> model = model();
      RestoredRows rows = new RestoredRows();
      int count = random.nextInt(9);
      for (int run = 0; run <= count; run++) {
        for (int i = random.nextInt(3) * random.nextInt(2_000); i > 0; i--) {
          byte[] key = RestoredRowsTest.key(random, i);
          byte[] value = value(random);
          rows.add(key, value);
          model.put(key, value);
        }
        if (run < count) {
          runs.add(rows.sorted());
          rows.clear();
        }
      }
      assertEquals(count, runs.count());
      for (int attempt = 0; attempt < 2; attempt++) { // a write that fails is tried again
        assertChanges(model, runs, rows);
      }
      runs.clear();
      assertTrue(runs.isEmpty());
      assertFalse(Files.exists(Path.of(runs.toString())));
    }
  }

  /** Some are larger than what is read or written at a time. */
  private static byte[] value(Random random) {
    byte[] value =
        switch (random.nextInt(500)) {
          case 0 -> new byte[65_530 + random.nextInt(20)];
          case 1 -> new byte[random.nextInt(300_000)];
          case 2, 3, 4, 5, 6, 7, 8, 9 -> null;
          default -> new byte[random.nextInt(40)];
        };
    if (value != null) {
      random.nextBytes(value);
    }
    return value;
  }

  @Test
  void a_run_that_failed_is_not_there_and_the_next_one_takes_its_place() throws Exception {
    RestoredRuns runs = new RestoredRuns(directory);
    Map<byte[], byte[]> model = model();
    runs.add(rows(model, 0, 3_000).sorted());
    assertThrows(IOException.class, () -> runs.add(failing()));
    assertEquals(1, runs.count());
    assertEquals(runs.bytes(), Files.size(path(runs))); // its space is given back
    runs.add(rows(model, 2_000, 2_500).sorted());
    assertChanges(model, runs, new RestoredRows());
    runs.clear();
    assertThrows(IOException.class, () -> runs.add(failing()));
    assertTrue(runs.isEmpty());
    assertFalse(Files.exists(path(runs)));
  }

  private static Path path(RestoredRuns runs) {
    return Path.of(runs.toString());
  }

  private static SortedChanges failing() {
    SortedChanges all = rows(model(), 1_000, 9_000).sorted();
    return new SortedChanges() {
      private int left = 5_000;

      @Override
      boolean next() throws IOException {
        if (left-- == 0) {
          throw new IOException("as a full disk");
        }
        boolean isThere = all.next();
        at(all.bytes, all.start, all.beginning);
        return isThere;
      }
    };
  }

  private static RestoredRows rows(Map<byte[], byte[]> model, int from, int to) {
    RestoredRows rows = new RestoredRows();
    for (int i = to - 1; i >= from; i--) {
      byte[] key = {(byte) (i >> 8), (byte) i};
      byte[] value = {(byte) to, (byte) (to >> 8), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
      rows.add(key, value);
      model.put(key, value);
    }
    return rows;
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void a_full_disk_leaves_no_run() throws Exception {
    RestoredRuns runs = new RestoredRuns(directory);
    Files.createSymbolicLink(path(runs), Path.of("/dev/full"));
    assertThrows(IOException.class, () -> runs.add(rows(model(), 0, 9_000).sorted()));
    assertTrue(runs.isEmpty());
    assertEquals(0, runs.bytes());
    Map<byte[], byte[]> model = model();
    runs.add(rows(model, 0, 9_000).sorted());
    assertChanges(model, runs, new RestoredRows());
  }

  @Test
  void an_interrupted_thread_leaves_the_runs_as_they_were() throws Exception {
    RestoredRuns runs = new RestoredRuns(directory);
    Map<byte[], byte[]> model = model();
    runs.add(rows(model, 0, 3_000).sorted());
    Thread.currentThread().interrupt();
    assertThrows(
        ClosedByInterruptException.class, () -> runs.add(rows(model(), 0, 2_000).sorted()));
    assertThrows(
        ClosedByInterruptException.class, () -> assertChanges(model, runs, new RestoredRows()));
    assertTrue(Thread.interrupted());
    runs.add(rows(model, 2_000, 2_500).sorted());
    assertChanges(model, runs, new RestoredRows());
  }

  @Test
  void each_byte_that_is_not_as_it_was_written_is_found() throws Exception {
    Random random = Seeds.random();
    Map<byte[], byte[]> model = model();
    RestoredRuns runs = new RestoredRuns(directory);
    for (int run = 0; run < 3; run++) {
      RestoredRows rows = rows(model, 1_000 * run, 9_000);
      byte[] large = new byte[200_000];
      random.nextBytes(large);
      rows.add(new byte[] {(byte) run}, large);
      model.put(new byte[] {(byte) run}, large);
      runs.add(rows.sorted());
    }
    byte[] whole = Files.readAllBytes(path(runs));
    assertEquals(runs.bytes(), whole.length);
    for (int attempt = 0; attempt < 30; attempt++) {
      byte[] other = whole.clone();
      int at = random.nextInt(whole.length);
      switch (attempt % 3) {
        case 0 -> other[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> other = Arrays.copyOf(other, at);
        default -> { // a page that was never written
          Arrays.fill(other, at & ~4095, Math.min(other.length, (at | 4095) + 1), (byte) 0);
        }
      }
      Files.write(path(runs), other);
      IOException found =
          assertThrows(
              IOException.class,
              () -> {
                try (FileChannel file = runs.open()) {
                  SortedChanges merged = SortedChanges.merged(runs.read(file));
                  while (merged.next()) {}
                }
              });
      assertTrue(found.getMessage().contains(path(runs).toString()));
    }
    Files.write(path(runs), whole);
    assertChanges(model, runs, new RestoredRows());
  }

  @Test
  void a_lost_file_is_not_made_anew() throws Exception {
    RestoredRuns runs = new RestoredRuns(directory);
    runs.add(rows(model(), 0, 3_000).sorted());
    Files.delete(path(runs));
    assertThrows(IOException.class, () -> runs.add(rows(model(), 0, 3_000).sorted()));
    assertFalse(Files.exists(path(runs)));
    assertThrows(IOException.class, runs::open);
  }

  /** Many stores may have runs, and a process may have few open files. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void the_file_is_open_only_while_it_is_used() throws Exception {
    RestoredRuns runs = new RestoredRuns(directory);
    runs.add(rows(model(), 0, 3_000).sorted());
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      assertEquals(List.of(), files.filter(file -> isLinkTo(path(runs), file)).toList());
    }
  }

  private static boolean isLinkTo(Path to, Path link) {
    try {
      return Files.readSymbolicLink(link).equals(to.toRealPath());
    } catch (IOException closed) {
      return false;
    }
  }

  /** A merge has a block of each run in memory, and a large change is a block. */
  @Test
  void large_changes_leave_room_for_fewer_runs() throws Exception {
    RestoredRuns small = new RestoredRuns(directory);
    for (int run = 0; run < 64; run++) {
      assertTrue(small.hasRoomFor(30));
      small.add(rows(model(), 0, 10).sorted());
    }
    assertFalse(small.hasRoomFor(30));
    small.clear();
    assertTrue(small.hasRoomFor(30));
    RestoredRuns large = new RestoredRuns(directory);
    assertFalse(large.hasRoomFor(4 << 20));
    for (int run = 0; run < 3; run++) {
      RestoredRows rows = rows(model(), 0, 10);
      rows.add(new byte[1], new byte[1 << 20]);
      assertTrue(large.hasRoomFor(rows.largest()));
      large.add(rows.sorted());
    }
    assertFalse(large.hasRoomFor(1 << 20));
    assertTrue(large.hasRoomFor(30));
  }

  @Test
  void what_an_earlier_process_left_is_deleted() throws Exception {
    Path left = Path.of(new RestoredRuns(directory).toString());
    Files.write(left, new byte[10]);
    RestoredRuns.deleteLeft(directory);
    assertFalse(Files.exists(left));
    RestoredRuns.deleteLeft(directory.resolve("missing"));
  }
}
