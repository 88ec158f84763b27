package org.revenantdb.chaos.run;

import java.util.function.Supplier;
import org.revenantdb.chaos.fault.FaultInjector;

/**
 * A fault during the life of a subject, and what the subject must do then.
 *
 * @param name for the table; cases with the same name share a row
 * @param detail the operation and the file, for messages
 * @param injector creates an injector, a new one for each life
 * @param contract what the subject must do
 */
public record FaultCase(
    String name, String detail, Supplier<? extends FaultInjector> injector, Contract contract) {

  /** What the subject must do after a fault (docs/chaos.md §7). */
  public enum Contract {
    /** The fault was reported. Nothing acknowledged is lost; the store opens and works. */
    NOTHING_LOST,
    /** The fault was not reported. Every answer is right, or the store refuses clearly. */
    RIGHT_OR_REFUSED,
    /**
     * The fault was not reported and hit data that only the newest promises depend on, such as the
     * end of a log, where no store can distinguish it from a crash. As before, but promises made
     * after the fault may be lost.
     */
    RIGHT_BEFORE_THE_FAULT
  }

  /** The same case, with more known of where the fault occurs. */
  FaultCase with(String found) {
    return new FaultCase(name, found, injector, contract);
  }

  /** The name and the operation, for messages. */
  String title() {
    return name + " (" + detail + ")";
  }
}
