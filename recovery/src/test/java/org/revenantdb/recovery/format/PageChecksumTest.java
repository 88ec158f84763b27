package org.revenantdb.recovery.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.TestPages;

class PageChecksumTest {
  /** Bit by bit, from the polynomial. */
  private static int slowCrc32c(byte[] bytes, int from) {
    int crc = -1;
    for (int i = from; i < bytes.length; i++) {
      crc ^= bytes[i] & 0xFF;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc >>> 1) ^ (0x82F63B78 & -(crc & 1));
      }
    }
    return ~crc;
  }

  @Test
  void compute_isCrc32cOfAllButTheFirstFourBytes() {
    byte[] bytes = new byte[8192];
    new Random(1).nextBytes(bytes);
    assertEquals(slowCrc32c(bytes, 4), PageChecksum.compute(MemorySegment.ofArray(bytes)));
  }

  @Test
  void compute_nativeAndHeapAgree() {
    MemorySegment heap = TestPages.page(7, 1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment direct = arena.allocate(8192, 64).copyFrom(heap);
      assertEquals(PageChecksum.compute(heap), PageChecksum.compute(direct));
      assertTrue(PageChecksum.isGood(direct, 7));
    }
  }

  @Test
  void isGood_otherPage() {
    assertTrue(PageChecksum.isGood(TestPages.page(7, 1), 7));
    assertFalse(PageChecksum.isGood(TestPages.page(7, 1), 8), "a page written to the wrong place");
  }

  @Test
  void isGood_zeros() {
    assertFalse(PageChecksum.isGood(MemorySegment.ofArray(new byte[8192]), 0));
  }

  @Test
  void isGood_eachFlippedBit() {
    MemorySegment page = TestPages.page(7, 1);
    byte[] bytes = (byte[]) page.heapBase().orElseThrow();
    for (int bit = 0; bit < 8192 * 8; bit++) {
      bytes[bit / 8] ^= (byte) (1 << bit % 8);
      assertFalse(PageChecksum.isGood(page, 7), () -> "a flipped bit went unseen");
      bytes[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertTrue(PageChecksum.isGood(page, 7));
  }

  @Test
  void isGood_manyThreads() throws InterruptedException, ExecutionException {
    List<Callable<Boolean>> checks = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      MemorySegment page = TestPages.page(i, i);
      int id = i;
      checks.add(() -> {
        boolean good = true;
        for (int round = 0; round < 2000; round++) {
          good &= PageChecksum.isGood(page, id);
        }
        return good;
      });
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (Future<Boolean> check : threads.invokeAll(checks)) {
        assertTrue(check.get());
      }
    }
  }
}
