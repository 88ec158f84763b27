package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;

/**
 * What pages may lack since a crash. A page is redone when it is brought into memory.
 *
 * <p>Source: {@code docs/protocols.md §44}; "Instant recovery with write-ahead logging" (Graefe,
 * Guy, Sauer 2016).
 *
 * <p>Threads: any, several at once; for each page one at a time, which has the page latched
 * exclusively.
 */
public interface PendingRedo {
  /** No page lacks anything. */
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

  /** Whether a page may lack something. */
  boolean isPending(int pageId);

  /** Whether the log can build a pending page without the file. */
  boolean beginsWithFormat(int pageId);

  /** The LSN of a pending page when nothing is missing. */
  long lastLsn(int pageId);

  /** Whether {@link #redo} needs a thread of the engine for each page. */
  boolean readsFiles();

  /**
   * Applies what a page lacks.
   *
   * @param page its 8192 bytes, which no other thread sees yet
   * @return false if that needs files, and the current thread is not the engine's: then the page
   *     has a part of what it lacks, must be read again, and redone by such a thread
   * @throws org.revenantdb.recovery.file.CorruptDataException with the data file, if the page
   *     cannot take the changes in the log; with a log file, if that cannot be read
   */
  boolean redo(int pageId, MemorySegment page);

  /**
   * Returns since when a pending page counts as dirty once it is redone: since the first change
   * that it may lack.
   *
   * @return 0 if nothing is written; then a page is redone each time it is brought in
   */
  long dirtySince(int pageId);

  /** Notes that a page is dirty, noted as refused, or formatted: it is no longer pending. */
  void done(int pageId);
}
