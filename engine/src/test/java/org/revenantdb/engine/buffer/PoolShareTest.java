package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Default sizes of pools. */
class PoolShareTest {
  private static final long MIB = 1L << 20;

  @Test
  void without_a_limit_a_pool_has_the_same_size_on_every_machine() {
    assertEquals(128 * MIB, PoolShare.goodSize(MachineMemory.UNKNOWN, 8192 * MIB, 0));
    assertEquals(128 * MIB, PoolShare.goodSize(MachineMemory.UNKNOWN, 8192 * MIB, 1 << 30));
  }

  @Test
  void in_a_container_a_pool_takes_most_of_what_the_heap_leaves() {
    assertEquals(666 * MIB, PoolShare.goodSize(1152 * MIB, 192 * MIB, 0));
    assertEquals(1024 * MIB, PoolShare.goodSize(16_384 * MIB, 1024 * MIB, 0));
    assertEquals(32 * MIB, PoolShare.goodSize(256 * MIB, 256 * MIB, 0));
  }

  @Test
  void any_number_of_pools_stays_below_the_limit_until_they_have_the_least_size() {
    long limit = 2048 * MIB;
    long heap = 512 * MIB;
    long taken = 0;
    long next = PoolShare.goodSize(limit, heap, taken);
    while (next > 32 * MIB) {
      taken += next;
      next = PoolShare.goodSize(limit, heap, taken);
    }
    assertTrue(heap + taken < limit, "pools take " + taken);
  }

  @Test
  void a_share_is_counted_until_it_is_closed() {
    try (PoolShare first = PoolShare.take(64 * MIB)) {
      assertEquals(64 * MIB, first.bytes());
    }
  }
}
