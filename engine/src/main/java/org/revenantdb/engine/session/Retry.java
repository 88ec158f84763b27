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
 * What one call of {@link Database#run} does after a conflict: gives up, pauses, or waits for its
 * turn to have the rows, and until the transaction that it has lost against has ended. One thread.
 *
 * <p>{@link #failed} before the attempt is rolled back, {@link #awaitTurn} behind that, with
 * nothing latched, outside of the gate; {@link #end} at the end in any case.
 */
public final class Retry {
  /*
   * Protocol    docs/protocols.md §40, §32.
   *
   * Heirs       others who sleep in a statement behind this call for a row. They are with the attempt, from its first
   *             write on behind its id, and here in between; who has them here lets the next attempt have them, or
   *             releases them.
   * Turn        taken before an attempt begins; it ends with the attempt, or here, if there is none.
   *
   * Deadlock    who waits between two attempts has no transaction, and no turn, or all that it wants, so nobody waits
   *             for it. Where its thread has another transaction open (a run in a run) it takes no turn, and its wait
   *             for the winner is in the WaitGraph.
   */
  /** So many attempts fail in a crowd that gets on, for which a pause is better than a turn. */
  private static final int USUAL_FAILURES = 3;

  /** Of so many rows that an attempt has written, a turn is taken. */
  private static final int FEW_ROWS = 16;

  private final Engine engine;
  private final Attempts attempts;
  private RowWaiters.@Nullable Inheritance heirs;
  private boolean isLast;
  private boolean waitsForRows;

  /** The rows that the last attempt has had or wanted; empty if no turn is to be taken for them. */
  private List<Row> wanted = List.of();

  private final RowTurns.Turn turn = new RowTurns.Turn();

  /** The first attempt has met a conflict just now. */
  public Retry(Engine engine, TransactionOptions options) {
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

  /** Waits until it is time for another attempt, and returns null; or what to give up with. */
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
   * Waits for the turn to have the rows, and then until the winner has ended; or returns why that
   * would never be.
   */
  private @Nullable ConflictException takeTurn(LostRow lost) {
    releaseHeirs(); // they would sleep behind nobody meanwhile
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

  /** A negative one, of its own: others have those of their slots. */
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
      // it has looked after a second: nothing has happened
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

  /** Those who sleep behind the next attempt; null if nobody does. */
  RowWaiters.@Nullable Inheritance takeHeirs() {
    RowWaiters.Inheritance along = heirs;
    heirs = null;
    return along;
  }

  /** What ends with the next attempt. */
  RowTurns.Turn turn() {
    return turn;
  }

  private void releaseHeirs() {
    RowWaiters.Inheritance along = takeHeirs();
    if (along != null) {
      waiters().release(along);
    }
  }

  /** There is no other attempt. */
  public void end() {
    releaseHeirs();
    turns().leave(turn);
  }
}
