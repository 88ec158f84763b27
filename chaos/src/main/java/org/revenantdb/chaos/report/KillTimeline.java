package org.revenantdb.chaos.report;

import java.util.List;
import org.revenantdb.chaos.subject.Crash;

/**
 * The events around a kill or a power cut, ordered by operation.
 *
 * @param crash the kind of crash
 * @param title the title
 * @param kills places at which the process died or the power was cut; usually one
 * @param events before and after; lanes are drawn in the order in which they first appear
 */
public record KillTimeline(Crash crash, String title, List<Long> kills, List<Event> events) {

  /** Copies the lists. */
  public KillTimeline {
    kills = List.copyOf(kills);
    events = List.copyOf(events);
  }

  /** The label at the place of the crash. */
  String mark() {
    return switch (crash) {
      case PROCESS_DEATH -> "killed";
      case POWER_CUT -> "power cut";
    };
  }

  /**
   * An event.
   *
   * @param lane the row for it, for instance {@code commits}, {@code forces}, {@code recovery}
   * @param from number of the operation where it began
   * @param to number of the operation where it ended; the same for an instant
   * @param label its text; for a phase in its bar, if there is space
   */
  public record Event(String lane, long from, long to, String label) {

    /** Checks the order. */
    public Event {
      if (to < from) {
        throw new IllegalArgumentException(label + " ends at " + to + ", before " + from);
      }
    }

    /**
     * Returns an instant.
     *
     * @param lane the row
     * @param at number of the operation
     * @param label its tooltip
     * @return the event
     */
    public static Event at(String lane, long at, String label) {
      return new Event(lane, at, at, label);
    }
  }
}
