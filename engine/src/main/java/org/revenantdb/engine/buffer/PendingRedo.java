package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;

/**
 * The changes that pages may lack since a crash. A page is redone when it is brought into memory.
 *
 * <p>Source: {@code docs/protocols.md §44}; "Instant recovery with write-ahead logging" (Graefe,
 * Guy, Sauer 2016).
 *
 * <p>Threads: any number at the same time, but for each page only the thread that has it latched
 * exclusively.
 */
public interface PendingRedo {
  /** No page lacks a change. */
  PendingRedo NONE =
      new PendingRedo() {
        @Override
        public boolean isPending(int pageId) {
          return false;
        }

        @Override
        public boolean beginsWithFormat(int pageId) {
          return false;
        }

        @Override
        public long lastLsn(int pageId) {
          return 0;
        }

        @Override
        public boolean readsFiles() {
          return false;
        }

        @Override
        public boolean redo(int pageId, MemorySegment page) {
          return true;
        }

        @Override
        public long dirtySince(int pageId) {
          return 0;
        }

        @Override
        public void done(int pageId) {}
      };

  /** Whether a page may lack a change. */
  boolean isPending(int pageId);

  /** Whether the log can build a pending page without the file. */
  boolean beginsWithFormat(int pageId);

  /** The LSN of a pending page after its redo. */
  long lastLsn(int pageId);

  /** Whether {@link #redo} needs a thread of the engine for each page. */
  boolean readsFiles();

  /**
   * Applies the changes that a page lacks.
   *
   * @param page its 8192 bytes, which no other thread sees yet
   * @return false if that needs files, and the current thread is not one of the engine's: then the
   *     page has only a part of the changes, and such a thread must read and redo it again
   * @throws org.revenantdb.recovery.file.DamagedFileException with the data file, if the page
   *     cannot take the changes in the log; with a log file, if that cannot be read
   */
  boolean redo(int pageId, MemorySegment page);

  /**
   * Returns the LSN since which a pending page counts as dirty after its redo: that of the first
   * change that it may lack.
   *
   * @return 0 if the database writes nothing; then a page is redone each time it is brought in
   */
  long dirtySince(int pageId);

  /** Notes that a page is dirty, noted as refused, or formatted: it is no longer pending. */
  void done(int pageId);
}
