package org.revenantdb.latch;

import org.jspecify.annotations.Nullable;

/**
 * The four ways to wait for a {@link HybridLatch}, and the waiting itself: try, spin a little,
 * park, try again. There is one object for each, because a wait must not allocate one.
 */
enum LatchWaiter implements ParkingLot.Protocol<HybridLatch>, TracksArrivals<HybridLatch> {
  EXCLUSIVE(/* shared= */ false, /* returning= */ false),
  EXCLUSIVE_AGAIN(/* shared= */ false, /* returning= */ true),
  SHARED(/* shared= */ true, /* returning= */ false),
  SHARED_AGAIN(/* shared= */ true, /* returning= */ true);

  /**
   * How long a waiter that was woken and has lost naps before it tries again; twice as long each
   * time. It is long compared with what a wake-up costs the others (2 to 20 us). It is short
   * because the latch may be free meanwhile.
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

  /** Waits on terms for the latch, or until another thread has run the request. */
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

  /**
   * If there is no stack left for the call, the wait is not reported: that is better than to lose a
   * latch.
   */
  private static void end(WaitMeter meter, @Nullable Object begun) {
    try {
      meter.end(begun);
    } catch (VirtualMachineError | LinkageError e) {
      // One wait is not reported.
    }
  }

  /**
   * Returns GRANTED if the caller holds the latch now, DONE if the request was run, or why the wait
   * ended.
   */
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
        // If others are parked already, a newcomer gains little by spinning, and it costs them
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
            if (node != null) { // else it could not queue, and nothing has changed
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
      // A waiter is still on its way if it entered by itself, or if it gives up without having
      // queued again, for lack of memory or because of an exception.
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
   * No thread leaves the latch here. But the waiters behind one that gave up may have to enter, and
   * readers behind a woken reader join it. PARKED is cleared if no thread is queued.
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
