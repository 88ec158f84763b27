package org.revenantdb.chaos.revenant.suite;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;

/**
 * The death of a process as its disk sees it: from one operation on nothing is carried out any
 * more, not even what would tidy up, until another process begins.
 *
 * <p>Unlike with a real one the disk's cache can be cut afterwards: what the dead process did not
 * force is still pending when the next one has worked.
 *
 * <p>Threads: any.
 */
final class DeadFrom implements FaultInjector {

  private final Predicate<FileOperation> which;
  private final int nth;
  private final AtomicInteger seen = new AtomicInteger();
  private volatile boolean dead;
  private volatile boolean another;

  /**
   * Death at one operation.
   *
   * @param which operations count
   * @param nth of them is the first that is not carried out, from 1
   */
  DeadFrom(Predicate<FileOperation> which, int nth) {
    this.which = which;
    this.nth = nth;
  }

  /** Death at a force of names. */
  static DeadFrom directoryForce(int nth) {
    // Only files have a full stop in their names.
    return new DeadFrom(
        operation ->
            operation.kind() == FileOperation.Kind.FORCE && operation.path().indexOf('.') < 0,
        nth);
  }

  /** Death at a force of the data file, under its own name. */
  static DeadFrom dataForce(int nth) {
    return new DeadFrom(
        operation ->
            operation.kind() == FileOperation.Kind.FORCE
                && operation.path().endsWith("revenant.data"),
        nth);
  }

  @Override
  public Fault before(FileOperation operation) {
    if (another) {
      return Fault.NONE;
    }
    if (which.test(operation) && seen.incrementAndGet() == nth) {
      dead = true;
    }
    return dead ? new Fault.Fail("the process is dead") : Fault.NONE;
  }

  /** Whether it came to that. */
  boolean isDead() {
    return dead;
  }

  /** From now on another process works, and lives. */
  void another() {
    another = true;
  }
}
