package org.revenantdb.engine.backup;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.StorageFile;

/**
 * Copies the pages of a data file that is written meanwhile. Each page of the copy is a whole page
 * as the file had it, and not older than the version that is known to be written.
 *
 * <p>Threads: that of the backup. Latches: one page at a time, if it was not good at first; a space
 * map, alone.
 */
final class PageCopy implements AutoCloseable {
  /** So many pages are read and written at once. */
  static final int AT_ONCE = 128;

  private final BufferPool pool;
  private final StorageFile from;
  private final To to;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment pages = arena.allocate((long) AT_ONCE * Page.SIZE, 4096);

  /** Behind file header and control slots. */
  private int next = SpaceMapPage.POSITION;

  /** So many were read, and are not written. */
  private int whole;

  /** Receives pages. */
  @FunctionalInterface
  interface To {
    /** Takes pages with successive numbers. The memory is used again afterwards. */
    void pages(int first, MemorySegment pages);
  }

  /** Copies nothing yet. */
  PageCopy(BufferPool pool, StorageFile from, To to) {
    this.pool = pool;
    this.from = from;
    this.to = to;
  }

  /** The first page that was not copied. */
  int next() {
    return next;
  }

  /** Reads the next pages; false if there is none. */
  boolean readNext() {
    int wanted = Math.min(AT_ONCE, pool.sizeInPages() - next);
    if (wanted <= 0) {
      return false;
    }
    MemorySegment piece = pages.asSlice(0, (long) wanted * Page.SIZE);
    whole = from.readUpTo((long) next * Page.SIZE, piece) / Page.SIZE;
    return whole > 0; // else it was cut: what was there was free, and what comes there is formatted
  }

  /** Judges and writes the pages that were read. */
  void writeRead() {
    for (int i = 0; i < whole; i++) {
      judge(next + i, pages.asSlice((long) i * Page.SIZE, Page.SIZE));
    }
    to.pages(next, pages.asSlice(0, (long) whole * Page.SIZE));
    next += whole;
  }

  private void judge(int pageId, MemorySegment page) {
    if (pool.problemInCopy(pageId, page) != null) {
      readAgain(pageId, page);
    }
  }

  /** It may have been read while it was written. */
  private void readAgain(int pageId, MemorySegment page) {
    BufferPool.@Nullable BadInFile bad = pool.problemInFile(pageId, page);
    if (bad != null && bad.isDirty()) {
      pool.flushDirtyBefore(Long.MAX_VALUE);
      bad = pool.problemInFile(pageId, page);
    }
    if (bad == null) {
      return;
    }
    if (!isFree(pageId)) {
      throw bad.why();
    }
    page.fill((byte) 0); // the record that allocates it formats it, behind the redo point
  }

  private boolean isFree(int pageId) {
    if (pageId >= pool.sizeInPages()) {
      return true; // it was cut
    }
    int frame;
    try {
      frame = pool.fixShared(SpaceMapPage.mapOf(pageId));
    } catch (FileException unknown) {
      return false;
    }
    try {
      return (SpaceMapPage.bits(pool.page(frame), pageId) & SpaceMapPage.ALLOCATED) == 0;
    } finally {
      pool.unfixShared(frame);
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
