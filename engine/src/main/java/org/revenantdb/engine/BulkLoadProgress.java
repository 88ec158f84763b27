package org.revenantdb.engine;

/**
 * The progress of a bulk load.
 *
 * @param phase what the load is doing
 * @param rowsAdded rows that the caller has added so far, or for {@link BulkLoad#addUnsorted} all
 *     rows
 * @param rowsStored rows that were stored in the table. If a key was added more than once to an
 *     unsorted load, only one of its rows is stored
 * @param sortBytes bytes that an unsorted load has written to its temporary files
 */
public record BulkLoadProgress(Phase phase, long rowsAdded, long rowsStored, long sortBytes) {
  /** What a bulk load is doing. */
  public enum Phase {
    /** It takes rows from the caller. */
    ADDING,
    /** An unsorted load has more sorted runs than it can read at once, and merges some of them. */
    MERGING,
    /** An unsorted load stores its rows in the order of their keys. */
    STORING
  }
}
