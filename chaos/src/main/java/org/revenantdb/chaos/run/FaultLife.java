package org.revenantdb.chaos.run;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Trace;

/**
 * A life with one fault, and a second life on the files that the first one left. {@link FaultRun}
 * judges both.
 *
 * <p>Threads: one.
 */
public interface FaultLife {

  /** Begins lives. */
  @FunctionalInterface
  interface Source {

    /**
     * Prepares a life.
     *
     * @param fault which it has
     * @return the life; nothing has happened yet
     * @throws IOException if its disk cannot be made
     */
    FaultLife begin(FaultCase fault) throws IOException;
  }

  /**
   * What happened in the first life.
   *
   * @param struck whether the fault occurred
   * @param in the stack of that operation
   * @param firstAt the place of its first occurrence; promises with a smaller one came before it
   * @param hangs whether the life did not end
   * @param complaint what went wrong; empty if the store finished its work
   * @param thrown the exception of the store, or null
   * @param broken what no fault excuses, with a stack, such as a thread that died while all calls
   *     succeeded; empty if there is nothing
   * @param unmeasured why the life shows nothing; empty if it does
   */
  record Lived(
      boolean struck,
      CallStack in,
      long firstAt,
      boolean hangs,
      String complaint,
      @Nullable Throwable thrown,
      String broken,
      String unmeasured) {}

  /**
   * What happened in both lives.
   *
   * @param complaint what went wrong in the second one; empty if nothing did
   * @param failure its exception, or null
   * @param trace the operations of both
   * @param later the promises from place {@code from} on; null if the second life did not get there
   * @param from the first place of the second life's promises
   * @param end the last place
   * @param unmeasured why the lives show nothing; empty if they do
   */
  record LivedOn(
      String complaint,
      @Nullable Throwable failure,
      Trace trace,
      @Nullable PromiseLog later,
      long from,
      long end,
      String unmeasured) {}

  /**
   * Opens the store, lets it work with the fault, and closes it.
   *
   * @return what happened
   * @throws IOException if the framework cannot write its files
   */
  Lived live() throws IOException;

  /**
   * Returns why the subject is at fault and not the store. Asked after {@link #live()}.
   *
   * @return a sentence with a stack; empty if it is not at fault
   */
  default String faultOfSubject() {
    return "";
  }

  /**
   * Returns what repeats the fault, if that is known better than before the life. Asked after
   * {@link #live()}.
   *
   * @return instead of {@link FaultCase#detail()}; empty for that detail
   */
  default String repeats() {
    return "";
  }

  /**
   * Returns whether the life shares static state with earlier ones, which may be why it failed.
   *
   * @return true if the same life in fresh classes might succeed
   */
  default boolean inherits() {
    return false;
  }

  /**
   * Returns the files as the end of the process leaves them.
   *
   * @return a copy
   * @throws IOException if they cannot be read
   */
  DiskImage left() throws IOException;

  /**
   * Returns the promises of the first life.
   *
   * @return its log
   */
  PromiseLog promises();

  /**
   * Takes a place behind the first life.
   *
   * @return the place
   */
  long now();

  /**
   * Opens the store again in another process, without faults, and lets it work.
   *
   * @return what happened
   * @throws IOException if the framework cannot write its files
   */
  LivedOn liveOn() throws IOException;
}
