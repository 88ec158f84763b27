package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.PageCondition;
import org.revenantdb.engine.buffer.WriteAhead;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.restart.RedoTarget;

/**
 * Redoes parts of records on the pages of a pool: one page latched at a time.
 *
 * <p>Threads: each instance is used by one; others redo other pages of the same pool meanwhile.
 *
 * <p>Failure: {@link CorruptDataException} for a page that cannot be what the log changed, and for
 * an operation that does not fit it or leaves what is no legal page.
 */
final class PageRedo implements RedoTarget {
  private final PageOps operations = new PageOps();
  private final BufferPool pool;
  private final WriteAhead log;
  private final long redoPoint;

  /**
   * A target for one thread.
   *
   * @param redoPoint since when every page visited is dirty (R6)
   */
  PageRedo(BufferPool pool, WriteAhead log, long redoPoint) {
    this.pool = pool;
    this.log = log;
    this.redoPoint = redoPoint;
  }

  @Override
  public void redo(int pageId, long lsn, PartKind kind, byte[] record, int offset, int length) {
    int frame = kind == PartKind.FORMAT ? pool.fixNew(pageId) : pool.fixForRedo(pageId);
    try {
      if (kind != PartKind.FORMAT && pool.condition(frame) != PageCondition.GOOD) {
        throw pool.damage(
            pageId,
            "page "
                + Integer.toUnsignedString(pageId)
                + " is "
                + pool.condition(frame)
                + " and the log at LSN "
                + lsn
                + " has only a change to it");
      }
      // Dirty whether it is changed or not: what is in the cache may not be on the medium (R6).
      pool.markDirty(frame, redoPoint);
      MemorySegment page = pool.page(frame);
      if (kind == PartKind.FORMAT || Page.lsn(page) < lsn) {
        apply(pageId, lsn, page, record, offset, length);
        Page.setLsn(page, lsn);
      }
    } finally {
      pool.unfixExclusive(frame);
    }
  }

  private void apply(
      int pageId, long lsn, MemorySegment page, byte[] record, int offset, int length) {
    try {
      operations.apply(page, record, offset, length);
      String problem = PageStructure.problemOf(pageId, page);
      if (problem != null) { // a record with a good checksum need not be one of ours either
        throw new IllegalStateException("after it " + problem);
      }
    } catch (RuntimeException misfit) {
      throw stopped(misfit(pageId, lsn, page, misfit));
    } catch (Error failure) {
      throw stopped(failure);
    }
  }

  /**
   * Before the latch is given up: a page that is half redone must not get out (R18). The log is
   * told what the caller throws, so that whoever fails because of that names it as the cause.
   */
  private <T extends Throwable> T stopped(T failure) {
    log.fail(failure);
    return failure;
  }

  private RuntimeException misfit(
      int pageId, long lsn, MemorySegment page, RuntimeException misfit) {
    try {
      return pool.damage(
          pageId,
          "page "
              + Integer.toUnsignedString(pageId)
              + " cannot take the change that the log has for it at LSN "
              + lsn
              + "; its own LSN is "
              + Page.lsn(page)
              + " ("
              + misfit.getMessage()
              + ")",
          misfit);
    } catch (Throwable noWords) {
      throw stopped(misfit);
    }
  }
}
