package org.revenantdb.jmh.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.jmh.baseline.TenByteLsn.Lsn;

/** The paper's page LSN as one thread sees it; what two see of it is a claim of jcstress. */
class TenByteLsnTest {
  private static final int AT = 8;
  private static final int MASK = TenByteLsn.SLOT_MASK;

  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Arena arena;
  private MemorySegment page;
  private TenByteLsn lsn;

  @BeforeEach
  void allocate() {
    arena = Arena.ofShared();
    page = arena.allocate(64, 64);
    lsn = new TenByteLsn(page, AT);
  }

  @AfterEach
  void free() {
    arena.close();
  }

  private static long block(int file, int offset) {
    return ((long) file << Integer.SIZE) | (offset & 0xFFFFFFFFL);
  }

  @Test
  void bytes_lieAsInFigure5_andThoseBehindStay() {
    page.set(U16, AT + TenByteLsn.BYTES, (short) 0x1234);
    lsn.raise(block(7, 9), 11);
    assertEquals(7, page.get(U32, AT));
    assertEquals(9, page.get(U32, AT + 4));
    assertEquals(11, page.get(U16, AT + TenByteLsn.SLOT));
    assertEquals(0x1234, page.get(U16, AT + TenByteLsn.BYTES));
    assertEquals(0, page.get(U32, 0));
  }

  @Test
  void raise_leavesTheHighest() {
    Lsn highest = new Lsn(0, 0);
    long[] blocks = {block(1, 5), block(1, 4), block(2, 0), block(1, 9), block(2, 0), block(2, 1)};
    int[] slots = {3, 9, 2, 9, 1, 0};
    for (int i = 0; i < blocks.length; i++) {
      Lsn next = new Lsn(blocks[i], slots[i]);
      highest = highest.compareTo(next) < 0 ? next : highest;
      lsn.raise(next.block(), next.slot());
      assertEquals(highest, lsn.read());
    }
  }

  @Test
  void raise_fromTheHighestSlot_goesOnWithTheNextBlock() {
    lsn.raise(block(1, 5), TenByteLsn.MAX_SLOT);
    assertEquals(new Lsn(block(1, 5), TenByteLsn.MAX_SLOT), lsn.read());
    lsn.raise(block(1, 6), 0);
    assertEquals(new Lsn(block(1, 6), 0), lsn.read());
    lsn.raise(block(1, 5), TenByteLsn.MAX_SLOT);
    assertEquals(new Lsn(block(1, 6), 0), lsn.read());
  }

  @Test
  void raise_takesFilesAndBlocksForUnsigned() {
    lsn.raise(block(1, 0x7FFFFFFF), 1);
    lsn.raise(block(1, 0x80000000), 1);
    assertEquals(block(1, 0x80000000), lsn.read().block());
    lsn.raise(block(0x80000000, 0), 0);
    assertEquals(block(0x80000000, 0), lsn.read().block());
  }

  @Test
  void raise_toASlotThatNeedsTheBitOfTheLock_isRefused() {
    assertThrows(IllegalArgumentException.class, () -> lsn.raise(1, MASK));
    assertThrows(IllegalArgumentException.class, () -> lsn.raise(1, -1));
    assertEquals(new Lsn(0, 0), lsn.read());
  }

  @Test
  void twoReads_areOneLsn_onlyIfTheyAgreeAndThereIsNoWriter() {
    assertTrue(TenByteLsn.isWhole(5, 3, 5, 3));
    assertFalse(TenByteLsn.isWhole(5, 3, 6, 3), "the block changed");
    assertFalse(TenByteLsn.isWhole(5, 3, 5, 4), "the slot changed");
    assertFalse(TenByteLsn.isWhole(5, 3 | MASK, 5, 3), "somebody was writing");
    assertFalse(TenByteLsn.isWhole(5, 3, 5, 3 | MASK), "somebody is writing");
    assertFalse(TenByteLsn.isWhole(5, 3 | MASK, 5, 3 | MASK), "both times");
  }

  /** The state that a writer leaves in the middle: the bit, new first bytes, the old slot. */
  private void tear() {
    lsn.raise(block(1, 5), 3);
    page.set(U16, AT + TenByteLsn.SLOT, (short) (3 | MASK));
    page.set(U32, AT + 4, 6);
  }

  private void mend() {
    page.set(U16, AT + TenByteLsn.SLOT, (short) 1);
  }

  /** Starts a thread, and returns when it is reading, or has ended. */
  private static Thread awaitReading(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    while (thread.isAlive()
        && Arrays.stream(thread.getStackTrace())
            .noneMatch(frame -> frame.getMethodName().equals("read"))) {
      LockSupport.parkNanos(20_000);
    }
    return thread;
  }

  @Test
  void read_ofATornState_waitsUntilItIsWhole() throws InterruptedException {
    tear();
    AtomicReference<Lsn> read = new AtomicReference<>();
    Thread reader = awaitReading(() -> read.set(lsn.read()));
    mend();
    reader.join();
    assertEquals(new Lsn(block(1, 6), 1), read.get());
  }

  @Test
  void raise_whileAnotherWrites_waitsForItsEnd() throws InterruptedException {
    tear();
    Thread lower = awaitReading(() -> lsn.raise(block(1, 6), 0));
    mend();
    lower.join();
    assertEquals(new Lsn(block(1, 6), 1), lsn.read());
  }

  @Test
  void place_thatIsNotAlignedOrTooSmall_isRefused() {
    assertThrows(IllegalArgumentException.class, () -> new TenByteLsn(page, 4));
    assertThrows(IllegalArgumentException.class, () -> new TenByteLsn(page, 56));
  }
}
