package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.util.function.Consumer;
import org.revenantdb.chaos.ledger.Ledger;
import org.revenantdb.chaos.trace.CallStack;

/**
 * The child of a {@link ProcessDeathRun}: runs one life of a subject by its order, and reports
 * everything to its ledger.
 */
public final class SubjectMain {

  /** The exit code of a child without a ledger, which cannot report anything else. */
  static final int NO_LEDGER = 3;

  private SubjectMain() {}

  /**
   * Runs a life. It ends with the process, whatever threads are left.
   *
   * @param arguments a life order, as the parent wrote it
   */
  public static void main(String[] arguments) {
    // Output of the subject must not fill a pipe that is never read, and no child
    // outlives its parent.
    ChildPipe.open();
    PassedProperties.adopt();
    LifeOrder order = LifeOrder.of(arguments);
    Ledger ledger;
    try {
      ledger = Ledger.create(order.ledger());
    } catch (IOException e) {
      System.err.println("cannot create the ledger: " + e);
      Runtime.getRuntime().halt(NO_LEDGER);
      return;
    }
    Consumer<LifeEntry> told = entry -> ledger.append(entry.encode());
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> endOf(thread, thrown, told));
    new Life<>(order, Life.subject(order.subject()), told).live();
    Runtime.getRuntime().halt(0);
  }

  /** A thread of the store that ends with an uncaught exception is a failure of its life. */
  private static void endOf(Thread thread, Throwable thrown, Consumer<LifeEntry> told) {
    String kind = "uncaught " + thrown.getClass().getName();
    told.accept(
        new LifeEntry.Failed(
            kind,
            "the thread \"%s\" died: %s".formatted(thread.getName(), CallStack.text(thrown))));
    Runtime.getRuntime().halt(0);
  }
}
