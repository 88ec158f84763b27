package org.revenantdb.engine.lifecycle;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.flight.FlightEvents;

/**
 * Reports waits to the flight recorder, if there is one.
 *
 * <p>The event is {@code org.revenantdb.Wait}, enabled in every recording, with a threshold of 10
 * ms that a recording may change as for any other event. A wait for the latch of a page is {@code
 * org.revenantdb.latch.Wait} as well, of the same class.
 *
 * <p>Threads: the waiting thread calls {@link #begin} and {@link #end}. Their caller catches
 * exceptions for lack of memory or stack.
 */
final class WaitEvents {
  /*
   * As in the latch module and in FlightEvents: WaitEvent cannot be loaded without jdk.jfr, so only
   * methods that run during a recording refer to it, and it is passed as an Object.
   */
  private WaitEvents() {}

  /** Takes the start time of a wait; null if waits are not recorded. */
  static @Nullable Object begin() {
    return isRecording() ? begun() : null;
  }

  /** Whether events may be created: the flight recorder was started. */
  static boolean isRecording() {
    return FlightEvents.isRecording();
  }

  /** Records a wait that has ended, if it was long enough; {@code event} is from {@link #begin}. */
  static void end(@Nullable Object event, String waitClass) {
    if (event != null) {
      commit(event, waitClass);
    }
  }

  private static @Nullable Object begun() {
    WaitEvent event = new WaitEvent();
    if (!event.isEnabled()) {
      return null;
    }
    event.begin();
    return event;
  }

  private static void commit(Object begun, String waitClass) {
    WaitEvent event = (WaitEvent) begun;
    event.end();
    if (event.shouldCommit()) {
      event.waitClass = waitClass;
      event.commit();
    }
  }
}
