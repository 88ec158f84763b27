package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What a key of the parking lot is: an object itself, not its like. */
class KeyTest {
  private final ParkingLot lot = new ParkingLot(1, 1_000, System::nanoTime);

  @Test
  void owner_isTheObjectItselfWhateverItEquals() throws InterruptedException {
    Object owner = new Equal();
    Thread waiter = new Thread(() -> lot.park(owner, 0, () -> true));
    waiter.start();
    Await.until(() -> lot.queuedNear(owner, 0) == 1);
    assertEquals(0, lot.unparkAll(new Equal(), 0));
    assertEquals(1, lot.unparkAll(owner, 0));
    waiter.join();
  }

  /** Each equals every other. */
  private record Equal() {}
}
