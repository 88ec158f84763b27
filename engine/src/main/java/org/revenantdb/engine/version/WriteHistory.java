package org.revenantdb.engine.version;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;

/**
 * What a transaction remembers of the rows that it has written, to give them back their former
 * versions: all at a rollback, if they are few ({@code docs/protocols.md} §27), or those since a
 * savepoint (§28). One thread at a time; used again by the next transaction.
 *
 * <p>A write of a row is prepared, begun, and done. What fails before it is begun has changed
 * nothing. If it fails after that, the row may be on its page and is not remembered: then only the
 * cleaner can take back what the transaction has written (R18).
 */
public final class WriteHistory {
  /**
   * What a transaction has overwritten may take this part of the memory for older versions, and at
   * least so many bytes.
   */
  private static final int OVERWRITTEN_SHARE = 16;

  private static final long LEAST_OVERWRITTEN = 64 * 1024;

  private final Storage storage;
  private final RowRevert revert;
  private final WrittenRows written = new WrittenRows();
  private final Overwritten overwritten;

  /** Whether a write was begun, and is not done. */
  private boolean isHalfDone;

  /** Whether what is written was overwritten before, and is restored. */
  private boolean isRestoring;

  /** Whether the row that is being written had no version of the transaction's own. */
  private boolean isFirst;

  /** Nothing is remembered. */
  WriteHistory(Storage storage, RowRevert revert) {
    this.storage = storage;
    this.revert = revert;
    this.overwritten =
        new Overwritten(
            storage.spill(),
            Math.max(LEAST_OVERWRITTEN, storage.versions().budget() / OVERWRITTEN_SHARE));
  }

  /** Up to so many rows can be {@linkplain #putBack put back}. */
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

  /** From now on others write rows of the transaction, too: not all of them can be put back. */
  void giveUp() {
    written.giveUp();
  }

  /** A statement begins; with nothing latched. */
  void beginStatement() {
    overwritten.discard(); // of a write that came to nothing
    if (isHalfDone) {
      written.giveUp(); // one was written, and threw before it was remembered
    }
    if (!isRestoring) {
      storage.versions().awaitRoom();
      overwritten.makeRoom();
    }
  }

  /** A row is to be written that has no version of the transaction's own. */
  void prepareFirst(Tree tree, byte[] key) {
    isFirst = true;
    written.prepare(key);
    if (!isRestoring) {
      overwritten.prepare(tree, key, 0, null);
    }
  }

  /** Whether own versions that are overwritten have to be shown to {@link #prepareOwn}. */
  boolean keepsOwn() {
    return overwritten.keeps() && !isRestoring;
  }

  /** A row is to be written whose current version is the transaction's own. */
  void prepareOwn() {
    isFirst = false;
  }

  /** That version, if {@link #keepsOwn}. */
  void prepareOwn(Tree tree, byte[] key, int flags, byte[] value) {
    isFirst = false;
    overwritten.prepare(tree, key, flags, value);
  }

  /** From now on the row may be on its page. */
  void writeBegins() {
    isHalfDone = true;
  }

  /** It is not: the write was not made. */
  void writeIsOff() {
    isHalfDone = false;
  }

  /** The row is on its page. */
  void writeIsDone(Tree tree, byte[] key) {
    if (isFirst) {
      written.add(tree, key);
    }
    overwritten.add();
    isHalfDone = false;
  }

  /** Is shown a row. */
  @FunctionalInterface
  public interface RowVisitor {
    /**
     * A row that was written.
     *
     * @param tree id of its tree
     */
    void row(int tree, byte[] key);
  }

  /**
   * Shows all rows that the transaction has written.
   *
   * @return false if they are too many to be known: none was shown
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
   * The transaction may go back to what is now.
   *
   * @return what {@link RowWriter#goBackTo} is to be given
   */
  public int savepoint() {
    return overwritten.mark();
  }

  /** The transaction has no savepoint any more. */
  public void noSavepoint() {
    overwritten.clear();
  }

  /** Writes a row as it was. */
  @FunctionalInterface
  interface Restorer {
    /** Writes a version that the transaction itself had overwritten. */
    void restore(Overwritten.Version version, byte[] value);
  }

  /**
   * Gives all rows back the versions that they had at a savepoint, the last one first. When it
   * throws, some have them and the rest is still to be done.
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
