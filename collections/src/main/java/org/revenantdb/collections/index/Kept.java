package org.revenantdb.collections.index;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Transaction;

/**
 * What each write of a row keeps in the same transaction: an index, or the record of a change feed.
 *
 * @param <V> type of the rows
 */
public interface Kept<V> {
  /** Its name, unique in its table. */
  String name();

  /** What a change of a row, from nothing or to nothing, changes here; writes nothing. */
  Change change(@Nullable V before, @Nullable V after);

  /** A change of a row, as far as it concerns this. */
  interface Change {
    /** Refuses the change if another row has what each may have once. */
    void demandUnique(Transaction transaction, byte[] key, Expired expired);

    /**
     * Writes it.
     *
     * @param stored the bytes of the row as it is to be; null if it is deleted
     */
    void write(Transaction transaction, byte[] key, byte @Nullable [] stored);
  }

  /** Removes a row that nobody sees any more, because it has expired. */
  @FunctionalInterface
  interface Expired {
    /** Whether there was such a row with this key, which is gone now. */
    boolean remove(Transaction transaction, byte[] key);
  }
}
