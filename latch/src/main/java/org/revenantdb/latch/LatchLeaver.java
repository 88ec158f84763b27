package org.revenantdb.latch;

/**
 * The three ways to leave a latch for which others wait. They differ in what they subtract from the
 * word. There is one object for each, because a release must not allocate.
 */
enum LatchLeaver implements TracksArrivals<HybridLatch> {
  EXCLUSIVE(LatchWord.EXCLUSIVE),
  SHARED(LatchWord.ONE_SHARED),
  DOWNGRADE(LatchWord.EXCLUSIVE - LatchWord.ONE_SHARED);

  private final long leaving;

  LatchLeaver(long leaving) {
    this.leaving = leaving;
  }

  @Override
  public ParkingLot.Wake onDeparture(HybridLatch latch, ParkingLot.Waiters head) {
    return latch.leave(leaving, head);
  }
}
