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
  private final StorageFile to;
  private final Runnable read;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment pages = arena.allocate((long) AT_ONCE * Page.SIZE, 4096);

  /** Behind file header and control slots. */
  private int next = SpaceMapPage.POSITION;

  /**
   * Copies nothing yet.
   *
   * @param read is called when a piece was read, and not judged
   */
  PageCopy(BufferPool pool, StorageFile from, StorageFile to, Runnable read) {
    this.pool = pool;
    this.from = from;
    this.to = to;
    this.read = read;
  }

  /** The first page that was not copied. */
  int next() {
    return next;
  }

  /** Copies the next pages; false if there is none. */
  boolean copyNext() {
    int wanted = Math.min(AT_ONCE, pool.sizeInPages() - next);
    if (wanted <= 0) {
      return false;
    }
    MemorySegment piece = pages.asSlice(0, (long) wanted * Page.SIZE);
    int whole = from.readUpTo((long) next * Page.SIZE, piece) / Page.SIZE;
    if (whole == 0) {
      return false; // it was cut: what was there was free, and what comes there is formatted
    }
    read.run();
    for (int i = 0; i < whole; i++) {
      judge(next + i, piece.asSlice((long) i * Page.SIZE, Page.SIZE));
    }
    to.write((long) next * Page.SIZE, piece.asSlice(0, (long) whole * Page.SIZE));
    next += whole;
    return true;
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
