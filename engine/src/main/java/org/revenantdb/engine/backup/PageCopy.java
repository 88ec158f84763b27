package org.revenantdb.engine.backup;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.WrittenExtents;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.StorageFile;

/**
 * Copies the pages of a data file that is written meanwhile, all or those that have changed. Each
 * page of the copy is a whole page as the file had it, and not older than the version that is known
 * to be written.
 *
 * <p>Threads: that of the backup. Latches: one page at a time, if it was not good at first; a space
 * map, alone.
 */
final class PageCopy implements AutoCloseable {
  /** So many pages are read and written at once. */
  static final int AT_ONCE = 128;

  private static final MemorySegment ZEROS = MemorySegment.ofArray(new byte[Page.SIZE]);

  /** A limit for a copy of all pages. */
  static final long ALL = -1;

  private final BufferPool pool;
  private final StorageFile from;
  private final To to;
  private final long limit;

  /** Pages from here on are copied, whatever their LSN: the base has not got them. */
  private final long known;

  private final WrittenExtents extents;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment pages = arena.allocate((long) AT_ONCE * Page.SIZE, 4096);

  /** Pages that have changed, and were not handed over; null if all are copied. */
  private final @Nullable MemorySegment changed;

  private final int[] changedIds = new int[AT_ONCE];
  private int changedCount;

  /** All pages from {@link #known} to here were gathered. */
  private long nextNew;

  /** Behind file header and control slots. */
  private int next = SpaceMapPage.POSITION;

  /** So many were read, and are not written. */
  private int whole;

  private long pagesRead;
  private long pagesCopied;

  /** Receives pages. */
  interface To {
    /** Takes pages with successive numbers. The memory is used again afterwards. */
    void pages(int first, MemorySegment pages);

    /**
     * Takes pages of an increment. The memory is used again afterwards.
     *
     * @param ids their numbers, which ascend, also from call to call
     * @param count how many of the numbers count
     */
    void changed(int[] ids, int count, MemorySegment pages);
  }

  /**
   * Copies nothing yet.
   *
   * @param limit pages with a higher LSN are copied; or {@link #ALL}
   * @param known pages from here on are copied whatever their LSN
   */
  PageCopy(BufferPool pool, StorageFile from, To to, long limit, long known) {
    this.pool = pool;
    this.from = from;
    this.to = to;
    this.limit = limit;
    this.known = known;
    nextNew = known;
    extents = pool.writtenExtents();
    changed = limit == ALL ? null : arena.allocate((long) AT_ONCE * Page.SIZE, 4096);
  }

  /** The first page that was not looked at. */
  int next() {
    return next;
  }

  /** How many pages were read. */
  long pagesRead() {
    return pagesRead;
  }

  /** How many pages were handed over, or will be. */
  long pagesCopied() {
    return pagesCopied;
  }

  /** Reads the next pages; false if there is none. */
  boolean readNext() {
    int size = pool.sizeInPages();
    skipUnchanged(size);
    int wanted = Math.min(pieceEnd(), size) - next;
    if (wanted <= 0) {
      return false;
    }
    extents.makeRoom(next + wanted); // before they are read
    MemorySegment piece = pages.asSlice(0, (long) wanted * Page.SIZE);
    whole = from.readUpTo((long) next * Page.SIZE, piece) / Page.SIZE;
    pagesRead += whole;
    return whole > 0; // else it was cut: what was there was free, and what comes there is formatted
  }

  private void skipUnchanged(int size) {
    while (next < size && isUnchanged(next)) {
      next = nextExtent(next);
    }
  }

  /** Whether the base has the pages of an extent from one on as they are. */
  private boolean isUnchanged(int page) {
    return limit != ALL && nextExtent(page) <= known && extents.isAtMost(page, limit);
  }

  private static int nextExtent(int page) {
    return page / WrittenExtents.PAGES * WrittenExtents.PAGES + WrittenExtents.PAGES;
  }

  /** Pieces end where extents do, and before one that has not changed. */
  private int pieceEnd() {
    int most = next / AT_ONCE * AT_ONCE + AT_ONCE;
    if (limit == ALL) {
      return most;
    }
    int end = nextExtent(next);
    while (end < most && !isUnchanged(end)) {
      end = nextExtent(end);
    }
    return end;
  }

  /** Judges and writes the pages that were read. */
  void writeRead() {
    for (int i = 0; i < whole; i++) {
      judge(next + i, page(i));
    }
    learn();
    if (limit == ALL) {
      to.pages(next, pages.asSlice(0, (long) whole * Page.SIZE));
      pagesCopied += whole;
    } else {
      for (int i = 0; i < whole; i++) {
        choose(next + i, page(i));
      }
    }
    next += whole;
  }

  /** Zeros are gathered only before others: the file may have been prepared far ahead. */
  private void choose(int pageId, MemorySegment page) {
    if (pageId < known) {
      if (Page.lsn(page) > limit) {
        gather(pageId, page);
      }
    } else if (page.mismatch(ZEROS) >= 0) {
      zerosUpTo(pageId);
      gather(pageId, page);
      nextNew = pageId + 1L;
    }
  }

  private void zerosUpTo(long end) {
    for (; nextNew < end; nextNew++) {
      gather((int) nextNew, ZEROS);
    }
  }

  /**
   * Hands over what is left.
   *
   * @param size how many pages the data file of the copy has
   */
  void finish(long size) {
    if (limit != ALL) {
      zerosUpTo(size - StreamLayout.MOST_ZEROS);
    }
    handOver();
  }

  private void handOver() {
    if (changedCount > 0 && changed != null) {
      to.changed(changedIds, changedCount, changed.asSlice(0, (long) changedCount * Page.SIZE));
      changedCount = 0;
    }
  }

  private MemorySegment page(int index) {
    return pages.asSlice((long) index * Page.SIZE, Page.SIZE);
  }

  private void gather(int pageId, MemorySegment page) {
    if (changedCount == AT_ONCE) {
      handOver();
    }
    if (changed != null) {
      MemorySegment.copy(page, 0, changed, (long) changedCount * Page.SIZE, Page.SIZE);
    }
    changedIds[changedCount++] = pageId;
    pagesCopied++;
  }

  /** The extents of which all pages were read. */
  private void learn() {
    int first = next == SpaceMapPage.POSITION ? 0 : next; // nothing else writes the pages before
    long highest = 0;
    for (int i = 0; i < whole; i++) {
      highest = Math.max(highest, Page.lsn(page(i)));
      int behind = next + i + 1;
      if (behind % WrittenExtents.PAGES == 0) {
        if (behind - WrittenExtents.PAGES >= first) {
          extents.read(next + i, highest);
        }
        highest = 0;
      }
    }
  }

  private void judge(int pageId, MemorySegment page) {
    if (pool.problemInCopy(pageId, page) != null) {
      readAgain(pageId, page);
    }
  }

  /** It may have been read while it was written. */
  private void readAgain(int pageId, MemorySegment page) {
    BufferPool.@Nullable BadInFile bad = problemWhenWritten(pageId, page);
    if (bad != null && !isFree(pageId)) {
      // It may have been a free page, which may be torn, that was allocated between the two looks.
      bad = problemWhenWritten(pageId, page);
      if (bad != null && !isFree(pageId)) {
        throw bad.why();
      }
    }
    if (bad != null) {
      page.fill((byte) 0); // the record that allocates it formats it, behind the redo point
    }
  }

  private BufferPool.@Nullable BadInFile problemWhenWritten(int pageId, MemorySegment page) {
    BufferPool.@Nullable BadInFile bad = pool.problemInFile(pageId, page);
    if (bad != null && bad.isDirty()) {
      pool.flushDirtyBefore(Long.MAX_VALUE);
      bad = pool.problemInFile(pageId, page);
    }
    return bad;
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
