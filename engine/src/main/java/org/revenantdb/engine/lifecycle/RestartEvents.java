package org.revenantdb.engine.lifecycle;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RestartStatus;

/**
 * Tells the flight recorder of the phases of restarts, if there is a flight recorder: the event
 * {@code org.revenantdb.Restart}, enabled in every recording.
 */
final class RestartEvents {
  /* As in WaitEvents: RestartEvent is mentioned only in methods that run when somebody records. */

  private RestartEvents() {}

  /** Takes the time at which a phase begins; null if nobody records. */
  static @Nullable Object begin() {
    return WaitEvents.isRecording() ? begun() : null;
  }

  /** Records a phase that has ended; {@code event} is from {@link #begin}. */
  static void end(@Nullable Object event, RestartStatus ended) {
    if (event != null) {
      commit(event, ended);
    }
  }

  private static Object begun() {
    RestartEvent event = new RestartEvent();
    event.begin();
    return event;
  }

  private static void commit(Object begun, RestartStatus ended) {
    RestartEvent event = (RestartEvent) begun;
    event.phase = ended.phase().text();
    event.logBytes = ended.phase() == RestartPhase.ANALYSIS ? ended.done() : 0;
    event.pages = ended.phase() == RestartPhase.REDO ? ended.done() : 0;
    event.commit();
  }
}
