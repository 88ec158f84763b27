package org.revenantdb.engine.catalog;

import java.util.function.LongSupplier;

/** Has a record published in its place among commits (docs/protocols.md §34). */
@FunctionalInterface
public interface Publication {
  /** In any place. */
  Publication ANYWHERE = LongSupplier::getAsLong;

  /**
   * Publishes it.
   *
   * @param record does that, and returns its LSN, 0 if it was not published
   * @return the same
   */
  long publish(LongSupplier record);
}
