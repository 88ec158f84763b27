package org.revenantdb.chaos.crash;

import java.io.FileNotFoundException;
import java.util.function.Consumer;
import org.revenantdb.chaos.ledger.Ledger;
import org.revenantdb.chaos.trace.CallStack;

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
    // What the subject prints must not fill a pipe that nobody empties;
    // and no child outlives its parent.
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
    Consumer<LifeEntry> told = entry -> ledger.append(entry.encode());
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> endOf(thread, thrown, told));
    new Life<>(order, Life.subject(order.subject()), told).live();
    Runtime.getRuntime().halt(0);
  }

  /** A thread of the store that dies of what nobody caught is a failure of its life. */
  private static void endOf(Thread thread, Throwable thrown, Consumer<LifeEntry> told) {
    String kind = "uncaught " + thrown.getClass().getName();
    told.accept(
        new LifeEntry.Failed(
            kind,
            "the thread \"%s\" died: %s".formatted(thread.getName(), CallStack.text(thrown))));
    Runtime.getRuntime().halt(0);
  }
}
