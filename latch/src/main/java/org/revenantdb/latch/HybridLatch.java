package org.revenantdb.latch;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A latch of two words. Readers can validate it instead of acquiring it.
 *
 * <p>Use it to protect a data structure in memory for a short time: a page, a node, a bucket. It
 * has three modes: <em>optimistic</em>, <em>shared</em> and <em>exclusive</em>. An optimistic
 * reader writes nothing and finds out afterwards whether a writer disturbed the read. Do not use
 * the latch where a user may hold it: it has no owner and, outside the debug mode ({@link
 * LatchDebug}), no deadlock detection. No mode is reentrant. In particular a thread must not
 * acquire it shared twice: if a writer queues in between, the second acquisition waits for ever.
 *
 * <p>Threads: any thread, platform or virtual, may call any method. Another thread than the one
 * that acquired a mode may release it, if the hold was handed over safely. The {@code acquire}
 * methods wait, without limit or on {@link WaitTerms}. The other methods that change the mode never
 * wait. All writes before a release are visible after a later acquisition, and after an optimistic
 * read that validates.
 *
 * <p>Fairness: for about a millisecond newcomers may barge past waiting threads. Then the latch is
 * handed to the first thread in the queue. Readers do not join other readers while a thread is
 * queued.
 *
 * <p>The protected data may be plain fields, arrays or off-heap memory with plain accesses;
 * volatile is not needed. Until an optimistic read validates, everything it sees may be torn, even
 * a single {@code long}.
 *
 * <p>The protected class may extend the latch, so that both are one object in memory.
 *
 * <p>Failure: {@code try} methods and {@link #validate} return false; a wait on terms returns why
 * it ended. The release of a mode that is not held throws {@link IllegalMonitorStateException}, as
 * far as the latch can find out: it does not know its holders.
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
public class HybridLatch {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023: section 2.2.5 (hybrid lock), 2.3.1 (obsolete
   *             nodes), 3.4.1 (fair in the end), 3.4.2 (readers). The fences are those of a sequence lock as
   *             StampedLock's notes argue them. We differ: (1) the version is odd while a writer is at work, and
   *             carries the obsolete mark, so that validation is one comparison and does not look at the lock word;
   *             (2) a wake-up clears PARKED, and the woken thread sets it again (LatchWord, ParkingLot); (3) a reader
   *             to which the latch is handed over receives it together with the readers directly behind it, and later
   *             readers do not join them; (4) a waiter can leave a request instead of waiting for its turn
   *             (Requests).
   *
   * State       word: how the latch is held, and whether a departing holder must serve a queue (table in LatchWord).
   *             version: a count in steps of 4, with two bits below it; starts at 4, so 0 is never a version.
   *               bit 0  WRITING   the exclusive holder may write
   *               bit 1  OBSOLETE  what is protected is gone; once set, for ever
   *
   * Transitions word      free -> held, held -> free or less held      CAS by newcomer or holder
   *                       PARKED set or cleared, held -> granted       CAS under the bucket lock
   *                       free -> held and PARKED                      CAS by a thread that was woken while others waited
   *             version   WRITING set      by the exclusive holder after it has the word
   *                       cleared, + 4     by the holder, before it gives up the word
   *                       cleared          (unmodified) as if it had never been set
   *                       OBSOLETE set     by the exclusive holder while WRITING
   *
   * Invariants  I1 the word is legal (LatchWord.isLegal). I2 WRITING is set only while the word is EXCLUSIVE;
   *             it is clear for a moment after acquisition, before release, and from a hand-over until the new
   *             holder runs: no thread writes then, so optimistic readers need not fail. I3 a version without its
   *             bits stands for one state of what is protected. I4 if a thread is queued and the latch is unheld,
   *             then a woken thread is on its way, and it does not give up while the latch is unheld.
   *
   * Ordering    Word: every CAS is volatile in both directions. A release must acquire as well, since the last of
   *             several readers hands over on behalf of all of them, and since a writer runs the requests of others.
   *             Begin of writing: version := odd, then a store-store fence, then the data. A reader that sees new
   *             data and then loads the version sees this odd version, or a later one. Without the fence the data
   *             could be seen before the version (on weakly ordered processors; jcstress: OptimisticReadStress).
   *             End of writing: data, then version := even with release; readOptimistic loads it with acquire. A
   *             reader that sees the version sees the data that belongs to it.
   *             validate: acquire fence, then the version again; without the fence the loads of the data could sink
   *             below the second load of the version.
   *
   * Lost wake-ups   Release reads the word and gives it up in one CAS, so it cannot miss PARKED; PARKED is set under
   *                 the bucket lock in one step with queueing, so a thread that finds it set finds the waiter. Only a
   *                 wake-up clears it while waiters remain in the queue. The woken thread then does one of three
   *                 things. It enters, and sets PARKED in the same CAS. Or it queues again, which sets PARKED. Or it
   *                 leaves for good through a departure, which looks at the queue. A woken thread tries the word
   *                 before it looks at its terms: either it gets the latch, or it sees a holder, and that holder's
   *                 release comes after PARKED was set.
   *
   * Requests    A holder that finds PARKED when it leaves claims the requests at the head of the queue, once, with
   *             the word unchanged. It has already made the version even; the version goes odd again while it runs
   *             them.
   *
   * Not protected against   A StackOverflowError between two steps of the uncontended path (the JDK's locks have
   *             reserved stack for it): the latch may stay held. The parking lot fails before it locks anything. A
   *             woken thread that finds less stack than it had when it parked may forget the waiters behind it. After
   *             a second one of them takes its place (ParkingLot).
   */

  /** What {@link #readOptimistic} returns while a writer is at work; it never validates. */
  public static final long INVALID_STAMP = 0;

  private static final long WRITING = 1;
  private static final long OBSOLETE = 2;
  private static final long NEXT_VERSION = 4;
  private static final long FIRST_VERSION = 4;

  /** Number of failed optimistic reads before the read is done under the shared latch. */
  private static final int OPTIMISTIC_TRIES = 3;

  private static final VarHandle WORD = field("word");
  private static final VarHandle VERSION = field("version");

  private static final ParkingLot LOT = ParkingLot.global();

  /** The second part of the key. Other numbers are free for other queues of the same latch. */
  static final long TAG = 0;

  @SuppressWarnings("UnusedVariable") // through WORD
  private long word = LatchWord.FREE;

  @SuppressWarnings("UnusedVariable") // through VERSION
  private long version = FIRST_VERSION;

  /** Makes a latch that is not held. It must be published safely to other threads. */
  public HybridLatch() {}

  /** Acquires the latch exclusively, waiting as long as it takes. */
  public final void acquireExclusive() {
    wanted(/* shared= */ false, /* waits= */ true, null);
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      LatchWaiter.EXCLUSIVE.await(this, WaitTerms.ENDLESS, null);
    }
    beginWriting();
    acquired(/* shared= */ false, null);
  }

  /**
   * Acquires the latch exclusively, waiting as long as it takes.
   *
   * @param statistics where a wait is counted
   */
  public final void acquireExclusive(WaitStatistics statistics) {
    wanted(/* shared= */ false, /* waits= */ true, statistics);
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      LatchWaiter.EXCLUSIVE.await(this, WaitTerms.ENDLESS, statistics);
    }
    beginWriting();
    acquired(/* shared= */ false, statistics);
  }

  /**
   * Acquires the latch exclusively, waiting on terms.
   *
   * @param terms what ends the wait, and where it is counted
   * @return {@link Acquisition#ACQUIRED} if the latch is held now
   */
  public final Acquisition acquireExclusive(WaitTerms terms) {
    wanted(/* shared= */ false, /* waits= */ true, terms.statistics());
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      Acquisition outcome = LatchWaiter.EXCLUSIVE.await(this, terms, terms.statistics());
      if (outcome != Acquisition.ACQUIRED) {
        return outcome;
      }
    }
    beginWriting();
    acquired(/* shared= */ false, terms.statistics());
    return Acquisition.ACQUIRED;
  }

  /**
   * Acquires the latch exclusively, waiting until that succeeds or the thread is interrupted.
   *
   * @throws InterruptedException if the thread is interrupted, now or while it waits; then the
   *     latch is not held, and the interrupt status is cleared
   */
  public final void acquireExclusiveInterruptibly() throws InterruptedException {
    throwIfInterrupted();
    if (acquireExclusive(WaitTerms.INTERRUPTIBLE) == Acquisition.INTERRUPTED) {
      throw interrupted();
    }
  }

  /**
   * Acquires the latch exclusively if it is free now, even if others wait for it.
   *
   * @return whether the latch is held now
   */
  public final boolean tryAcquireExclusive() {
    wanted(/* shared= */ false, /* waits= */ false, null);
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      return false;
    }
    beginWriting();
    acquired(/* shared= */ false, null);
    return true;
  }

  /**
   * Acquires the latch exclusively, waiting for a time at most. Interrupts are kept for later.
   *
   * @param nanos how long to wait; 0 or less does not wait
   * @return whether the latch is held now
   */
  public final boolean tryAcquireExclusive(long nanos) {
    wanted(/* shared= */ false, /* waits= */ nanos > 0, null);
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)
        && !LatchWaiter.EXCLUSIVE.awaitFor(this, nanos)) {
      return false;
    }
    beginWriting();
    acquired(/* shared= */ false, null);
    return true;
  }

  /**
   * Acquires the latch exclusively if it is free now and no thread has written since an optimistic
   * read began. So the data that was read is still valid and may be changed.
   *
   * @param stamp from {@link #readOptimistic}
   * @return whether the latch is held now; false if the latch is not free or the stamp not valid
   */
  public final boolean tryUpgradeOptimistic(long stamp) {
    wanted(/* shared= */ false, /* waits= */ false, null);
    if (version() != stamp || !casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      return false;
    }
    if (version() != stamp) {
      leaveExclusive(); // the version is unchanged: optimistic readers are not disturbed
      return false;
    }
    beginWriting();
    acquired(/* shared= */ false, null);
    return true;
  }

  /**
   * Acquires the latch shared if that needs no wait and no thread has written since an optimistic
   * read began. So the data that was read is still valid and stays valid.
   *
   * @param stamp from {@link #readOptimistic}
   * @return whether the latch is held now; false if the stamp is not valid, or a thread holds the
   *     latch exclusively or waits for it
   */
  public final boolean tryUpgradeOptimisticToShared(long stamp) {
    if (version() != stamp || !tryAcquireShared()) {
      return false;
    }
    if (version() != stamp) {
      releaseShared();
      return false;
    }
    return true;
  }

  /**
   * Releases the exclusive mode and invalidates all stamps of earlier optimistic reads.
   *
   * @throws IllegalMonitorStateException if the latch is not held exclusively
   */
  public final void releaseExclusive() {
    leaving(/* shared= */ false);
    endWriting(/* modified= */ true);
    leaveExclusive();
  }

  /**
   * Releases the exclusive mode as if it had never been acquired: stamps of optimistic reads that
   * began before it stay valid. Only for a holder that has not written a single byte of the
   * protected data, not even with the same value.
   *
   * @throws IllegalMonitorStateException if the latch is not held exclusively
   */
  public final void releaseExclusiveUnmodified() {
    leaving(/* shared= */ false);
    endWriting(/* modified= */ false);
    leaveExclusive();
  }

  /** Acquires the latch shared, waiting as long as it takes. Not reentrant: see the class. */
  public final void acquireShared() {
    wanted(/* shared= */ true, /* waits= */ true, null);
    if (!tryEnterShared()) {
      LatchWaiter.SHARED.await(this, WaitTerms.ENDLESS, null);
    }
    acquired(/* shared= */ true, null);
  }

  /**
   * Acquires the latch shared, waiting as long as it takes. Not reentrant: see the class.
   *
   * @param statistics where a wait is counted
   */
  public final void acquireShared(WaitStatistics statistics) {
    wanted(/* shared= */ true, /* waits= */ true, statistics);
    if (!tryEnterShared()) {
      LatchWaiter.SHARED.await(this, WaitTerms.ENDLESS, statistics);
    }
    acquired(/* shared= */ true, statistics);
  }

  /**
   * Acquires the latch shared, waiting on terms. Not reentrant: see the class.
   *
   * @param terms what ends the wait, and where it is counted
   * @return {@link Acquisition#ACQUIRED} if the latch is held now
   */
  public final Acquisition acquireShared(WaitTerms terms) {
    wanted(/* shared= */ true, /* waits= */ true, terms.statistics());
    if (!tryEnterShared()) {
      Acquisition outcome = LatchWaiter.SHARED.await(this, terms, terms.statistics());
      if (outcome != Acquisition.ACQUIRED) {
        return outcome;
      }
    }
    acquired(/* shared= */ true, terms.statistics());
    return Acquisition.ACQUIRED;
  }

  /**
   * Acquires the latch shared, waiting until that succeeds or the thread is interrupted.
   *
   * @throws InterruptedException if the thread is interrupted, now or while it waits; then the
   *     latch is not held, and the interrupt status is cleared
   */
  public final void acquireSharedInterruptibly() throws InterruptedException {
    throwIfInterrupted();
    if (acquireShared(WaitTerms.INTERRUPTIBLE) == Acquisition.INTERRUPTED) {
      throw interrupted();
    }
  }

  /**
   * Acquires the latch shared if no wait is needed: no thread holds it exclusively, and no thread
   * waits behind its readers.
   *
   * @return whether the latch is held now
   */
  public final boolean tryAcquireShared() {
    wanted(/* shared= */ true, /* waits= */ false, null);
    if (!tryEnterShared()) {
      return false;
    }
    acquired(/* shared= */ true, null);
    return true;
  }

  /**
   * Acquires the latch shared, waiting for a time at most. Interrupts are kept for later.
   *
   * @param nanos how long to wait; 0 or less does not wait
   * @return whether the latch is held now
   */
  public final boolean tryAcquireShared(long nanos) {
    wanted(/* shared= */ true, /* waits= */ nanos > 0, null);
    if (!tryEnterShared() && !LatchWaiter.SHARED.awaitFor(this, nanos)) {
      return false;
    }
    acquired(/* shared= */ true, null);
    return true;
  }

  /**
   * Releases one shared hold.
   *
   * @throws IllegalMonitorStateException if the latch is not held shared
   */
  public final void releaseShared() {
    leaving(/* shared= */ true);
    long seen = caxWord(LatchWord.ONE_SHARED, LatchWord.FREE);
    if (seen != LatchWord.ONE_SHARED) {
      leaveShared(seen);
    }
  }

  /**
   * Turns the caller's shared hold into the exclusive one if it is the only hold. On failure,
   * release the shared hold and start again: two readers that both keep retrying would wait for
   * ever.
   *
   * @return whether the latch is held exclusively now; else it is still held shared
   */
  public final boolean tryUpgrade() {
    for (; ; ) {
      long w = wordOpaque();
      if (!LatchWord.admitsUpgrade(w)) {
        return false;
      }
      if (casWord(w, LatchWord.upgraded(w))) {
        beginWriting();
        if (LatchDebug.ON) {
          LatchDebug.upgraded(this);
        }
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
  public final void downgrade() {
    assert Requests.isNotUnder(this);
    if (LatchDebug.ON) {
      Requests.refuseUnder(this);
      LatchDebug.downgraded(this);
    }
    endWriting(/* modified= */ true);
    if (!casWord(LatchWord.EXCLUSIVE, LatchWord.ONE_SHARED)) {
      LOT.unpark(this, TAG, LatchLeaver.DOWNGRADE);
    }
  }

  /**
   * Runs a request under the exclusive latch. This thread runs it if it gets the latch; else a
   * holder that is about to leave runs it while this thread waits. When this method returns, the
   * request has been run exactly once, and its effects are visible.
   *
   * <p>If many threads each do a little work under one latch, this saves each of them a change of
   * threads. The data stays in the cache of the thread that does all the work.
   *
   * <p>The latch may be obsolete: a request checks {@link #isObsolete} like any other holder.
   *
   * @param request short. It must not wait for anything, must not acquire a latch, and must not
   *     release this one, because it may run under the hold of another thread that still relies on
   *     it. A violation is refused with an {@link IllegalStateException}: always if the request
   *     would have to wait, and with assertions or in debug mode at every attempt. Thread-locals
   *     may be those of another thread. An exception from the request reaches only the caller of
   *     this method
   */
  public final void runExclusive(Runnable request) {
    runExclusive(request, WaitTerms.ENDLESS);
  }

  /**
   * Runs a request under the exclusive latch, as {@link #runExclusive(Runnable)} does, waiting on
   * terms.
   *
   * @param request see there
   * @param terms what ends the wait. Once another thread has begun to run the request, nothing ends
   *     the wait early
   * @return {@link Acquisition#ACQUIRED} if the request was run, once; with any other it was not,
   *     and never will be
   */
  public final Acquisition runExclusive(Runnable request, WaitTerms terms) {
    Objects.requireNonNull(request, "request");
    Requests.refuseInside();
    wanted(/* shared= */ false, /* waits= */ true, terms.statistics());
    if (!casWord(LatchWord.FREE, LatchWord.EXCLUSIVE)) {
      ParkingLot.Outcome outcome = LatchWaiter.EXCLUSIVE.awaitOrBeServed(this, request, terms);
      switch (outcome) {
        case DONE -> {
          return Acquisition.ACQUIRED;
        }
        case GRANTED -> {}
        default -> {
          return LatchWaiter.acquisition(outcome);
        }
      }
    }
    beginWriting();
    acquired(/* shared= */ false, terms.statistics());
    try {
      Requests.run(this, request);
    } finally {
      releaseExclusive();
    }
    return Acquisition.ACQUIRED;
  }

  /**
   * Marks the protected data as gone for ever, for example a node that was unlinked. From now on no
   * stamp validates and no optimistic read begins. The latch can still be acquired, because other
   * threads may be waiting for it. A thread that has acquired it checks {@link #isObsolete} and
   * leaves.
   *
   * @throws IllegalMonitorStateException if the latch is not held exclusively
   */
  public final void markObsolete() {
    long v = version();
    if ((v & WRITING) == 0) {
      throw notHeld("exclusively");
    }
    VERSION.setOpaque(this, v | OBSOLETE);
  }

  /**
   * Whether the protected data is gone. The answer does not change while the latch is held. Without
   * a hold, only the answer true is final.
   *
   * @return true after {@link #markObsolete}
   */
  public final boolean isObsolete() {
    return ((long) VERSION.getAcquire(this) & OBSOLETE) != 0;
  }

  /**
   * Begins an optimistic read. Until {@link #validate} returns true, everything that was read may
   * be torn. It must not be followed, returned or acted on.
   *
   * @return a stamp, {@link #INVALID_STAMP} if a writer is at work or the latch is obsolete
   */
  public final long readOptimistic() {
    long v = (long) VERSION.getAcquire(this);
    return (v & (WRITING | OBSOLETE)) == 0 ? v : INVALID_STAMP;
  }

  /**
   * Ends an optimistic read, or checks it in between. A stamp can be validated any number of times.
   *
   * @param stamp from {@link #readOptimistic}
   * @return whether everything that was read since then is as if read at one moment
   */
  public final boolean validate(long stamp) {
    VarHandle.acquireFence();
    return (long) VERSION.getOpaque(this) == stamp;
  }

  /**
   * Reads optimistically, a few times if necessary, and then under the shared latch. If the latch
   * is obsolete, it reads what is left, under the shared latch. So if nodes can be removed, the
   * read itself checks {@link #isObsolete} and reports it in its result.
   *
   * @param <T> what is read
   * @param read run one or several times. It must have no lasting effect. While it runs it may see
   *     inconsistent data. It must not loop for ever because of such data, follow it, or allocate
   *     memory by it. An exception that it throws is rethrown only if the read was undisturbed
   * @return the result of the undisturbed run
   */
  public final <T extends @Nullable Object> T readOptimisticOrShared(Supplier<T> read) {
    for (int i = 0; i < OPTIMISTIC_TRIES; i++) {
      long stamp = readOptimistic();
      if (stamp == INVALID_STAMP) {
        continue;
      }
      try {
        T result = read.get();
        if (validate(stamp)) {
          return result;
        }
      } catch (RuntimeException e) {
        if (validate(stamp)) {
          throw e;
        }
      }
    }
    acquireShared();
    try {
      return read.get();
    } finally {
      releaseShared();
    }
  }

  /**
   * Whether a thread holds the latch exclusively; for assertions and messages.
   *
   * @return the state a moment ago
   */
  public final boolean isExclusivelyHeld() {
    return LatchWord.isExclusive(wordOpaque());
  }

  /**
   * Whether a thread holds the latch shared; for assertions and messages.
   *
   * @return the state a moment ago
   */
  public final boolean isSharedHeld() {
    return LatchWord.sharedHolders(wordOpaque()) != 0;
  }

  @Override
  public String toString() {
    return "HybridLatch["
        + LatchWord.describe(wordOpaque())
        + (isObsolete() ? ", obsolete" : "")
        + ", version "
        + version() / NEXT_VERSION
        + "]";
  }

  /** The lock word, as it was a moment ago. */
  long wordOpaque() {
    return (long) WORD.getOpaque(this);
  }

  /** The version; it does not change while the caller holds the latch. */
  long version() {
    return (long) VERSION.getOpaque(this);
  }

  /** The checks before an acquisition; none outside tests and debugging. */
  private void wanted(boolean shared, boolean waits, @Nullable WaitStatistics statistics) {
    assert Requests.isOutside();
    if (LatchDebug.ON) {
      Requests.refuseInside();
      LatchDebug.acquiring(this, shared, waits, statistics);
    }
  }

  private void acquired(boolean shared, @Nullable WaitStatistics statistics) {
    if (LatchDebug.ON) {
      LatchDebug.acquired(this, shared, statistics);
    }
  }

  /** The checks before a release; none outside tests and debugging. */
  private void leaving(boolean shared) {
    assert Requests.isNotUnder(this);
    if (LatchDebug.ON) {
      Requests.refuseUnder(this);
      LatchDebug.released(this, shared);
    }
  }

  private void beginWriting() {
    VERSION.setOpaque(this, (long) VERSION.getOpaque(this) + WRITING);
    VarHandle.storeStoreFence();
  }

  private void endWriting(boolean modified) {
    long v = (long) VERSION.getOpaque(this);
    if ((v & WRITING) == 0) {
      throw notHeld("exclusively");
    }
    VERSION.setRelease(this, modified ? v - WRITING + NEXT_VERSION : v - WRITING);
  }

  private boolean tryEnterShared() {
    return casWord(LatchWord.FREE, LatchWord.ONE_SHARED) || tryEnter(LatchWaiter.SHARED);
  }

  /** Enters if the word admits the waiter now. A woken waiter sets PARKED when it enters. */
  boolean tryEnter(LatchWaiter waiter) {
    for (long w = wordOpaque(); waiter.isAdmitted(w); ) {
      long entered = waiter.shared() ? w + LatchWord.ONE_SHARED : w | LatchWord.EXCLUSIVE;
      long next = waiter.returning() ? LatchWord.withParked(entered, /* parked= */ true) : entered;
      long seen = caxWord(w, next);
      if (seen == w) {
        return true;
      }
      w = seen;
    }
    return false;
  }

  private void leaveExclusive() {
    if (!casWord(LatchWord.EXCLUSIVE, LatchWord.FREE)) {
      leaveExclusiveWithWaiters();
    }
  }

  /** Runs the requests of waiters, once, and then leaves. */
  private void leaveExclusiveWithWaiters() {
    @Nullable Object @Nullable [] place =
        Requests.ofThread(); // does all allocation before anything is claimed
    if (place == null) {
      LOT.unpark(this, TAG, LatchLeaver.EXCLUSIVE);
      return;
    }
    WaitNode claimed = LOT.unparkOrClaim(this, TAG, Requests.BATCH, LatchLeaver.EXCLUSIVE);
    if (claimed == null) {
      return;
    }
    beginWriting();
    Requests.runAll(place, this, claimed);
    endWriting(/* modified= */ true);
    if (!casWord(LatchWord.EXCLUSIVE, LatchWord.FREE)) {
      LOT.unpark(this, TAG, LatchLeaver.EXCLUSIVE);
    }
    ParkingLot.unparkChain(claimed); // only after others can acquire the latch
  }

  private void leaveShared(long seen) {
    for (long w = seen; ; ) {
      if (LatchWord.sharedHolders(w) == 0) {
        throw notHeld("shared");
      }
      if (LatchWord.lastSharedWithWaiters(w)) {
        LOT.unpark(this, TAG, LatchLeaver.SHARED);
        return;
      }
      long now = caxWord(w, w - LatchWord.ONE_SHARED);
      if (now == w) {
        return;
      }
      w = now;
    }
  }

  /**
   * Releases a latch that was granted to a waiter that is about to throw. Nothing was written, and
   * the debug mode has no record of this hold.
   */
  void giveBack(boolean shared) {
    if (shared) {
      leaveShared(wordOpaque());
    } else {
      leaveExclusive();
    }
  }

  /**
   * Under the bucket lock: subtracts {@code leaving} from the word and serves the head of the
   * queue.
   */
  ParkingLot.Wake leave(long leaving, ParkingLot.Waiters head) {
    for (; ; ) {
      long w = wordOpaque();
      long left = w - leaving;
      ParkingLot.Wake wake =
          LatchWord.whomToWake(
              left, head.count(), head.shared(), head.handOverDue(), head.oneOnItsWay());
      if (casWord(
          w, LatchWord.served(left, wake, head.count(), head.shared(), head.othersWait()))) {
        return wake;
      }
    }
  }

  /** Under the bucket lock: false if the waiter may try again, else PARKED is set. */
  boolean mustWait(LatchWaiter waiter) {
    for (; ; ) {
      long w = wordOpaque();
      if (waiter.isAdmitted(w)) {
        return false;
      }
      if (LatchWord.isParked(w) || casWord(w, LatchWord.withParked(w, /* parked= */ true))) {
        return true;
      }
    }
  }

  private static void throwIfInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private static InterruptedException interrupted() {
    Thread.interrupted(); // as usual, the exception replaces the status
    return new InterruptedException();
  }

  private long caxWord(long expected, long next) {
    return (long) WORD.compareAndExchange(this, expected, next);
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
}
