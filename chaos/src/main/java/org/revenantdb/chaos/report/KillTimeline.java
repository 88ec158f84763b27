package org.revenantdb.chaos.report;

import java.util.List;

/**
 * What happened around a kill, along the operations.
 *
 * @param title which kill
 * @param kills places at which the process died; usually one
 * @param events before and after; lanes are drawn in the order in which they first appear
 */
public record KillTimeline(String title, List<Long> kills, List<Event> events) {

  /** Copies the lists. */
  public KillTimeline {
    kills = List.copyOf(kills);
    events = List.copyOf(events);
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
