package org.revenantdb.engine.session;

import org.revenantdb.engine.version.Reading;

/**
 * The snapshot of a cursor or stream of a read-committed transaction. It outlives its statement, so
 * it has its own slot until it is no longer used (docs/protocols.md §33).
 *
 * <p>One thread at a time, inside its transaction.
 */
public final class KeptReading {
  private final int slot;
  private final Reading reading;
  private int holders = 1;

  /**
   * Made by the code that has just opened the slot.
   *
   * @param slot the slot of its snapshot
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

  /** Adds a user. */
  public void share() {
    holders++;
  }

  /** Removes a user. Returns whether that was the last one. */
  boolean isLast() {
    return --holders == 0;
  }
}
