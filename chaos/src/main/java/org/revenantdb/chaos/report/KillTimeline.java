package org.revenantdb.chaos.report;

import java.util.List;
import org.revenantdb.chaos.subject.Crash;

/**
 * What happened around a kill or a power cut, along the operations.
 *
 * @param crash which of the two
 * @param title which one
 * @param kills places at which the process died or the power went; usually one
 * @param events before and after; lanes are drawn in the order in which they first appear
 */
public record KillTimeline(Crash crash, String title, List<Long> kills, List<Event> events) {

  /** Copies the lists. */
  public KillTimeline {
    kills = List.copyOf(kills);
    events = List.copyOf(events);
  }

  /** The word at the place where it happened. */
  String mark() {
    return switch (crash) {
      case PROCESS_DEATH -> "killed";
      case POWER_CUT -> "power cut";
    };
  }

  /**
   * Something that happened.
   *
   * @param lane the row it is drawn in, for instance {@code commits}, {@code forces}, {@code
   *     recovery}
   * @param from number of the operation that it began with
   * @param to number of the operation that it ended with; the same for an instant
   * @param label of a phase it is drawn in its bar, if there is room
   */
  public record Event(String lane, long from, long to, String label) {

    /** Checks the order. */
    public Event {
      if (to < from) {
        throw new IllegalArgumentException(label + " ends at " + to + ", before " + from);
      }
    }

    /**
     * An instant.
     *
     * @param lane the row
     * @param at number of the operation
     * @param label for whoever points at it
     * @return the event
     */
    public static Event at(String lane, long at, String label) {
      return new Event(lane, at, at, label);
    }
  }
}
