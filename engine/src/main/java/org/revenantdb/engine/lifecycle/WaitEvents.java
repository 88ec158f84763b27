package org.revenantdb.engine.lifecycle;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

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
   * As in the latch module: WaitEvent cannot be loaded without jdk.jfr, so only methods that run
   * when AVAILABLE is true refer to it, and it is passed as an Object. Loading it starts the flight
   * recorder, whose cost should arise only with a recording. So it is used only after a recording
   * was started.
   */
  private static final boolean AVAILABLE = isAvailable();

  private WaitEvents() {}

  /** Takes the start time of a wait; null if waits are not recorded. */
  static @Nullable Object begin() {
    return isRecording() ? begun() : null;
  }

  /** Whether events may be created: the flight recorder was started. */
  static boolean isRecording() {
    return AVAILABLE && isStarted();
  }

  /** Records a wait that has ended, if it was long enough; {@code event} is from {@link #begin}. */
  static void end(@Nullable Object event, String waitClass) {
    if (event != null) {
      commit(event, waitClass);
    }
  }

  private static boolean isStarted() {
    return FlightRecorder.isInitialized();
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

  private static boolean isAvailable() {
    try {
      Class.forName("jdk.jfr.Event", /* initialize= */ false, WaitEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}
