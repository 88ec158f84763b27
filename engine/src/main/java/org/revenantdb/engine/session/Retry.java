package org.revenantdb.engine.session;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.catalog.TableState;
import org.revenantdb.engine.txn.RowTurns;
import org.revenantdb.engine.txn.RowWaiter;
import org.revenantdb.engine.txn.RowWaiter.Row;
import org.revenantdb.engine.txn.RowWaiters;
import org.revenantdb.engine.version.RowWriter;

/**
 * Decides what one call of {@link Database#run} does after a conflict. It gives up, or pauses, or
 * waits for its turn to have the rows and until the transaction that has won has ended. For one
 * thread.
 *
 * <p>Call {@link #failed} before the attempt is rolled back, {@link #awaitTurn} after that, with
 * nothing latched, outside of the gate, and {@link #end} at the end in any case.
 */
public final class Retry {
  /*
   * Protocol    docs/protocols.md §40, §32.
   *
   * Heirs       other transactions that sleep in a statement behind this call for a row. They are with the attempt
   *             (from its first write on behind its id), and here between two attempts. From here they go to the next
   *             attempt, or are released.
   * Turn        taken before an attempt begins; it ends with the attempt, or here, if there is none.
   *
   * Deadlock    a call that waits between two attempts has no transaction, and either no turn or all rows that it
   *             wants, so no other waits for it. If its thread has another transaction open (a run in a run), it
   *             takes no turn, and its wait for the winner is in the WaitGraph.
   */
  /**
   * The number of failed attempts that is usual under contention, even if work progresses. Up to it
   * a pause is better than a turn.
   */
  private static final int USUAL_FAILURES = 3;

  /** If an attempt has written at most this many rows, a turn is taken for them. */
  private static final int FEW_ROWS = 16;

  private final Engine engine;
  private final Attempts attempts;
  private RowWaiters.@Nullable Inheritance heirs;
  private boolean isLast;
  private boolean waitsForRows;

  /**
   * The rows that the last attempt has had or wanted; empty if no turn should be taken for them.
   */
  private List<Row> wanted = List.of();

  private final RowTurns.Turn turn = new RowTurns.Turn();

  /** Made when the first attempt has met a conflict. */
  public Retry(Engine engine, TransactionOptions options) {
    this.engine = engine;
    Duration own = options.retryTimeout();
    this.attempts =
        new Attempts(
            own == null ? engine.options().retryTimeout() : own,
            engine.options().maxAttempts(),
            System::nanoTime);
  }

  /** The failed attempts. */
  Attempts attempts() {
    return attempts;
  }

  /** Called when an attempt has met a conflict, and is about to be rolled back. */
  public void failed(TransactionCore attempt, ConflictException conflict) {
    attempts.failed(conflict);
    engine.retries().failed(conflict.reason());
    waitsForRows = attempt.waitsForRows();
    boolean isWorthIt = ApiAccess.api().isWorthAnotherAttempt(conflict, attempt);
    isLast = !isWorthIt || attempts.areAll() || attempts.areLate() || isInterrupted();
    if (!isLast) {
      heirs = attempt.takeHeirs();
      wanted = wanted(attempt, conflict);
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
      ApiAccess.api().gaveUp(conflict, attempts.inWords());
    }
  }

  /**
   * Waits until it is time for another attempt, and returns null; or returns the exception with
   * which to give up.
   */
  public @Nullable ConflictException awaitTurn(ConflictException conflict) {
    if (isLast) {
      return conflict;
    }
    LostRow lost = ApiAccess.api().lost(conflict);
    if (!wanted.isEmpty() && lost != null) {
      ConflictException told = takeTurn(lost);
      if (told != null) {
        giveUp(told, /* isWorthIt= */ false);
        return told;
      }
    } else if (heirs == null) { // they would sleep behind no transaction meanwhile
      pause(conflict);
    }
    if (attempts.areLate()) {
      giveUp(conflict, /* isWorthIt= */ true);
      return conflict;
    }
    return null;
  }

  @SuppressWarnings("ReferenceEquality") // which database it is
  private List<Row> wanted(TransactionCore attempt, ConflictException conflict) {
    LostRow lost = ApiAccess.api().lost(conflict);
    if (lost == null
        || !TableState.of(lost.table()).isOf(engine)
        || engine.options().maxBackoff().isZero()
        || (!ApiAccess.api().isOfLongUse(conflict)
            && attempts.made() <= USUAL_FAILURES
            && turn.age() == 0)) {
      return List.of();
    }
    List<Row> rows = fewWritten(attempt);
    rows.add(lost.row());
    return rows;
  }

  /** The rows that an attempt has written, unless they are more than a few. */
  private static List<Row> fewWritten(TransactionCore attempt) {
    List<Row> rows = new ArrayList<>();
    RowWriter used = attempt.usedWriter();
    if (used != null) {
      used.history()
          .forEachWritten((tree, key) -> {
            if (rows.size() < FEW_ROWS) {
              rows.add(new Row(tree, key));
            }
          });
    }
    return rows;
  }

  private void pause(ConflictException conflict) {
    ConflictReason reason = conflict.reason();
    boolean waitsInstead = reason == ConflictReason.ROW_CHANGED && waitsForRows;
    if (!waitsInstead) {
      engine.backoff().pause(reason, attempts.inARow(), attempts.made());
    }
  }

  /**
   * Waits for the turn to have the rows, and then until the winner has ended; or returns why this
   * would never happen.
   */
  private @Nullable ConflictException takeTurn(LostRow lost) {
    releaseHeirs(); // they would sleep behind no transaction meanwhile
    RowWaiter waiter = new RowWaiter(/* own= */ 0, lost.holder(), Row.ofNobody(number()));
    if (engine.open().hasOfThisThread()) {
      ConflictException told = lost.holder() == 0 ? null : enterGraph(lost, waiter);
      if (told == null) {
        try {
          awaitEnd(lost, waiter);
        } finally {
          engine.waitGraph().leave();
        }
      }
      return told;
    }
    turns().await(turn, wanted, attempts.deadline(), this::isStopped);
    awaitEnd(lost, waiter);
    return null;
  }

  /** A negative number of its own: other waits have the numbers of their slots. */
  private int number() {
    return ~(int) Thread.currentThread().threadId();
  }

  private void awaitEnd(LostRow lost, RowWaiter waiter) {
    RowWaiter sleeper = waiter;
    while (lost.holder() != 0
        && !attempts.areLate()
        && !isInterrupted()
        && !isStopped()
        && waiters().sleepInterruptibly(sleeper, lost.seen(), attempts.deadline())
        && !sleeper.isWoken()) {
      // the waiter has checked after a second: nothing has happened
    }
  }

  private boolean isStopped() {
    return engine.storage().log().failure() != null;
  }

  private @Nullable ConflictException enterGraph(LostRow lost, RowWaiter waiter) {
    WaitGraph.ForRow waits =
        new WaitGraph.ForRow(lost.table(), null, lost.row().key(), lost.holder(), waiter);
    WaitGraph.Step cycle = engine.waitGraph().enter(waits).cycle();
    if (cycle == null) {
      return null;
    }
    ConflictException told =
        ApiAccess.api()
            .deadlock(
                "deadlock: " + WaitGraph.words(cycle) + ", which this thread has open",
                TransactionCore.OWN_CURE,
                /* holder= */ 0);
    ApiAccess.api().isBecauseOf(told, cycle.holder(), /* isAlone= */ false);
    return told;
  }

  private RowWaiters waiters() {
    return engine.storage().transactions().rowWaiters();
  }

  private RowTurns turns() {
    return engine.storage().transactions().rowTurns();
  }

  /** The heirs for the next attempt; null if there are none. */
  RowWaiters.@Nullable Inheritance takeHeirs() {
    RowWaiters.Inheritance along = heirs;
    heirs = null;
    return along;
  }

  /** The turn, which ends with the next attempt. */
  RowTurns.Turn turn() {
    return turn;
  }

  private void releaseHeirs() {
    RowWaiters.Inheritance along = takeHeirs();
    if (along != null) {
      waiters().release(along);
    }
  }

  /** Called when there is no other attempt. */
  public void end() {
    releaseHeirs();
    turns().leave(turn);
  }
}
