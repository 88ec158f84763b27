package org.revenantdb.engine.version;

import java.util.ArrayList;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;

/**
 * What one transaction has overwritten while it had a savepoint, in order (R14, protocols.md §28).
 * One thread at a time.
 */
final class Overwritten {
  /**
   * A version of the transaction's own, or where it wrote a row first: then the row has the version
   * before, and the value is null.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Version(Tree tree, byte[] key, int flags, byte @Nullable [] value) {}

  private final ArrayList<Version> versions = new ArrayList<>();
  private @Nullable Version next;
  private boolean keeps;
  private boolean hasKept;

  /** Nothing, and nothing is kept. */
  Overwritten() {}

  /** Whether anything is kept. */
  boolean keeps() {
    return keeps;
  }

  /** Whether the transaction ever had a savepoint. */
  boolean hasKept() {
    return hasKept;
  }

  /** How many versions are kept; from now on all that are overwritten are. */
  int mark() {
    keeps = true;
    hasKept = true;
    return versions.size();
  }

  /** Makes ready what {@link #add} adds, so that this cannot fail. */
  void prepare(Tree tree, byte[] key, int flags, byte @Nullable [] value) {
    if (keeps) {
      next = new Version(tree, key.clone(), flags, value);
      versions.ensureCapacity(versions.size() + 1);
    }
  }

  /** What was made ready has not been overwritten. */
  void discard() {
    next = null;
  }

  /** Adds what was made ready: it has been overwritten. */
  void add() {
    Version ready = next;
    if (ready != null) {
      versions.add(ready);
      next = null;
    }
  }

  /** The last one above a mark; null if there is none. */
  @Nullable Version last(int mark) {
    return versions.size() > mark ? versions.getLast() : null;
  }

  /** The last one is back in its row. */
  void removeLast() {
    versions.removeLast();
  }

  /** The transaction has ended. */
  void end() {
    clear();
    hasKept = false;
  }

  /** Nothing is kept any more. */
  void clear() {
    keeps = false;
    next = null;
    versions.clear();
  }
}
