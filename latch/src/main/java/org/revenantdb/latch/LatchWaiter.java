package org.revenantdb.latch;

import org.jspecify.annotations.Nullable;

/**
 * The four ways to wait for a {@link HybridLatch}, and the waiting itself: try, spin a little,
 * park, try again. One object each, as nothing may be allocated for it.
 */
enum LatchWaiter implements ParkingLot.Protocol<HybridLatch>, TracksArrivals<HybridLatch> {
  EXCLUSIVE(/* shared= */ false, /* returning= */ false),
  EXCLUSIVE_AGAIN(/* shared= */ false, /* returning= */ true),
  SHARED(/* shared= */ true, /* returning= */ false),
  SHARED_AGAIN(/* shared= */ true, /* returning= */ true);

  /**
   * How long one that was woken and has lost naps before it tries again; twice as long each time.
   * Long enough that what a wake-up costs the others (2 to 20 us) is little beside it; short, as
   * the latch may be free meanwhile.
   */
  private static final long FIRST_NAP_NANOS = 64_000;

  private static final long LONGEST_NAP_NANOS = 512_000;

  private final boolean shared;
  private final boolean returning;

  LatchWaiter(boolean shared, boolean returning) {
    this.shared = shared;
    this.returning = returning;
  }

  /** Whether the word lets such a waiter in now. */
  boolean isAdmitted(long word) {
    return shared ? LatchWord.admitsShared(word, returning) : LatchWord.isUnheld(word);
  }

  /** Waits on terms; the caller has tried once without success. */
  Acquisition await(HybridLatch latch, WaitTerms terms, @Nullable WaitStatistics statistics) {
    return acquisition(
        awaitCounted(latch, null, terms, terms.isTimed(), terms.nanos(), statistics));
  }

  /** Waits for a time; the caller has tried once without success. */
  boolean awaitFor(HybridLatch latch, long nanos) {
    return nanos > 0
        && awaitCounted(latch, null, WaitTerms.ENDLESS, /* timed= */ true, nanos, null)
            == ParkingLot.Outcome.GRANTED;
  }

  /** Waits on terms for the latch, or for somebody who runs the request. */
  ParkingLot.Outcome awaitOrBeServed(HybridLatch latch, Runnable request, WaitTerms terms) {
    return awaitCounted(latch, request, terms, terms.isTimed(), terms.nanos(), terms.statistics());
  }

  static Acquisition acquisition(ParkingLot.Outcome outcome) {
    return switch (outcome) {
      case GRANTED, DONE -> Acquisition.ACQUIRED;
      case TIMED_OUT -> Acquisition.TIMED_OUT;
      case INTERRUPTED -> Acquisition.INTERRUPTED;
      case GIVEN_UP -> Acquisition.GIVEN_UP;
      case RETRY, NOT_PARKED -> throw new AssertionError(outcome);
    };
  }

  private ParkingLot.Outcome awaitCounted(
      HybridLatch latch,
      @Nullable Runnable request,
      WaitTerms terms,
      boolean timed,
      long nanos,
      @Nullable WaitStatistics statistics) {
    Requests.refuseInside();
    if (timed && nanos <= 0) {
      return latch.tryEnter(this) ? ParkingLot.Outcome.GRANTED : ParkingLot.Outcome.TIMED_OUT;
    }
    LatchMeters meters = terms.meters();
    Object event = LatchWaitEvents.begin();
    if (!timed && statistics == null && event == null && meters == null) {
      return spinThenPark(latch, request, terms, /* timed= */ false, 0);
    }
    WaitMeter meter = meters == null ? WaitMeter.NONE : meters.meterOf(latch, shared);
    String latchClass = statistics == null ? meter.waitClass() : statistics.latchClass();
    Object metered = meter.begin();
    long start = System.nanoTime();
    Acquisition told = Acquisition.GIVEN_UP; // unless it returns
    try {
      ParkingLot.Outcome outcome = spinThenPark(latch, request, terms, timed, start + nanos);
      told = acquisition(outcome);
      return outcome;
    } finally {
      if (statistics != null) {
        statistics.record(System.nanoTime() - start);
      }
      end(meter, metered);
      LatchWaitEvents.end(event, latchClass, shared, told);
    }
  }

  /** A wait is not told rather than a latch lost, should there be no room for the call. */
  private static void end(WaitMeter meter, @Nullable Object begun) {
    try {
      meter.end(begun);
    } catch (VirtualMachineError | LinkageError e) {
      // One wait is not told.
    }
  }

  /** Returns GRANTED when the word is ours, DONE if the request was run, or why not. */
  private ParkingLot.Outcome spinThenPark(
      HybridLatch latch,
      @Nullable Runnable request,
      WaitTerms terms,
      boolean timed,
      long deadline) {
    LatchWaiter waiter = this;
    ParkingLot lot = ParkingLot.global();
    WaitNode last = null;
    int round = 0;
    long nap = FIRST_NAP_NANOS;
    try {
      while (!latch.tryEnter(waiter)) {
        // Where others are parked already a newcomer gains little by spinning, and costs them
        // processor time.
        if (last == null && !LatchWord.isParked(latch.wordOpaque()) && SpinPauses.pause(round++)) {
          continue;
        }
        if (last != null && last.onItsWay) {
          long most = timed ? Math.min(nap, deadline - System.nanoTime()) : nap;
          if (lot.nap(latch, HybridLatch.TAG, last, most)) {
            nap = Math.min(2 * nap, LONGEST_NAP_NANOS);
            continue;
          }
        }
        WaitNode node = lot.newNode(latch, HybridLatch.TAG, shared, request, last);
        ParkingLot.Outcome outcome =
            lot.await(node, latch, HybridLatch.TAG, waiter, terms, timed, deadline);
        switch (outcome) {
          case RETRY -> {
            if (node != null) { // else nobody could queue, and it is as it was
              last = node;
              waiter = again();
              nap = FIRST_NAP_NANOS;
            }
          }
          case NOT_PARKED -> {}
          default -> {
            return outcome;
          }
        }
      }
      return ParkingLot.Outcome.GRANTED;
    } finally {
      // Still on its way is who entered by itself, and who gives up without having queued again,
      // be it for want of memory or by an exception.
      if (last != null && last.onItsWay) {
        lot.arrived(latch, HybridLatch.TAG, last, this);
      }
    }
  }

  private LatchWaiter again() {
    return shared ? SHARED_AGAIN : EXCLUSIVE_AGAIN;
  }

  @Override
  public boolean mustWait(HybridLatch latch) {
    return latch.mustWait(this);
  }

  /**
   * Nobody leaves the latch, but those behind one that gave up may have to enter, and readers
   * behind a reader that was woken join it. PARKED goes if nobody is queued.
   */
  @Override
  public ParkingLot.Wake onDeparture(HybridLatch latch, ParkingLot.Waiters remaining) {
    return latch.leave(0, remaining);
  }

  @Override
  public void giveBack(HybridLatch latch) {
    latch.giveBack(shared);
  }

  @Override
  public boolean shared() {
    return shared;
  }

  @Override
  public boolean returning() {
    return returning;
  }
}
