package org.revenantdb.engine.lifecycle;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.RestartPhase;
import org.revenantdb.engine.RestartStatus;

/**
 * Reports the phases of restarts to the flight recorder, if there is one: the event {@code
 * org.revenantdb.Restart}, enabled in every recording.
 */
final class RestartEvents {
  /* As in WaitEvents: only methods that run during a recording refer to RestartEvent. */

  private RestartEvents() {}

  /** Takes the start time of a phase; null if there is no recording. */
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
