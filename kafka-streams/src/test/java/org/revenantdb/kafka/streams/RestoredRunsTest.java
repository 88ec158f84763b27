package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
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

  private static Map<byte[], byte[]> model() {
    return new TreeMap<>(Arrays::compareUnsigned);
  }

  @Test
  void runs_and_memory_together_have_the_last_change_of_each_key() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    random.nextInt();
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
        List<SortedChanges> all = runs.read();
        all.add(rows.sorted());
        assertChanges(model, SortedChanges.merged(all));
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
    SortedChanges failing = rows(model(), 1_000, 9_000).sorted();
    SortedChanges half =
        new SortedChanges() {
          private int left = 5_000;

          @Override
          boolean next() throws IOException {
            if (left-- == 0) {
              throw new IOException("as a full disk");
            }
            boolean isThere = failing.next();
            at(failing.bytes, failing.start, failing.beginning);
            return isThere;
          }
        };
    assertThrows(IOException.class, () -> runs.add(half));
    assertEquals(1, runs.count());
    runs.add(rows(model, 2_000, 2_500).sorted());
    assertChanges(model, SortedChanges.merged(runs.read()));
    runs.clear();
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
  void what_an_earlier_process_left_is_deleted() throws Exception {
    Path left = Path.of(new RestoredRuns(directory).toString());
    Files.write(left, new byte[10]);
    RestoredRuns.deleteLeft(directory);
    assertFalse(Files.exists(left));
    RestoredRuns.deleteLeft(directory.resolve("missing"));
  }
}
