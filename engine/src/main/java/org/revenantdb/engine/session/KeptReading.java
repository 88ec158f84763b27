package org.revenantdb.engine.session;

import org.revenantdb.engine.version.Reading;

/**
 * What a cursor or a stream of a transaction that reads committed reads in: it outlives its
 * statement, so it has a slot of its own until nobody uses it any more (docs/protocols.md §33).
 *
 * <p>One thread at a time, inside its transaction.
 */
public final class KeptReading {
  private final int slot;
  private final Reading reading;
  private int holders = 1;

  /**
   * Of who has just opened the slot.
   *
   * @param slot of its snapshot
   */
  KeptReading(int slot, Reading reading) {
    this.slot = slot;
    this.reading = reading;
  }

  int slot() {
    return slot;
  }

  public Reading reading() {
    return reading;
  }

  /** One more uses it. */
  public void share() {
    holders++;
  }

  /** One less does; whether that was the last. */
  boolean isLast() {
    return --holders == 0;
  }
}
