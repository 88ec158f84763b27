package org.revenantdb.engine.lifecycle;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Tells the flight recorder of waits, if there is a flight recorder.
 *
 * <p>The event is {@code org.revenantdb.Wait}, enabled in every recording, with a threshold of 10
 * ms that a recording may change as for any other event. A wait for the latch of a page is {@code
 * org.revenantdb.latch.Wait} as well, of the same class.
 *
 * <p>Threads: {@link #begin} and {@link #end} are called by the thread that waits. What they throw,
 * for want of memory or stack, their caller catches.
 */
final class WaitEvents {
  /*
   * As in the latch module: WaitEvent cannot be loaded where jdk.jfr is missing, so it is mentioned only in the
   * methods that run when AVAILABLE says yes, and travels as an Object; and to load it starts the flight recorder,
   * which nobody shall pay for who does not record, so it is mentioned only once somebody has started that.
   */
  private static final boolean AVAILABLE = isAvailable();

  private WaitEvents() {}

  /** Takes the time at which a wait begins; null if nobody records waits. */
  static @Nullable Object begin() {
    return isRecording() ? begun() : null;
  }

  /** Whether events may be made: somebody has started the flight recorder. */
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
