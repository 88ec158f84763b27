package org.revenantdb.chaos.run;

import java.util.function.Supplier;
import org.revenantdb.chaos.fault.FaultInjector;

/**
 * Something that goes wrong while a subject lives, and what it owes then.
 *
 * @param name for the table; cases of one name are one row
 * @param detail which operation of which file, for messages
 * @param injector makes what decides what goes wrong, anew for each life
 * @param contract what the subject owes
 */
public record FaultCase(
    String name, String detail, Supplier<? extends FaultInjector> injector, Contract contract) {

  /** What is owed after a fault (docs/chaos.md §7). */
  public enum Contract {
    /** The program was told. Nothing acknowledged is lost; the store opens and works. */
    NOTHING_LOST,
    /** The program was not told. Every answer is right, or the store refuses clearly. */
    RIGHT_OR_REFUSED,
    /**
     * The program was not told, and the fault hit what only the newest promises depend on, such as
     * the end of a log, where no store can tell it from a crash: as before, but promises made after
     * the fault may be lost.
     */
    RIGHT_BEFORE_THE_FAULT
  }
}
