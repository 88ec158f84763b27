package org.revenantdb.engine.catalog;

import java.util.function.LongSupplier;

/** Publishes a record in its place among commits (docs/protocols.md §34). */
@FunctionalInterface
public interface Publication {
  /** At any place. */
  Publication ANYWHERE = LongSupplier::getAsLong;

  /**
   * Publishes it.
   *
   * @param record publishes it, and returns its LSN, 0 if it was not published
   * @return the same
   */
  long publish(LongSupplier record);
}
