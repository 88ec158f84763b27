package org.revenantdb.latch;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Reports waits to the flight recorder, if there is one.
 *
 * <p>The event is {@code org.revenantdb.latch.Wait}, enabled in every recording, with a threshold
 * of 10 ms that a recording may change as for any other event.
 *
 * <p>Threads: {@link #begin} and {@link #end} are called by the thread that waits, before and after
 * the wait. Neither throws, because the thread may hold the latch by then: a lost event is better
 * than a lost latch.
 *
 * {@snippet :
 * Object event = LatchWaitEvents.begin(); // null unless it is recorded
 * boolean entered = spinThenPark();
 * LatchWaitEvents.end(event, "leaf", shared, entered ? Acquisition.ACQUIRED : Acquisition.TIMED_OUT);
 * }
 */
final class LatchWaitEvents {
  /*
   * The module jdk.jfr may be missing (a small run-time image), and then LatchWaitEvent cannot be loaded, as
   * its superclass is not there. So only the two methods that run if AVAILABLE is true refer to it, and it is passed
   * on as an Object: the verifier loads classes to compare types other than Object.
   *
   * Loading it starts the flight recorder with the classes of all its parts, which takes a quarter of a second. A
   * thread that waits for a microsecond must not pay for that. So the class is used only after the flight recorder
   * was started: with the JVM, or with the first recording.
   */

  /** Whether this run-time image has a flight recorder; whether it records is another question. */
  static final boolean AVAILABLE = isAvailable();

  private LatchWaitEvents() {}

  /**
   * Takes the time at which a wait begins.
   *
   * @return the argument for {@link #end}; null if waits are not recorded
   */
  static @Nullable Object begin() {
    if (!AVAILABLE) {
      return null;
    }
    try {
      return isStarted() ? begun() : null;
    } catch (VirtualMachineError | LinkageError e) {
      return null;
    }
  }

  /**
   * Records a wait that has ended, if it was long enough.
   *
   * @param event what {@link #begin} returned
   * @param latchClass the name of the statistics in which the wait was counted
   * @param shared whether the thread waited for a shared hold
   * @param outcome how the wait ended
   */
  static void end(@Nullable Object event, String latchClass, boolean shared, Acquisition outcome) {
    if (event == null) {
      return;
    }
    try {
      commit(event, latchClass, shared, outcome);
    } catch (VirtualMachineError | LinkageError e) {
      // One wait is not recorded.
    }
  }

  private static boolean isStarted() {
    return FlightRecorder.isInitialized();
  }

  /** While there is no recording, the object does not escape this method, and is optimized away. */
  private static @Nullable Object begun() {
    LatchWaitEvent event = new LatchWaitEvent();
    if (!event.isEnabled()) {
      return null;
    }
    event.begin();
    return event;
  }

  private static void commit(Object begun, String latchClass, boolean shared, Acquisition outcome) {
    LatchWaitEvent event = (LatchWaitEvent) begun;
    event.end();
    if (event.shouldCommit()) {
      event.latchClass = latchClass;
      event.mode = shared ? "shared" : "exclusive";
      event.outcome = textOf(outcome);
      event.commit();
    }
  }

  private static String textOf(Acquisition outcome) {
    return switch (outcome) {
      case ACQUIRED -> "acquired";
      case TIMED_OUT -> "timed out";
      case INTERRUPTED -> "interrupted";
      case GIVEN_UP -> "given up";
    };
  }

  private static boolean isAvailable() {
    try {
      Class.forName(
          "jdk.jfr.Event", /* initialize= */ false, LatchWaitEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}
