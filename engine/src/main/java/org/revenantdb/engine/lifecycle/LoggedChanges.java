package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.PendingRedo;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.PageStructure;
import org.revenantdb.engine.session.Spares;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.restart.PendingParts;
import org.revenantdb.recovery.restart.RedoTarget;

/**
 * The changes in the log for pages that may lack them, applied when a page is brought into memory.
 *
 * <p>Threads: any, several at once; each page by one at a time.
 */
final class LoggedChanges implements PendingRedo {
  private final PendingParts parts;
  private final Path dataFile;
  private final boolean readOnly;
  private final Spares<PageOps> operations = new Spares<>();

  /**
   * Creates the changes that a restart has found.
   *
   * @param dataFile for messages
   * @param readOnly whether nothing is written
   */
  LoggedChanges(PendingParts parts, Path dataFile, boolean readOnly) {
    this.parts = parts;
    this.dataFile = dataFile;
    this.readOnly = readOnly;
  }

  @Override
  public boolean isPending(int pageId) {
    return parts.isPending(pageId);
  }

  @Override
  public boolean beginsWithFormat(int pageId) {
    return parts.beginsWithFormat(pageId);
  }

  @Override
  public long lastLsn(int pageId) {
    return parts.lastLsn(pageId);
  }

  @Override
  public long dirtySince(int pageId) {
    return readOnly ? 0 : parts.firstLsn(pageId);
  }

  @Override
  public void done(int pageId) {
    parts.done(pageId);
  }

  @Override
  public boolean readsFiles() {
    return !parts.isMapped();
  }

  @Override
  public boolean redo(int pageId, MemorySegment page) {
    PageOps taken = operations.take();
    PageOps used = taken == null ? new PageOps() : taken;
    boolean complete = parts.replay(pageId, FileThread.isCurrent(), target(used, pageId, page));
    operations.giveBack(used); // not if it has failed: that is rare
    if (complete) {
      refuseIllegal(pageId, page);
    }
    return complete;
  }

  /** Refuses a page that a foreign record with a correct checksum made illegal. */
  void refuseIllegal(int pageId, MemorySegment page) {
    String problem = PageStructure.problemOf(pageId, page);
    if (problem != null) {
      throw misfit(pageId, Page.lsn(page), page, "after it " + problem, null);
    }
  }

  /** Applies parts to a page. */
  RedoTarget target(PageOps used, int pageId, MemorySegment page) {
    return (_, lsn, kind, record, offset, length) -> {
      if (kind == PartKind.FORMAT || Page.lsn(page) < lsn) {
        apply(used, pageId, lsn, page, record, offset, length);
        Page.setLsn(page, lsn);
      }
    };
  }

  /** A page that is half redone is never visible (R18): its frame is released. */
  private void apply(
      PageOps used,
      int pageId,
      long lsn,
      MemorySegment page,
      byte[] record,
      int offset,
      int length) {
    try {
      used.apply(page, record, offset, length);
    } catch (RuntimeException misfit) {
      throw misfit(pageId, lsn, page, misfit.getMessage(), misfit);
    }
  }

  private DamagedFileException misfit(
      int pageId,
      long lsn,
      MemorySegment page,
      @Nullable String why,
      @Nullable RuntimeException cause) {
    return new DamagedFileException(
        dataFile,
        PageHeaderLayout.position(pageId),
        "page "
            + Integer.toUnsignedString(pageId)
            + " cannot take the change that the log has for it at LSN "
            + lsn
            + "; its own LSN is "
            + Page.lsn(page)
            + " ("
            + why
            + ")",
        cause);
  }
}
