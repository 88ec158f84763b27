package org.revenantdb.engine;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.txn.RowWaiter;
import org.revenantdb.engine.txn.RowWaiters;

/**
 * What one call of {@link Database#run} does after a conflict: gives up, pauses, or waits until the
 * transaction that it has lost against has ended. One thread.
 *
 * <p>{@link #failed} before the attempt is rolled back, {@link #awaitTurn} behind that, with
 * nothing latched, outside of the gate; {@link #end} at the end in any case.
 */
final class Retry {
  /*
   * Protocol    docs/protocols.md §40, §32.
   *
   * Heirs       others who sleep behind this call for a row. They are with the attempt, from its first write on behind
   *             its id, and here in between; who has them here lets the next attempt have them, or releases them.
   *
   * Deadlock    who waits between two attempts has no transaction, so nobody waits for it but its heirs, and those
   *             hold nothing, or look by themselves after a second. Where its thread has another transaction open
   *             (a run in a run) the wait is in the WaitGraph.
   */
  /** So many attempts fail in a crowd that gets on, for which a pause is better than a queue. */
  private static final int USUAL_FAILURES = 3;

  private final Engine engine;
  private final Attempts attempts;
  private RowWaiters.@Nullable Inheritance heirs;
  private boolean isLast;
  private boolean waitsForRows;

  /** The first attempt has met a conflict just now. */
  Retry(Engine engine, TransactionOptions options) {
    this.engine = engine;
    Duration own = options.retryTimeout();
    this.attempts =
        new Attempts(
            own == null ? engine.options().retryTimeout() : own,
            engine.options().maxAttempts(),
            System::nanoTime);
  }

  /** Those that have failed. */
  Attempts attempts() {
    return attempts;
  }

  /** An attempt has met a conflict, and is about to be rolled back. */
  void failed(TransactionCore attempt, ConflictException conflict) {
    attempts.failed(conflict);
    engine.retries().failed(conflict.reason());
    waitsForRows = attempt.waitsForRows();
    boolean isWorthIt = conflict.isWorthAnotherAttempt(attempt);
    isLast = !isWorthIt || attempts.areAll() || attempts.areLate() || isInterrupted();
    if (!isLast) {
      heirs = attempt.takeHeirs();
    } else {
      giveUp(conflict, isWorthIt);
    }
  }

  private static boolean isInterrupted() {
    return Thread.currentThread().isInterrupted();
  }

  private void giveUp(ConflictException conflict, boolean isWorthIt) {
    engine.retries().gaveUp();
    if (isWorthIt) {
      conflict.gaveUp(attempts.inWords());
    }
  }

  /** Waits until it is time for another attempt, and returns null; or what to give up with. */
  @Nullable ConflictException awaitTurn(ConflictException conflict) {
    if (isLast) {
      return conflict;
    }
    LostRow lost = conflict.lost();
    if (lost != null && waitsForWinner(conflict, lost)) {
      DeadlockException told = awaitEnd(lost);
      if (told != null) {
        giveUp(told, /* isWorthIt= */ false);
        return told;
      }
    } else if (heirs == null) { // who would sleep behind nobody meanwhile
      pause(conflict);
    }
    if (attempts.areLate()) {
      giveUp(conflict, /* isWorthIt= */ true);
      return conflict;
    }
    return null;
  }

  @SuppressWarnings("ReferenceEquality") // which database it is
  private boolean waitsForWinner(ConflictException conflict, LostRow lost) {
    return lost.table().engine() == engine
        && !engine.options().maxBackoff().isZero()
        && (conflict.isOfLongUse() || attempts.made() > USUAL_FAILURES);
  }

  private void pause(ConflictException conflict) {
    ConflictReason reason = conflict.reason();
    boolean waitsInstead = reason == ConflictReason.ROW_CHANGED && waitsForRows;
    if (!waitsInstead) {
      engine.backoff().pause(reason, attempts.inARow(), attempts.made());
    }
  }

  /** Sleeps until the winner has ended; or returns why that would never be. */
  private @Nullable DeadlockException awaitEnd(LostRow lost) {
    RowWaiter waiter = RowWaiter.betweenAttempts(lost.holder(), lost.row());
    RowWaiters.Inheritance along = heirs;
    if (along != null && !along.isOf(lost.row())) {
      heirs = null;
      waiters().release(along);
      along = null;
    }
    boolean holdsOthers = engine.open().hasOfThisThread();
    DeadlockException told = holdsOthers ? enterGraph(lost, waiter) : null;
    if (told != null) {
      return told;
    }
    try {
      heirs = null;
      heirs =
          waiters()
              .sleepBetween(
                  waiter,
                  along,
                  lost.seen(),
                  attempts.made() > 1,
                  attempts.deadline(),
                  () -> engine.storage().log().failure() != null);
    } finally {
      if (holdsOthers) {
        engine.waitGraph().leave();
      }
    }
    return null;
  }

  private @Nullable DeadlockException enterGraph(LostRow lost, RowWaiter waiter) {
    WaitGraph.ForRow waits =
        new WaitGraph.ForRow(lost.table(), null, lost.row().key(), lost.holder(), waiter);
    WaitGraph.Step cycle = engine.waitGraph().enter(waits).cycle();
    if (cycle == null) {
      return null;
    }
    DeadlockException told =
        new DeadlockException(
            "deadlock: " + WaitGraph.words(cycle) + ", which this very thread has open",
            TransactionCore.OWN_CURE,
            /* holder= */ 0);
    told.isBecauseOf(cycle.holder(), /* isAlone= */ false);
    return told;
  }

  private RowWaiters waiters() {
    return engine.storage().transactions().rowWaiters();
  }

  /** Those who sleep behind the next attempt; null if nobody does. */
  RowWaiters.@Nullable Inheritance takeHeirs() {
    RowWaiters.Inheritance along = heirs;
    heirs = null;
    return along;
  }

  /** There is no other attempt. */
  void end() {
    RowWaiters.Inheritance along = takeHeirs();
    if (along != null) {
      waiters().release(along);
    }
  }
}
