package org.revenantdb.engine.version;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;

/**
 * The history of the rows that a transaction has written. It is used to restore their former
 * versions: all of them at a rollback, if they are few ({@code docs/protocols.md} §27), or those
 * since a savepoint (§28). Reused by the next transaction; for one thread at a time.
 *
 * <p>A write of a row is prepared, begun, and done. A failure before it is begun has changed
 * nothing. After a later failure the row may be on its page without being in the history: then only
 * the cleaner can revert the writes of the transaction (R18).
 */
public final class WriteHistory {
  /**
   * The versions that a transaction has overwritten may take this part of the memory for older
   * versions, and at least this many bytes.
   */
  private static final int OVERWRITTEN_SHARE = 16;

  private static final long LEAST_OVERWRITTEN = 64 * 1024;

  private final Storage storage;
  private final RowRevert revert;
  private final WrittenRows written = new WrittenRows();
  private final Overwritten overwritten;

  /** Whether a write was begun, and is not done. */
  private boolean isHalfDone;

  /** Whether the present write restores a version that was overwritten before. */
  private boolean isRestoring;

  /** Whether the row that is being written had no version of the transaction itself. */
  private boolean isFirst;

  /** Makes an empty history. */
  WriteHistory(Storage storage, RowRevert revert) {
    this.storage = storage;
    this.revert = revert;
    this.overwritten =
        new Overwritten(
            storage.spill(),
            Math.max(LEAST_OVERWRITTEN, storage.versions().budget() / OVERWRITTEN_SHARE));
  }

  /**
   * Called when a transaction begins: up to this many rows can be {@linkplain #putBack put back}.
   */
  void begin(int shortRows) {
    written.begin(shortRows);
    overwritten.end();
    isHalfDone = false;
  }

  /** The transaction has ended. */
  void end() {
    written.clear();
    overwritten.end();
  }

  /**
   * Called when from now on other objects also write rows of the transaction: not all of them can
   * be put back.
   */
  void giveUp() {
    written.giveUp();
  }

  /** Called when a statement begins, with nothing latched. */
  void beginStatement() {
    overwritten.discard(); // from a failed write
    if (isHalfDone) {
      written.giveUp(); // a row was written, and an exception came before it was added
    }
    if (!isRestoring) {
      storage.versions().awaitRoom();
      overwritten.makeRoom();
    }
  }

  /** Prepares the write of a row that has no version of the transaction itself. */
  void prepareFirst(Tree tree, byte[] key) {
    isFirst = true;
    written.prepare(key);
    if (!isRestoring) {
      overwritten.prepare(tree, key, 0, null);
    }
  }

  /** Whether overwritten own versions must be passed to {@link #prepareOwn}. */
  boolean keepsOwn() {
    return overwritten.keeps() && !isRestoring;
  }

  /** Prepares the write of a row whose current version belongs to the transaction. */
  void prepareOwn() {
    isFirst = false;
  }

  /** Receives that version, if {@link #keepsOwn}. */
  void prepareOwn(Tree tree, byte[] key, int flags, byte[] value) {
    isFirst = false;
    overwritten.prepare(tree, key, flags, value);
  }

  /** Called before the write: from now on the row may be on its page. */
  void writeBegins() {
    isHalfDone = true;
  }

  /** Called if the write was not made. */
  void writeIsOff() {
    isHalfDone = false;
  }

  /** Called when the row is on its page. */
  void writeIsDone(Tree tree, byte[] key) {
    if (isFirst) {
      written.add(tree, key);
    }
    overwritten.add();
    isHalfDone = false;
  }

  /** Receives rows. */
  @FunctionalInterface
  public interface RowVisitor {
    /**
     * Receives a row that was written.
     *
     * @param tree id of its tree
     */
    void row(int tree, byte[] key);
  }

  /**
   * Visits all rows that the transaction has written.
   *
   * @return false if there are too many to know all of them; then none was visited
   */
  public boolean forEachWritten(RowVisitor visitor) {
    if (!written.isComplete() || isHalfDone) {
      return false;
    }
    for (int row = 0; row < written.count(); row++) {
      visitor.row(written.tree(row).table(), written.key(row));
    }
    return true;
  }

  /**
   * Puts all rows back that the transaction has written, if they are few and there is credit at
   * once.
   *
   * @return false if some may be left
   */
  public boolean putBack(long id) {
    if (!written.isComplete() || isHalfDone) {
      return false;
    }
    for (int row = written.count() - 1; row >= 0; row--) {
      if (!storage.space().tryAcquire(RowRevert.CREDIT, RowRevert.PAGES)) {
        return false;
      }
      try {
        revert.row(written.tree(row), written.key(row), id, overwritten.hasKept());
      } finally {
        storage.space().release(RowRevert.CREDIT, RowRevert.PAGES);
      }
    }
    return true;
  }

  /**
   * Sets a savepoint at the present state.
   *
   * @return the argument for {@link RowWriter#goBackTo}
   */
  public int savepoint() {
    return overwritten.mark();
  }

  /** Called when the transaction has no savepoint any more. */
  public void noSavepoint() {
    overwritten.clear();
  }

  /** Restores rows. */
  @FunctionalInterface
  interface Restorer {
    /** Writes a version that the transaction itself had overwritten. */
    void restore(Overwritten.Version version, byte[] value);
  }

  /**
   * Restores the versions that all rows had at a savepoint, the last one first. After an exception
   * some rows have them, and the others must still be restored.
   */
  void goBackTo(int savepoint, long id, Restorer restorer) {
    if (isHalfDone) {
      throw new IllegalStateException(
          "a statement of the transaction failed after its log record: it may have changed a row that is missing from the history");
    }
    for (Overwritten.@Nullable Version version = overwritten.last(savepoint);
        version != null;
        version = overwritten.last(savepoint)) {
      byte[] value = version.value();
      if (value == null) {
        storage.space().acquire(RowRevert.CREDIT, RowRevert.PAGES);
        try {
          revert.row(version.tree(), version.key(), id, /* mayBeGone= */ false);
        } finally {
          storage.space().release(RowRevert.CREDIT, RowRevert.PAGES);
        }
      } else {
        isRestoring = true;
        try {
          restorer.restore(version, value);
        } finally {
          isRestoring = false;
        }
      }
      overwritten.removeLast();
    }
  }
}
