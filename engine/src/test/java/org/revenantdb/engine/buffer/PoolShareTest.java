package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.StorageException;

/** Default sizes of pools. */
class PoolShareTest {
  private static final long MIB = 1L << 20;

  @Test
  void without_a_limit_a_pool_has_the_same_size_on_every_machine() {
    assertEquals(128 * MIB, PoolShare.goodSize(MachineMemory.UNKNOWN, 8192 * MIB, 0));
    assertEquals(128 * MIB, PoolShare.goodSize(MachineMemory.UNKNOWN, 16 * MIB, 1L << 40));
  }

  @Test
  void in_a_container_a_pool_takes_most_of_what_the_heap_and_the_jvm_leave() {
    assertEquals(672 * MIB, PoolShare.goodSize(1152 * MIB, 192 * MIB, 0));
    assertEquals(84 * MIB, PoolShare.goodSize(1152 * MIB, 192 * MIB, 672 * MIB)); // the next one
    assertEquals(1024 * MIB, PoolShare.goodSize(16_384 * MIB, 1024 * MIB, 0));
    assertEquals(168 * MIB, PoolShare.goodSize(512 * MIB, 128 * MIB, 0));
    assertEquals(16 * MIB, PoolShare.goodSize(256 * MIB, 64 * MIB, 0));
  }

  @Test
  void a_pool_does_not_take_a_small_heap_for_its_tables() {
    assertEquals(128 * MIB, PoolShare.goodSize(16_384 * MIB, 16 * MIB, 0));
  }

  @Test
  void a_heap_larger_than_the_limit_leaves_the_least_pool() {
    assertEquals(16 * MIB, PoolShare.goodSize(1024 * MIB, 1024 * MIB, 0));
    assertEquals(16 * MIB, PoolShare.goodSize(1024 * MIB, 1L << 40, 0));
    assertEquals(16 * MIB, PoolShare.goodSize(0, Long.MAX_VALUE, 1L << 40));
  }

  @Test
  void any_number_of_pools_stays_below_the_limit_until_they_have_the_least_size() {
    for (long limit = 256 * MIB; limit <= 65_536 * MIB; limit *= 2) {
      for (long heap = limit / 16; heap <= limit; heap *= 2) {
        long taken = 0;
        long next = PoolShare.goodSize(limit, heap, taken);
        while (next > 16 * MIB) {
          taken += next;
          next = PoolShare.goodSize(limit, heap, taken);
        }
        String sizes = limit + " limit, " + heap + " heap, " + taken + " taken";
        assertTrue(taken == 0 || heap + taken + limit / 16 <= limit, sizes);
      }
    }
  }

  @Test
  void a_view_of_a_follower_gets_a_part_and_no_large_pool() {
    assertEquals(128 * MIB, PoolShare.ofView(1024 * MIB));
    assertEquals(50 * MIB, PoolShare.ofView(100 * MIB));
    assertEquals(16 * MIB, PoolShare.ofView(16 * MIB));
  }

  @Test
  void a_share_is_given_back_by_its_close() {
    long before = PoolShare.taken();
    try (PoolShare share = PoolShare.take(64 * MIB, /* isView= */ false)) {
      assertEquals(64 * MIB, share.bytes());
      assertEquals(before + 64 * MIB, PoolShare.taken());
    }
    assertEquals(before, PoolShare.taken());
  }

  @Test
  void a_database_gives_its_share_back_when_it_is_closed_or_cannot_be_opened(
      @TempDir Path directory) {
    long before = PoolShare.taken();
    try (Database db = Database.open(directory)) {
      assertTrue(db.options().poolBytes() >= BufferPoolOptions.MIN_BYTES);
      assertEquals(before + db.options().poolBytes(), PoolShare.taken());
      assertThrows(StorageException.class, () -> Database.open(directory)); // it is locked
      assertEquals(before + db.options().poolBytes(), PoolShare.taken());
    }
    DatabaseOptions tooLarge =
        DatabaseOptions.defaults().withPoolBytes(BufferPoolOptions.MAX_BYTES);
    assertThrows(LimitException.class, () -> Database.open(directory, tooLarge));
    assertEquals(before, PoolShare.taken());
  }
}
