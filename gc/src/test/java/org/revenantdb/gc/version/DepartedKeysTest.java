package org.revenantdb.gc.version;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The keys of deleted rows that have left their leaves (docs/protocols.md §48). */
class DepartedKeysTest {
  private static final int TABLE = 7;

  private final AtomicLong memory = new AtomicLong();
  private final DepartedRows departed =
      new DepartedRows(memory::addAndGet, bytes -> memory.addAndGet(-bytes));

  private static byte[] key(int i) {
    return new byte[] {(byte) (i >> 8), (byte) i};
  }

  private List<byte[]> keys(long snapshot, int most, boolean descending) {
    return departed.keys(TABLE, new byte[0], /* to= */ null, snapshot, most, descending).keys();
  }

  @Test
  void a_snapshot_finds_the_keys_that_were_deleted_after_it() {
    departed.add(TABLE, key(3), 30);
    departed.add(TABLE, key(1), 50);
    departed.add(TABLE, key(2), 40);
    assertTrue(departed.anyAfter(TABLE, 49));
    assertFalse(departed.anyAfter(TABLE, 50));
    assertFalse(departed.anyAfter(TABLE + 1, 0));
    List<byte[]> found = keys(30, 10, false);
    assertEquals(2, found.size());
    assertArrayEquals(key(1), found.get(0));
    assertArrayEquals(key(2), found.get(1));
    assertArrayEquals(key(3), keys(0, 1, true).getFirst());
    assertEquals(50, departed.after(TABLE, key(1), 49));
    assertEquals(0, departed.after(TABLE, key(1), 50));
    assertEquals(0, departed.after(TABLE, key(4), 0));
  }

  @Test
  void keys_whose_deletes_all_snapshots_have_reached_go_and_their_memory_with_them() {
    departed.add(TABLE, key(1), 50);
    departed.add(TABLE, key(1), 70);
    departed.add(TABLE, key(2), 60);
    assertEquals(2, departed.size());
    departed.forget(60, (table, key, deletedAt) -> false);
    assertEquals(1, departed.size());
    assertEquals(memory.get(), departed.bytes());
    departed.forget(60, (table, key, deletedAt) -> true);
    assertEquals(0, departed.size());
    assertEquals(0, memory.get());
    assertFalse(departed.mayForgetTables(69));
    assertTrue(departed.mayForgetTables(70));
    departed.add(TABLE, key(3), 70);
    departed.forgetTables(70);
    assertEquals(0, memory.get());
    assertFalse(departed.mayForgetTables(Long.MAX_VALUE));
    assertFalse(departed.anyAfter(TABLE, 0));
  }

  /** As many keys as the list of the recent ones holds several times over. */
  @Test
  void any_snapshot_finds_the_same_by_the_recent_keys_and_by_all_of_them() {
    long seed = Long.getLong("revenant.seed", new Random().nextLong());
    System.out.println("DepartedKeysTest -Drevenant.seed=" + seed);
    Random random = new Random(seed);
    Map<byte[], Long> model = new TreeMap<>(Arrays::compareUnsigned);
    long clock = 100;
    for (int added = 0; added < 100_000; added++) {
      byte[] key = key(random.nextInt(1 << 13));
      clock += random.nextInt(3);
      long deletedAt = Math.max(clock - random.nextInt(50), model.getOrDefault(key, 0L) + 1);
      departed.add(TABLE, key, deletedAt);
      model.put(key, deletedAt);
      if (random.nextInt(500) == 0) {
        compare(model, random, clock);
      }
    }
  }

  private void compare(Map<byte[], Long> model, Random random, long clock) {
    long age =
        random.nextInt(4) == 0 ? clock : 1 + random.nextInt(random.nextBoolean() ? 3_000 : 100_000);
    long snapshot = clock - age;
    byte[] from = key(random.nextInt(1 << 13));
    byte @Nullable [] to = random.nextInt(4) == 0 ? null : key(random.nextInt(1 << 13));
    int most = 1 + random.nextInt(100);
    boolean descending = random.nextBoolean();
    List<byte[]> expected = new ArrayList<>();
    model.forEach((key, deletedAt) -> {
      if (deletedAt > snapshot
          && Arrays.compareUnsigned(key, from) >= 0
          && (to == null || Arrays.compareUnsigned(key, to) < 0)) {
        expected.add(key);
      }
    });
    if (descending) {
      Collections.reverse(expected);
    }
    DepartedRows.Found all = departed.keys(TABLE, from, to, snapshot, most, descending);
    List<byte[]> found = all.keys();
    assertTrue(expected.size() <= most || all.end() != null, "it says that there are more");
    assertEquals(Math.min(most, expected.size()), found.size());
    for (int i = 0; i < found.size(); i++) {
      assertArrayEquals(expected.get(i), found.get(i));
    }
  }
}
