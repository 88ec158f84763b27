package org.revenantdb.chaos.crash;

import java.io.FileNotFoundException;
import org.revenantdb.chaos.ledger.Ledger;

/**
 * The child of a {@link ProcessDeathRun}: lives one life of a subject as it was ordered, and tells
 * all of it to its ledger.
 */
public final class SubjectMain {

  /** The exit code of a child that has no ledger to say anything else in. */
  static final int NO_LEDGER = 3;

  private SubjectMain() {}

  /**
   * Lives a life. It ends with the process, whatever threads are left.
   *
   * @param arguments a life order, as its parent wrote it
   */
  public static void main(String[] arguments) {
    // What the subject prints must not fill a pipe that nobody empties; and no child outlives its
    // parent.
    ChildPipe.open();
    LifeOrder order = LifeOrder.of(arguments);
    Ledger ledger;
    try {
      ledger = Ledger.create(order.ledger());
    } catch (FileNotFoundException | LinkageError e) {
      System.err.println("There is no ledger to write to (Chronicle Bytes): " + e);
      Runtime.getRuntime().halt(NO_LEDGER);
      return;
    }
    new Life<>(order, Life.subject(order.subject()), entry -> ledger.append(entry.encode())).live();
    Runtime.getRuntime().halt(0);
  }
}
