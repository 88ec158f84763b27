package org.revenantdb.engine.catalog;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.DroppedTableRow;
import org.revenantdb.engine.page.SlogEntry;
import org.revenantdb.engine.page.TableRow;

/**
 * The change of one transaction to the table of one name, until it is finished. It has at most two
 * sets of trees, each with an entry in the catalogue (protocols.md §31). With the catalogue's lock,
 * except {@link #isSettled} and {@link #transaction}.
 */
public final class NameChange {
  private enum Outcome {
    OPEN,
    COMMITTED,
    ABORTED
  }

  private final long transaction;
  private final byte[] key;
  private @Nullable TableRow former;
  private @Nullable TableRow created;
  private volatile Outcome outcome = Outcome.OPEN;

  /**
   * Makes an object without changes.
   *
   * @param key the key of the table's row
   */
  NameChange(long transaction, byte[] key) {
    this.transaction = transaction;
    this.key = key;
  }

  public long transaction() {
    return transaction;
  }

  /** Key of the table's row. */
  byte[] key() {
    return key;
  }

  /**
   * The trees that the table has for others and the transaction has dropped; null if there are
   * none.
   */
  @Nullable TableRow former() {
    return former;
  }

  /** The trees that the transaction has created; null if there are none. */
  public @Nullable TableRow created() {
    return created;
  }

  void former(TableRow row) {
    former = row;
  }

  public void created(@Nullable TableRow row) {
    created = row;
  }

  /** Whether the transaction has ended, so that the change only has to be finished. */
  boolean isSettled() {
    return outcome != Outcome.OPEN;
  }

  /** Called when the transaction has ended. */
  public void settle(boolean committed) {
    outcome = committed ? Outcome.COMMITTED : Outcome.ABORTED;
  }

  /** The trees of the name for all; null if there are none. */
  @Nullable TableRow visible() {
    return outcome == Outcome.COMMITTED ? created : former;
  }

  /** The trees that must be freed when the outcome is finished; null if there are none. */
  @Nullable TableRow garbage() {
    return outcome == Outcome.COMMITTED ? former : created;
  }

  /** Adds the changes that finish it, as in the tables of protocols.md §31. */
  void finish(CatalogueRecord record) {
    TableRow lost = garbage();
    TableRow kept = visible();
    if (lost != null) {
      drop(record, lost);
    }
    if (kept != null) {
      record.remove(DroppedTableRow.key(kept.id(0)));
    }
    boolean leadsToCreated = former == null; // the row, as it is now
    if (kept == null) {
      record.remove(key);
    } else if (outcome == Outcome.COMMITTED && !leadsToCreated) {
      record.replace(key, kept.bytes());
    }
  }

  /** Adds the change of the entry of some trees to one of a dropped table. */
  static void drop(CatalogueRecord record, TableRow trees) {
    record.replace(DroppedTableRow.key(trees.id(0)), trees.bytes());
  }

  /** An entry of this name. */
  SlogEntry entry(TableRow trees, SlogEntry.Step step) {
    return new SlogEntry(trees, step, transaction, key);
  }

  /** Adds an entry that a former life has left. */
  void add(SlogEntry entry) {
    switch (entry.step()) {
      case CREATED -> created = entry.trees();
      case DROPPED -> former = entry.trees();
    }
  }
}
