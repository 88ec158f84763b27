package org.revenantdb.engine.session;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.file.EngineWork;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The wait until the outcome of a transaction is durable, by its thread or by a stage for further
 * work.
 *
 * <p>Threads: any, outside of the transaction and of the gate, with nothing latched.
 *
 * <p>Failure: {@link OutcomeUnknownException}, if the log failed first.
 */
final class DurableOutcome {
  private DurableOutcome() {}

  /** Loads the class, so that this cannot fail after the record of a commit. */
  static void load() {}

  /** Waits for the record of a transaction that has written. */
  static void await(TransactionCore core) {
    try {
      core.engine().storage().log().awaitDurable(core.committedAt());
    } catch (DurabilityUnknownException | LogStoppedException e) {
      throw unknown(core, e);
    }
  }

  /** As {@link TransactionCore#whenDurable}. */
  static CompletionStage<@Nullable Void> stage(TransactionCore core) {
    if (core.state() != TransactionState.State.COMMITTED) {
      throw new Misuse.OfState("the transaction has not been committed");
    }
    Journal log = core.engine().storage().log();
    long lsn = core.committedAt();
    CompletableFuture<@Nullable Void> durable = new CompletableFuture<>();
    if (log.durableLsn() >= lsn) {
      durable.complete(null);
      return durable;
    }
    EngineWork awaits =
        EngineWork.of(
            () -> {
              log.awaitDurableUnasked(lsn);
              durable.complete(null);
            },
            e -> completeWith(core, durable, e));
    try {
      Thread.ofVirtual()
          .name("revenant-durable")
          .inheritInheritableThreadLocals(false)
          .start(awaits);
    } catch (OutOfMemoryError noThread) {
      durable.completeExceptionally(unknown(core, noThread)); // it has committed: no exception
    }
    return durable.minimalCompletionStage();
  }

  /** A thread may wait for the stage, so this is repeated until there is memory for it. */
  private static void completeWith(
      TransactionCore core, CompletableFuture<@Nullable Void> durable, Throwable failure) {
    while (!durable.isDone()) {
      try {
        durable.completeExceptionally(unknown(core, failure));
      } catch (OutOfMemoryError notNow) {
        Parking.giveWay();
      }
    }
  }

  /** Waits until a killed process leaves the record of a lazy commit. */
  static void awaitUnbroken(TransactionCore core) {
    try {
      core.engine().storage().log().awaitUnbroken(core.committedAt());
    } catch (DurabilityUnknownException | LogStoppedException e) {
      throw unknown(core, e);
    }
  }

  /**
   * Whether the publication of a record has failed, and a restart may find the record nevertheless.
   * The log stops in that case (protocols.md §46).
   */
  static boolean isPerhapsInLog(Journal log, Throwable failure) {
    return !(failure instanceof LogStoppedException) && log.failure() != null;
  }

  static OutcomeUnknownException unknown(TransactionCore core, Throwable failure) {
    return new OutcomeUnknownException(
        (core.id() == 0
                ? "the log failed while a transaction waited until what it has read was durable: its result is"
                    + " uncertain"
                : "the log failed before it was certain that transaction "
                    + core.id()
                    + " outlives a crash: its outcome is unknown")
            + " until the database has been opened again; look for its effects before you repeat it ("
            + Engine.why(failure)
            + ")",
        failure);
  }
}
