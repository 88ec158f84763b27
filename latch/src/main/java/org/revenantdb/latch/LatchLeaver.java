package org.revenantdb.latch;

/**
 * The three ways to leave a latch for which others wait, by what each takes out of the word; one
 * object each, as nothing may be allocated for it.
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
