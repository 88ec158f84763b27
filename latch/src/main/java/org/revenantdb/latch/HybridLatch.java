package org.revenantdb.latch;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A latch of two words that readers can check instead of taking.
 *
 * <p>Use it for the short protection of a data structure in memory: a page, a node, a bucket. It
 * has three modes: <em>optimistic</em>, which writes nothing and finds out afterwards whether the
 * read was disturbed; <em>shared</em>; and <em>exclusive</em>. Do not use it for what a user may
 * hold: it has no owner, no deadlock detection, and none of its modes is reentrant. In particular a
 * thread must not acquire it shared twice: a writer that queues in between stops the second one for
 * ever.
 *
 * <p>Threads: any thread, platform or virtual, may call anything; a mode may be released by another
 * thread than the one that acquired it, if the latch was handed over safely. {@code acquire} waits;
 * an interrupt does not end the wait and is kept for later. What else changes the mode never waits.
 * All that was done before a release is visible after a later acquisition, and after an optimistic
 * read that validates.
 *
 * <p>Fairness: for about a millisecond newcomers may barge past those who wait; then the latch is
 * handed to the first in the queue. Readers do not join other readers while somebody waits.
 *
 * <p>Failure: {@code try} methods and {@link #validate} return false. Releasing what is not held
 * throws {@link IllegalMonitorStateException}.
 *
 * {@snippet :
 * long stamp = latch.readOptimistic();
 * int x = page.x(), y = page.y(); // copies, not yet to be trusted
 * if (!latch.validate(stamp)) {
 *   latch.acquireShared();
 *   try { x = page.x(); y = page.y(); } finally { latch.releaseShared(); }
 * }
 * }
 */
public final class HybridLatch {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023: section 2.2.5 (hybrid lock), 3.4.1 (fair in
   *             the end), 3.4.2 (readers). The fences are those of a sequence lock as StampedLock's notes argue
   *             them. We differ: (1) the version is odd while a writer is at work, so that validation is one
   *             comparison and does not look at the lock word; (2) PARKED is changed only under the bucket lock,
   *             so it says exactly whether somebody is queued; (3) a reader that gets the latch handed over does
   *             so together with the readers right behind it, and later readers do not join them.
   *
   * State       word: who holds the latch and whether somebody waits (table in LatchWord).
   *             version: even, or odd while the exclusive holder may write. Starts at 2; 0 is never a version.
   *
   * Transitions word      free -> held, held -> free or less held      CAS by newcomer or holder
   *                       PARKED set or cleared, held -> granted       CAS under the bucket lock
   *             version   even -> odd      by the exclusive holder after it has the word
   *                       odd -> next even by the holder, before it gives up the word
   *                       odd -> the even one before (unmodified), as if it had never been there
   *
   * Invariants  I1 the word is legal (LatchWord.isLegal). I2 the version is odd only while the word is EXCLUSIVE;
   *             it is even for a moment after acquisition, before release, and from a hand-over until the new
   *             holder runs: nobody writes then, so optimistic readers need not fail. I3 an even version stands
   *             for one state of what is protected. I4 if somebody is queued and the latch is unheld, a thread
   *             that was woken is on its way and does not give up while the latch is unheld.
   *
   * Ordering    Word: every CAS is volatile in both directions. A release must acquire as well, since the last of
   *             several readers hands over on behalf of all of them.
   *             Begin of writing: version := odd, then a store-store fence, then the data: who sees new data and
   *             then loads the version sees it odd, or later. Without the fence data could be seen before it
   *             (on weakly ordered processors; jcstress: OptimisticReadStress).
   *             End of writing: data, then version := even with release; readOptimistic loads it with acquire:
   *             who sees the version sees the data that belongs to it.
   *             validate: acquire fence, then the version again; without the fence the loads of the data could
   *             sink below the second load of the version.
   *
   * Lost wake-ups   Release reads the word and gives it up in one CAS, so it cannot miss PARKED; PARKED is set
   *             under the bucket lock in one piece with queueing, so whoever finds it set finds the waiter. A
   *             woken thread tries the word before it looks at the time: either it gets the latch, or it sees
   *             a holder, and that holder's release will find PARKED if anybody is queued.
   *
   * Not protected against   A StackOverflowError between two steps of the uncontended path (the JDK's locks have
   *             reserved stack for it): the latch may stay held. The parking lot fails before it locks anything.
   */

  /** What {@link #readOptimistic} returns while a writer is at work; it never validates. */
  public static final long INVALID_STAMP = 0;

  private static final long FIRST_VERSION = 2;

  private static final VarHandle WORD = field("word");
  private static final VarHandle VERSION = field("version");

  private static final ParkingLot LOT = ParkingLot.global();

  /** The key is the latch alone; other numbers are free for other queues of the same latch. */
  private static final long TAG = 0;

  @SuppressWarnings("UnusedVariable") // through WORD
  private long word = LatchWord.FREE;

  @SuppressWarnings("UnusedVariable") // through VERSION
  private long version = FIRST_VERSION;

  /** Makes a latch that nobody holds. It must be published safely to other threads. */
  public HybridLatch() {}

  /** Acquires the latch exclusively, waiting as long as it takes. */
  public void acquireExclusive() {
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      enter(Waiter.EXCLUSIVE, Waiter.EXCLUSIVE_AGAIN, /* timed= */ false, 0, null);
    }
    beginWriting();
  }

  /**
   * Acquires the latch exclusively, waiting as long as it takes.
   *
   * @param statistics where a wait is counted
   */
  public void acquireExclusive(WaitStatistics statistics) {
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      enter(Waiter.EXCLUSIVE, Waiter.EXCLUSIVE_AGAIN, /* timed= */ false, 0, statistics);
    }
    beginWriting();
  }

  /**
   * Acquires the latch exclusively if it is free now, even if others wait for it.
   *
   * @return whether the latch is held now
   */
  public boolean tryAcquireExclusive() {
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE) && !tryEnterExclusive()) {
      return false;
    }
    beginWriting();
    return true;
  }

  /**
   * Acquires the latch exclusively, waiting for a time at most.
   *
   * @param nanos how long to wait; 0 or less does not wait
   * @return whether the latch is held now
   */
  public boolean tryAcquireExclusive(long nanos) {
    return tryAcquireExclusiveWithin(nanos, null);
  }

  /**
   * Acquires the latch exclusively, waiting for a time at most.
   *
   * @param nanos how long to wait; 0 or less does not wait
   * @param statistics where a wait is counted
   * @return whether the latch is held now
   */
  public boolean tryAcquireExclusive(long nanos, WaitStatistics statistics) {
    return tryAcquireExclusiveWithin(nanos, statistics);
  }

  /**
   * Acquires the latch exclusively if it is free now and nobody has written since an optimistic
   * read began, so that what was read is still true and may be changed.
   *
   * @param stamp from {@link #readOptimistic}
   * @return whether the latch is held now; false if the latch is not free or the stamp not valid
   */
  public boolean tryUpgradeOptimistic(long stamp) {
    if (!tryEnterExclusive()) {
      return false;
    }
    if (version() != stamp) {
      leaveExclusive(); // the version is as it was: optimistic readers have noticed nothing
      return false;
    }
    beginWriting();
    return true;
  }

  /**
   * Gives up the exclusive mode and makes all stamps of earlier optimistic reads invalid.
   *
   * @throws IllegalMonitorStateException if the latch is not held exclusively
   */
  public void releaseExclusive() {
    endWriting(/* modified= */ true);
    leaveExclusive();
  }

  /**
   * Gives up the exclusive mode as if it had never been acquired: stamps of optimistic reads that
   * began before it stay valid. Only for a holder that has not written one byte of what the latch
   * protects, not even the value that was there.
   *
   * @throws IllegalMonitorStateException if the latch is not held exclusively
   */
  public void releaseExclusiveUnmodified() {
    endWriting(/* modified= */ false);
    leaveExclusive();
  }

  /** Acquires the latch shared, waiting as long as it takes. Not reentrant: see the class. */
  public void acquireShared() {
    if (!tryEnterShared(/* returning= */ false)) {
      enter(Waiter.SHARED, Waiter.SHARED_AGAIN, /* timed= */ false, 0, null);
    }
  }

  /**
   * Acquires the latch shared, waiting as long as it takes. Not reentrant: see the class.
   *
   * @param statistics where a wait is counted
   */
  public void acquireShared(WaitStatistics statistics) {
    if (!tryEnterShared(/* returning= */ false)) {
      enter(Waiter.SHARED, Waiter.SHARED_AGAIN, /* timed= */ false, 0, statistics);
    }
  }

  /**
   * Acquires the latch shared if no wait is needed: there is no writer, and no reader behind whom
   * somebody waits.
   *
   * @return whether the latch is held now
   */
  public boolean tryAcquireShared() {
    return tryEnterShared(/* returning= */ false);
  }

  /**
   * Acquires the latch shared, waiting for a time at most.
   *
   * @param nanos how long to wait; 0 or less does not wait
   * @return whether the latch is held now
   */
  public boolean tryAcquireShared(long nanos) {
    return tryAcquireSharedWithin(nanos, null);
  }

  /**
   * Acquires the latch shared, waiting for a time at most.
   *
   * @param nanos how long to wait; 0 or less does not wait
   * @param statistics where a wait is counted
   * @return whether the latch is held now
   */
  public boolean tryAcquireShared(long nanos, WaitStatistics statistics) {
    return tryAcquireSharedWithin(nanos, statistics);
  }

  /**
   * Gives up one shared hold.
   *
   * @throws IllegalMonitorStateException if the latch is not held shared
   */
  public void releaseShared() {
    for (; ; ) {
      long w = wordOpaque();
      if (LatchWord.sharedHolders(w) == 0) {
        throw notHeld("shared");
      }
      if (LatchWord.lastSharedWithWaiters(w)) {
        LOT.unpark(this, TAG, Leaver.SHARED);
        return;
      }
      if (casWord(w, w - LatchWord.ONE_SHARED)) {
        return;
      }
    }
  }

  /**
   * Turns the caller's shared hold into the exclusive one if it is the only one. Two readers that
   * both insist wait for ever, so on failure release and start again.
   *
   * @return whether the latch is held exclusively now; else it is still held shared
   */
  public boolean tryUpgrade() {
    for (; ; ) {
      long w = wordOpaque();
      if (!LatchWord.admitsUpgrade(w)) {
        return false;
      }
      if (casWord(w, LatchWord.upgraded(w))) {
        beginWriting();
        return true;
      }
    }
  }

  /**
   * Turns the exclusive mode into a shared hold, with no writer in between. Readers at the head of
   * the queue are let in.
   *
   * @throws IllegalMonitorStateException if the latch is not held exclusively
   */
  public void downgrade() {
    endWriting(/* modified= */ true);
    if (!casWord(LatchWord.EXCLUSIVE, LatchWord.ONE_SHARED)) {
      LOT.unpark(this, TAG, Leaver.DOWNGRADE);
    }
  }

  /**
   * Begins an optimistic read. What is read before {@link #validate} says yes may be torn, and must
   * not be followed, returned or acted on.
   *
   * @return a stamp, {@link #INVALID_STAMP} if a writer is at work
   */
  public long readOptimistic() {
    long v = (long) VERSION.getAcquire(this);
    return (v & 1) == 0 ? v : INVALID_STAMP;
  }

  /**
   * Ends an optimistic read, or checks on the way; a stamp can be validated any number of times.
   *
   * @param stamp from {@link #readOptimistic}
   * @return whether all that was read since then is as if read at one moment
   */
  public boolean validate(long stamp) {
    VarHandle.acquireFence();
    return (long) VERSION.getOpaque(this) == stamp;
  }

  /**
   * Whether somebody holds the latch exclusively; for assertions and messages.
   *
   * @return what was so a moment ago
   */
  public boolean isExclusivelyHeld() {
    return LatchWord.isExclusive(wordOpaque());
  }

  /**
   * Whether somebody holds the latch shared; for assertions and messages.
   *
   * @return what was so a moment ago
   */
  public boolean isSharedHeld() {
    return LatchWord.sharedHolders(wordOpaque()) != 0;
  }

  @Override
  public String toString() {
    return "HybridLatch[" + LatchWord.describe(wordOpaque()) + ", version " + version() + "]";
  }

  /** The lock word, as it was a moment ago. */
  long wordOpaque() {
    return (long) WORD.getOpaque(this);
  }

  /** The version; steady while the caller holds the latch. */
  long version() {
    return (long) VERSION.getOpaque(this);
  }

  private void beginWriting() {
    VERSION.setOpaque(this, (long) VERSION.getOpaque(this) + 1);
    VarHandle.storeStoreFence();
  }

  private void endWriting(boolean modified) {
    long v = (long) VERSION.getOpaque(this);
    if ((v & 1) == 0) {
      throw notHeld("exclusively");
    }
    VERSION.setRelease(this, modified ? v + 1 : v - 1);
  }

  private boolean tryEnterExclusive() {
    for (; ; ) {
      long w = wordOpaque();
      if (!LatchWord.admitsExclusive(w)) {
        return false;
      }
      if (casWord(w, LatchWord.withExclusive(w))) {
        return true;
      }
    }
  }

  private boolean tryEnterShared(boolean returning) {
    for (; ; ) {
      long w = wordOpaque();
      if (!LatchWord.admitsShared(w, returning)) {
        return false;
      }
      if (casWord(w, LatchWord.withOneMoreShared(w))) {
        return true;
      }
    }
  }

  private void leaveExclusive() {
    if (!casWord(LatchWord.EXCLUSIVE, LatchWord.FREE)) {
      LOT.unpark(this, TAG, Leaver.EXCLUSIVE);
    }
  }

  private boolean tryAcquireExclusiveWithin(long nanos, @Nullable WaitStatistics statistics) {
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)
        && !tryEnterExclusive()
        && !enterWithin(nanos, Waiter.EXCLUSIVE, Waiter.EXCLUSIVE_AGAIN, statistics)) {
      return false;
    }
    beginWriting();
    return true;
  }

  private boolean tryAcquireSharedWithin(long nanos, @Nullable WaitStatistics statistics) {
    return tryEnterShared(/* returning= */ false)
        || enterWithin(nanos, Waiter.SHARED, Waiter.SHARED_AGAIN, statistics);
  }

  private boolean enterWithin(
      long nanos, Waiter first, Waiter again, @Nullable WaitStatistics statistics) {
    return nanos > 0 && enter(first, again, /* timed= */ true, nanos, statistics);
  }

  private boolean enter(
      Waiter first, Waiter again, boolean timed, long nanos, @Nullable WaitStatistics statistics) {
    if (!timed && statistics == null) {
      return spinThenPark(first, again, /* timed= */ false, 0);
    }
    long start = System.nanoTime();
    boolean entered = spinThenPark(first, again, timed, start + nanos);
    if (statistics != null) {
      statistics.record(System.nanoTime() - start);
    }
    return entered;
  }

  /** Returns true when the word is ours, false when the deadline has passed. */
  private boolean spinThenPark(Waiter first, Waiter again, boolean timed, long deadline) {
    Waiter waiter = first;
    int round = 0;
    while (!tryEnter(waiter)) {
      // Where others are parked already a newcomer gains little by spinning, and costs them
      // processor time.
      if (waiter == first && !LatchWord.isParked(wordOpaque()) && Backoff.pause(round++)) {
        continue;
      }
      ParkingLot.Outcome outcome =
          timed ? LOT.park(this, TAG, waiter, deadline) : LOT.park(this, TAG, waiter);
      switch (outcome) {
        case GRANTED -> {
          return true;
        }
        case TIMED_OUT -> {
          return false;
        }
        case RETRY -> waiter = again;
        case NOT_PARKED, INTERRUPTED -> {}
      }
    }
    return true;
  }

  private boolean tryEnter(Waiter waiter) {
    return waiter.shared() ? tryEnterShared(waiter.returning()) : tryEnterExclusive();
  }

  /**
   * Under the bucket lock: takes {@code leaving} out of the word and serves the head of the queue.
   */
  private ParkingLot.Wake leave(long leaving, ParkingLot.Waiters head) {
    for (; ; ) {
      long w = wordOpaque();
      long left = w - leaving;
      ParkingLot.Wake wake =
          LatchWord.whomToWake(left, head.count(), head.shared(), head.handOverDue());
      long next =
          wake == ParkingLot.Wake.GRANT
              ? LatchWord.granted(left, head.count(), head.shared())
              : left;
      boolean somebodyQueued = wake == ParkingLot.Wake.NONE ? head.count() > 0 : head.othersWait();
      if (casWord(w, LatchWord.withParked(next, somebodyQueued))) {
        return wake;
      }
    }
  }

  /** Under the bucket lock: false if the waiter may try again, else PARKED is set. */
  private boolean mustWait(Waiter waiter) {
    for (; ; ) {
      long w = wordOpaque();
      boolean admitted =
          waiter.shared()
              ? LatchWord.admitsShared(w, waiter.returning())
              : LatchWord.admitsExclusive(w);
      if (admitted) {
        return false;
      }
      if (LatchWord.isParked(w) || casWord(w, LatchWord.withParked(w, /* parked= */ true))) {
        return true;
      }
    }
  }

  private boolean casWord(long expected, long next) {
    return WORD.compareAndSet(this, expected, next);
  }

  private IllegalMonitorStateException notHeld(String mode) {
    return new IllegalMonitorStateException("not held " + mode + ": " + this);
  }

  private static VarHandle field(String name) {
    return ConstantBootstraps.fieldVarHandle(
        MethodHandles.lookup(), name, VarHandle.class, HybridLatch.class, long.class);
  }

  /** The four ways to wait for a latch; one object each, as nothing may be allocated for it. */
  private enum Waiter implements ParkingLot.Protocol<HybridLatch> {
    EXCLUSIVE(/* shared= */ false, /* returning= */ false),
    EXCLUSIVE_AGAIN(/* shared= */ false, /* returning= */ true),
    SHARED(/* shared= */ true, /* returning= */ false),
    SHARED_AGAIN(/* shared= */ true, /* returning= */ true);

    private final boolean shared;
    private final boolean returning;

    Waiter(boolean shared, boolean returning) {
      this.shared = shared;
      this.returning = returning;
    }

    @Override
    public boolean mustWait(HybridLatch latch) {
      return latch.mustWait(this);
    }

    /** Nobody leaves the latch, but the readers behind a writer that gave up may have to enter. */
    @Override
    public ParkingLot.Wake onDeparture(HybridLatch latch, ParkingLot.Waiters remaining) {
      return latch.leave(0, remaining);
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

  /** The three ways to leave a latch for which others wait, by what each takes out of the word. */
  private enum Leaver implements ParkingLot.Departure<HybridLatch> {
    EXCLUSIVE(LatchWord.EXCLUSIVE),
    SHARED(LatchWord.ONE_SHARED),
    DOWNGRADE(LatchWord.EXCLUSIVE - LatchWord.ONE_SHARED);

    private final long leaving;

    Leaver(long leaving) {
      this.leaving = leaving;
    }

    @Override
    public ParkingLot.Wake onDeparture(HybridLatch latch, ParkingLot.Waiters head) {
      return latch.leave(leaving, head);
    }
  }
}
