package org.revenantdb.chaos.run;

import java.util.concurrent.atomic.AtomicLong;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * Notes when another injector injects a fault, and can stop it.
 *
 * <p>Threads: any.
 */
final class Strikes implements FaultInjector {

  private final FaultInjector injector;
  private final TraceClock clock;
  private final AtomicLong first = new AtomicLong();
  private volatile boolean ended;
  private volatile CallStack in = CallStack.UNKNOWN;

  Strikes(FaultInjector injector, TraceClock clock) {
    this.injector = injector;
    this.clock = clock;
  }

  @Override
  public Fault before(FileOperation operation) {
    Fault fault = ended ? Fault.NONE : injector.before(operation);
    if (!(fault instanceof Fault.None) && first.get() == 0) {
      if (first.compareAndSet(0, clock.next())) {
        in = operation.stack();
      }
    }
    return fault;
  }

  /** Stops all faults from now on. */
  void end() {
    ended = true;
  }

  boolean struck() {
    return first.get() != 0;
  }

  /** Where in the program the first fault occurred. */
  CallStack in() {
    return in;
  }

  /** The place of the first fault; promises with a smaller one were made before it. */
  long firstAt() {
    return first.get();
  }
}
