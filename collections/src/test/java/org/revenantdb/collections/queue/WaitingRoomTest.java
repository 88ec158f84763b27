package org.revenantdb.collections.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Nobody sleeps beside an item: if an arrival is missed, this test does not end. */
@Tag("stress")
class WaitingRoomTest {
  private static final int ITEMS = 20_000;

  private static final VarHandle OFFERED =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "offered", VarHandle.class, WaitingRoomTest.class, int.class);

  private final WaitingRoom room = new WaitingRoom(Long.MAX_VALUE);

  /** Written by one thread with release, which is all that a commit promises. */
  @SuppressWarnings("UnusedVariable") // through OFFERED
  private int offered;

  private int taken; // with the room's lock

  private boolean tryTake() {
    if (taken == (int) OFFERED.getAcquire(this)) {
      return false;
    }
    taken++;
    return true;
  }

  private void take() throws InterruptedException {
    room.lock().lockInterruptibly();
    try {
      if (tryTake()) {
        room.passOn();
        return;
      }
      room.enter();
      try {
        while (!tryTake()) {
          room.sleep(Long.MAX_VALUE, Long.MAX_VALUE);
        }
      } finally {
        room.leave();
      }
    } finally {
      room.lock().unlock();
    }
  }

  @Test
  void no_arrival_is_missed() throws Exception {
    List<Thread> takers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      takers.add(
          Thread.ofPlatform()
              .start(() -> {
                try {
                  for (int item = 0; item < ITEMS / 4; item++) {
                    take();
                  }
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              }));
    }
    for (int item = 1; item <= ITEMS; item++) {
      OFFERED.setRelease(this, item);
      room.arrived();
      if (item % 16 == 0) {
        Thread.yield(); // the takers often find nothing
      }
    }
    for (Thread taker : takers) {
      taker.join();
    }
    assertEquals(ITEMS, taken);
    assertEquals(0, room.waiting());
  }
}
