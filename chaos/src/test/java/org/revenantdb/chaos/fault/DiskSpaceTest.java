package org.revenantdb.chaos.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.fault.FileOperation.Kind;
import org.revenantdb.chaos.trace.CallStack;

/** A disk fills up, stays full, and has space again. */
class DiskSpaceTest {

  private final DiskSpace disk = new DiskSpace(100);

  private Fault write(int length, long growth) {
    return disk.before(new FileOperation(Kind.WRITE, "f", 0, length, growth, 0, CallStack.UNKNOWN));
  }

  private Fault create() {
    return disk.before(new FileOperation(Kind.CREATE, "f", 0, 0, 0, 0, CallStack.UNKNOWN));
  }

  @Test
  void write_thatFillsTheDisk_isCutShortAndTheNextOneFails() {
    assertEquals(Fault.NONE, write(70, 70));
    assertEquals(new Fault.ShortWrite(30), write(50, 50));
    assertEquals(new Fault.DiskFull(), write(20, 20));
    assertEquals(1, disk.refused());
  }

  @Test
  void write_thatOverwrites_needsNoRoom() {
    assertEquals(new Fault.ShortWrite(100), write(200, 200));
    assertTrue(disk.isFull());
    assertEquals(Fault.NONE, write(1000, 0));
    assertEquals(new Fault.ShortWrite(40), write(50, 10));
  }

  @Test
  void hole_thatDoesNotFit_isRefusedWhole() {
    assertEquals(new Fault.DiskFull(), write(10, 5000));
  }

  @Test
  void fullDisk_createsNothingUntilThereIsRoom() {
    assertEquals(Fault.NONE, create());
    write(200, 200);
    assertEquals(new Fault.DiskFull(), create());
    disk.free(50);
    assertFalse(disk.isFull());
    assertEquals(Fault.NONE, create());
    assertEquals(new Fault.ShortWrite(50), write(60, 60));
    disk.free();
    assertEquals(Fault.NONE, write(1 << 30, 1 << 30));
  }
}
