package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;

/**
 * What pages may lack since a crash: a page is redone when it is brought into memory.
 *
 * <p>Source: {@code docs/protocols.md §44}; "Instant recovery with write-ahead logging" (Graefe,
 * Guy, Sauer 2016).
 *
 * <p>Threads: any, several at once; those of one page one at a time, which has the page latched
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

  /** Whether the log can build a page that is pending, so that the file is not read. */
  boolean beginsWithFormat(int pageId);

  /** The LSN that a page which is pending has when nothing is missing. */
  long lastLsn(int pageId);

  /** Whether {@link #redo} needs a thread of the engine for each page. */
  boolean readsFiles();

  /**
   * Applies what a page lacks.
   *
   * @param page its 8192 bytes, which nobody else sees yet
   * @return false if that needs files, and this is not a thread of the engine: then the page has
   *     got a part of what it lacks, must be read again, and redone by such a thread
   * @throws org.revenantdb.recovery.file.CorruptDataException of the data file, if the page cannot
   *     take what the log has for it; of a log file, if that cannot be read
   */
  boolean redo(int pageId, MemorySegment page);

  /**
   * Since when a page that is pending counts as dirty once it is redone: since the first change
   * that it may lack.
   *
   * @return 0 if nothing is written: then a page is redone each time it is brought in
   */
  long dirtySince(int pageId);

  /** A page is dirty, noted as refused, or formatted: it is not pending any more. */
  void done(int pageId);
}
