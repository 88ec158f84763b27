package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.HybridLatch;
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * The pages of one database that are in memory: a fixed number of off-heap frames, and the right to
 * read or change what is in them.
 *
 * <p>A page is <em>fixed</em>: brought into a frame if it is not in one, and latched, shared or
 * exclusively. The frame number that is returned stands for the page until it is unfixed.
 *
 * <p>Threads: any, platform or virtual. Fixing may wait for the latch, for the page to be read and
 * for a frame to become free; the caller may hold latches on other pages, in the order of {@code
 * docs/protocols.md} §4, but no space map while it waits for a frame. An interrupt ends no wait and
 * is kept for later. All file I/O is done by threads of the pool.
 *
 * <p>Failure: a page that cannot be read is a {@link CorruptDataException} or another {@link
 * StorageException} for each who asks for it; nothing is latched then, and the pool stays usable. A
 * page that cannot be written stops the engine.
 *
 * {@snippet :
 * int frame = pool.fixExclusive(pageId);
 * pool.markDirty(frame, log.tail()); // before the record is reserved
 * long lsn = log.append(record);
 * change(pool.page(frame), lsn);
 * pool.unfixExclusive(frame);
 * }
 */
public final class BufferPool implements AutoCloseable {
  /*
   * State of a frame (docs/protocols.md §3)
   *
   *   state          page id   firstLsn  flushing  latch                       in the translation
   *   free           none      0         0         any; no one needs it        no
   *   loading        p         0         0         exclusive, by the loader    yes
   *   clean          p         0         0         any                         yes
   *   dirty          p         > 0       0         any                         yes
   *   being written  p         0 or > 0  > 0       any                         yes
   *
   * Transitions
   *   free -> loading             by who claimed it: fresh latch, held; page id; entry in the translation by CAS.
   *                               If the CAS fails, somebody else brings the page: back to free.
   *   loading -> clean            by the loader, when the page has been read and found good
   *   loading, clean -> free      by the holder of the exclusive latch: the read failed; evicted; discarded
   *   clean -> dirty              markDirty, by the holder of the exclusive latch
   *   dirty -> being written      PageWriter, under the shared latch
   *   being written -> clean      PageWriter, flushing := 0, without a latch
   *
   * Invariants
   *   I1 A frame gives up its page only under its exclusive latch, clean: so what is latched stays.
   *   I2 At most one frame is in the translation for a page, so a page is read only while no image of it is
   *      dirty or being written: no read meets a write of the same page.
   *   I3 A change is in the data file, or its LSN is at or above the frame's firstLsn or flushing (PageWriter).
   *   I4 No page is written before the log is durable up to its LSN.
   *
   * A latch for each stay
   *   A frame gets a *new* latch when it is claimed. If it kept its latch, a thread that looked up page C and was
   *   slow could wait for the latch of a frame that by now holds page Q, and its wait would be in no latch order:
   *   A holds P and waits for "C", really Q; B holds Q and waits for P. So the order is
   *     claim:  page id := none ... latch := new, held ... page id := Q      (all volatile)
   *     fix:    read latch, then page id; if it is C wait for that latch; then page id and latch again, in this
   *             order; if either has changed, start over.
   *   A thread that read the new latch finds the page id none or Q, not C, and does not wait. One that read the
   *   old latch waits at most for those who use C. Page id before latch in the second check, or a frame that was
   *   claimed for C again in between would look like the old stay.
   *
   * Waiting for a frame
   *   When every frame is dirty or latched, the claimer asks the page writer and waits, perhaps with latches on
   *   other pages. The page writer waits for no latch, and the log waits for no latch, so frames become clean as
   *   long as fewer are latched than there are. If nothing moves for a long time the pool is too small for what
   *   is latched at once, and that is what the exception says.
   *
   * Races left in   The heat of a page is counted without care (Frames.warm): a use may be lost, which can cost one
   *   read. A page may be evicted right after the look-up: one more turn.
   */

  /** The size of a page and of a frame. */
  public static final int PAGE_SIZE = PageHeaderLayout.PAGE_SIZE;

  private static final long SHORTEST_WAIT = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long LONGEST_WAIT = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long HOPELESS = TimeUnit.SECONDS.toNanos(60);

  private final StorageFile data;
  private final PageReadCheck check;
  private final Steps steps;
  private final Frames frames;
  private final Translation translation = new Translation();
  private final FreeFrames free = new FreeFrames();
  private final FrameWaiters waiters = new FrameWaiters();
  private final Clock clock;
  private final PageReaders readers;
  private final PageWriter writer;
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder pagesRead = new LongAdder();
  private final LongAdder frameWaits = new LongAdder();
  private volatile boolean closed;

  /**
   * Makes an empty pool. Memory and threads are taken when they are first needed.
   *
   * @param options size and threads
   * @param data the data file; it stays the caller's, who closes it after the pool
   * @param guard what makes torn pages repairable; null where the device writes pages whole
   * @param log the log that has to be ahead of every page written
   * @param account told which pages a restart would have to read
   * @param check what else is asked of a page that was read
   */
  public BufferPool(
      BufferPoolOptions options,
      StorageFile data,
      @Nullable BatchGuard guard,
      WriteAhead log,
      PageAccount account,
      PageReadCheck check) {
    this(
        options,
        data,
        guard == null ? BatchGuard.NONE : guard,
        log,
        account,
        check,
        Steps.NONE,
        Slabs.OF_PROCESS);
  }

  BufferPool(
      BufferPoolOptions options,
      StorageFile data,
      BatchGuard guard,
      WriteAhead log,
      PageAccount account,
      PageReadCheck check,
      Steps steps,
      Slabs slabs) {
    this.data = data;
    this.check = check;
    this.steps = steps;
    this.frames = new Frames(slabs, options.frames());
    this.clock = new Clock(frames, translation);
    this.readers = new PageReaders(data, options.readThreads(), options.name());
    this.writer =
        new PageWriter(data, guard, log, account, frames, clock, waiters, steps, options.name());
  }

  // ---- fixing

  /**
   * Fixes a page for reading.
   *
   * @param pageId the page
   * @return its frame, latched shared
   * @throws CorruptDataException if what is in the file is not this page
   */
  public int fixShared(int pageId) {
    while (true) {
      int frame = translation.frameOf(pageId);
      if (frame == Translation.NOT_RESIDENT) {
        frame = load(pageId, /* forRedo= */ false);
        if (frame != Frames.NONE) {
          frames.latchVolatile(frame).downgrade();
          return frame;
        }
        continue;
      }
      HybridLatch latch = frames.latchVolatile(frame);
      if (frames.pageIdVolatile(frame) == pageId) {
        steps.at(Steps.Step.ABOUT_TO_LATCH, frame);
        latch.acquireShared();
        if (stillHolds(frame, pageId, latch)) {
          return hit(frame);
        }
        latch.releaseShared();
      }
      checkOpen();
    }
  }

  /**
   * Fixes a page for changing it.
   *
   * @param pageId the page
   * @return its frame, latched exclusively
   * @throws CorruptDataException if what is in the file is not this page
   */
  public int fixExclusive(int pageId) {
    while (true) {
      int frame = translation.frameOf(pageId);
      frame =
          frame == Translation.NOT_RESIDENT
              ? load(pageId, /* forRedo= */ false)
              : latchExclusive(frame, pageId);
      if (frame != Frames.NONE) {
        return frame;
      }
    }
  }

  /**
   * Fixes a page for changing it if that needs no waiting for a latch.
   *
   * @param pageId the page
   * @return its frame, latched exclusively; or -1 if somebody else has it latched
   * @throws CorruptDataException if what is in the file is not this page
   */
  public int tryFixExclusive(int pageId) {
    while (true) {
      int frame = translation.frameOf(pageId);
      if (frame == Translation.NOT_RESIDENT) {
        return load(pageId, /* forRedo= */ false);
      }
      HybridLatch latch = frames.latchVolatile(frame);
      if (frames.pageIdVolatile(frame) == pageId) {
        if (!latch.tryAcquireExclusive()) {
          return Frames.NONE;
        }
        if (stillHolds(frame, pageId, latch)) {
          return hit(frame);
        }
        latch.releaseExclusive();
      }
      checkOpen();
    }
  }

  /**
   * Fixes a page whose contents do not matter, since the caller formats it: it is not read.
   *
   * <p>All its bytes are zero but the page id. A caller that cannot format it after all calls
   * {@link #discard}.
   *
   * @param pageId the page
   * @return its frame, latched exclusively
   */
  public int fixNew(int pageId) {
    while (true) {
      int frame = translation.frameOf(pageId);
      frame = frame == Translation.NOT_RESIDENT ? enter(pageId) : latchExclusive(frame, pageId);
      if (frame != Frames.NONE) {
        clear(frame, pageId);
        return frame;
      }
    }
  }

  /**
   * Fixes a page for redo, which decides itself what a page that is not good means: {@link
   * #condition} says what was found. If that is not {@link PageCondition#GOOD}, the frame is like
   * that of {@link #fixNew}: the caller formats it or calls {@link #discard}.
   *
   * @param pageId the page
   * @return its frame, latched exclusively
   */
  public int fixForRedo(int pageId) {
    while (true) {
      int frame = translation.frameOf(pageId);
      frame =
          frame == Translation.NOT_RESIDENT
              ? load(pageId, /* forRedo= */ true)
              : latchExclusive(frame, pageId);
      if (frame != Frames.NONE) {
        return frame;
      }
    }
  }

  /**
   * What was found in the file when the page in a frame was read; {@link PageCondition#GOOD} if it
   * was not read but is new, or was formatted and marked dirty since.
   *
   * @param frame a frame from {@link #fixForRedo}, still latched
   * @return what was found
   */
  public PageCondition condition(int frame) {
    return frames.condition(frame);
  }

  /**
   * Makes the only reader of a page its writer.
   *
   * @param frame a frame, latched shared by the caller
   * @return true if it is latched exclusively now; false if it is still latched shared, as others
   *     hold it too
   */
  public boolean tryUpgrade(int frame) {
    return frames.latchVolatile(frame).tryUpgrade();
  }

  /**
   * Makes the writer of a page a reader.
   *
   * @param frame a frame, latched exclusively by the caller
   */
  public void downgrade(int frame) {
    frames.latchVolatile(frame).downgrade();
  }

  /**
   * Ends reading.
   *
   * @param frame a frame, latched shared by the caller
   */
  public void unfixShared(int frame) {
    frames.latchVolatile(frame).releaseShared();
  }

  /**
   * Ends changing.
   *
   * @param frame a frame, latched exclusively by the caller
   */
  public void unfixExclusive(int frame) {
    frames.latchVolatile(frame).releaseExclusive();
  }

  private int latchExclusive(int frame, int pageId) {
    HybridLatch latch = frames.latchVolatile(frame);
    if (frames.pageIdVolatile(frame) == pageId) {
      steps.at(Steps.Step.ABOUT_TO_LATCH, frame);
      latch.acquireExclusive();
      if (stillHolds(frame, pageId, latch)) {
        return hit(frame);
      }
      latch.releaseExclusive();
    }
    checkOpen();
    return Frames.NONE;
  }

  /**
   * With that latch held: whether it guards that page in that frame. The order matters, see above.
   */
  private boolean stillHolds(int frame, int pageId, HybridLatch latch) {
    return frames.pageIdVolatile(frame) == pageId && frames.latchVolatile(frame) == latch;
  }

  private int hit(int frame) {
    frames.warm(frame);
    hits.increment();
    return frame;
  }

  // ---- bringing pages in

  /**
   * Reads a page into a frame and leaves it latched exclusively; NONE if somebody else was faster.
   */
  private int load(int pageId, boolean forRedo) {
    if (!forRedo && (pageId < 0 || pageId >= writer.pagesInFile())) {
      checkOpen();
      throw damage(
          pageId,
          "page "
              + Integer.toUnsignedString(pageId)
              + " lies beyond the end of the file, which has "
              + writer.pagesInFile()
              + " pages");
    }
    int frame = enter(pageId);
    if (frame == Frames.NONE) {
      return Frames.NONE;
    }
    try {
      read(frame, pageId, forRedo);
      return frame;
    } catch (Throwable failure) {
      leave(frame, pageId);
      throw failure;
    }
  }

  private void read(int frame, int pageId, boolean forRedo) {
    misses.increment();
    MemorySegment page = frames.memory(frame);
    int bytes = readers.read(offset(pageId), page);
    pagesRead.increment();
    PageCondition condition = conditionOf(page, bytes);
    String problem = problemOf(condition, page, pageId);
    if (problem == null) {
      return;
    }
    if (!forRedo) {
      throw damage(pageId, problem);
    }
    clear(frame, pageId);
    frames.setCondition(frame, condition == PageCondition.GOOD ? PageCondition.DAMAGED : condition);
  }

  private static PageCondition conditionOf(MemorySegment page, int bytes) {
    if (bytes < PAGE_SIZE) {
      return PageCondition.BEYOND_END;
    }
    if (PageHeaderLayout.crc(page) == PageChecksum.compute(page)) {
      return PageCondition.GOOD;
    }
    return isBlank(page) ? PageCondition.NEVER_WRITTEN : PageCondition.DAMAGED;
  }

  private static boolean isBlank(MemorySegment page) {
    for (long at = 0; at < PAGE_SIZE; at += Long.BYTES) {
      if (page.get(ValueLayout.JAVA_LONG, at) != 0) {
        return false;
      }
    }
    return true;
  }

  private @Nullable String problemOf(PageCondition condition, MemorySegment page, int pageId) {
    return switch (condition) {
      case BEYOND_END -> "page " + pageId + " lies beyond the end of the file";
      case NEVER_WRITTEN -> "page " + pageId + " was never written: its bytes are all zero";
      case DAMAGED ->
          "page %d is damaged: its checksum is %08x, but its bytes have %08x"
              .formatted(pageId, PageHeaderLayout.crc(page), PageChecksum.compute(page));
      case GOOD ->
          PageHeaderLayout.pageId(page) == pageId
              ? check.problemOf(pageId, page)
              : "page %d is damaged: the bytes at its place are those of page %s"
                  .formatted(pageId, Integer.toUnsignedString(PageHeaderLayout.pageId(page)));
    };
  }

  /**
   * What is thrown for a page that is not what it should be.
   *
   * @param pageId the page
   * @param problem in words
   * @return the exception, which names the file and the place
   */
  public CorruptDataException damage(int pageId, String problem) {
    return damage(pageId, problem, /* cause= */ null);
  }

  /**
   * What is thrown for a page that is not what it should be.
   *
   * @param pageId the page
   * @param problem in words
   * @param cause what it was noticed by
   * @return the exception, which names the file and the place
   */
  public CorruptDataException damage(int pageId, String problem, @Nullable Throwable cause) {
    return new CorruptDataException(data.path(), offset(pageId), problem, cause);
  }

  private static long offset(int pageId) {
    return PageHeaderLayout.position(pageId);
  }

  /** A frame for a page that is not resident, latched exclusively; NONE if it is by now. */
  private int enter(int pageId) {
    translation.prepare(pageId);
    int frame = claim();
    HybridLatch latch = new HybridLatch();
    latch.acquireExclusive();
    frames.setLatchVolatile(frame, latch);
    frames.setCondition(frame, PageCondition.GOOD);
    frames.setCold(frame);
    frames.setPageIdVolatile(frame, pageId);
    if (translation.install(pageId, frame)) {
      return frame;
    }
    release(frame);
    return Frames.NONE;
  }

  /** Gives a frame up that is in the translation. */
  private void leave(int frame, int pageId) {
    translation.remove(pageId);
    release(frame);
  }

  /** Gives a frame up that is not in the translation. */
  private void release(int frame) {
    HybridLatch latch = frames.latchVolatile(frame);
    frames.setPageIdVolatile(frame, Frames.NO_PAGE);
    free.add(frame);
    latch.releaseExclusive();
    waiters.signal();
  }

  private void clear(int frame, int pageId) {
    MemorySegment page = frames.memory(frame);
    page.fill((byte) 0);
    PageHeaderLayout.pageId(page, pageId);
    frames.setCondition(frame, PageCondition.GOOD);
  }

  /** A frame without a page, in nobody's reach; waits for one if need be. */
  private int claim() {
    int frame = claimAtOnce();
    return frame != Frames.NONE ? frame : claimPatiently();
  }

  private int claimAtOnce() {
    checkOpen();
    int frame = free.poll();
    if (frame == Frames.NONE) {
      frame = frames.makeFresh();
    }
    return frame != Frames.NONE ? frame : clock.evict();
  }

  private int claimPatiently() {
    frameWaits.increment();
    long begin = System.nanoTime();
    long wait = SHORTEST_WAIT;
    while (true) {
      long seen = waiters.generation();
      int frame = claimAtOnce();
      if (frame != Frames.NONE) {
        return frame;
      }
      writer.checkRunning();
      if (System.nanoTime() - begin > HOPELESS) {
        throw tooSmall();
      }
      writer.wantCleanFrames();
      waiters.await(seen, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
  }

  private PoolSizeException tooSmall() {
    return new PoolSizeException(
        "No frame became free for %d s: all %d frames of the buffer pool of %s are latched or cannot be written; open the database with a larger pool or use fewer threads at once."
            .formatted(TimeUnit.NANOSECONDS.toSeconds(HOPELESS), frames.used(), data.path()));
  }

  private void checkOpen() {
    if (closed) {
      throw new Failures.PoolClosedException();
    }
  }

  // ---- what is in a frame

  /**
   * The bytes of a fixed page.
   *
   * @param frame a frame, latched by the caller
   * @return its 8192 bytes; not to be used after the frame is unfixed
   */
  public MemorySegment page(int frame) {
    return frames.memory(frame);
  }

  /**
   * Which page a frame holds.
   *
   * @param frame a frame, latched by the caller
   * @return the page id
   */
  public int pageIdOf(int frame) {
    return frames.pageIdVolatile(frame);
  }

  /**
   * Says that a page is about to be changed. To be called before the record is reserved, with the
   * tail of the log: so a checkpoint that missed the mark had read the tail before, and the record
   * lies after it.
   *
   * @param frame a frame, latched exclusively by the caller
   * @param firstLsn an LSN at or below the start of the record; above 0
   */
  public void markDirty(int frame, long firstLsn) {
    if (firstLsn <= 0) {
      throw new IllegalArgumentException("first LSN " + firstLsn);
    }
    if (frames.firstLsnVolatile(frame) == 0) {
      frames.setCondition(frame, PageCondition.GOOD);
      frames.setFirstLsnVolatile(frame, firstLsn);
      writer.countDirty();
    }
  }

  /**
   * Forgets a page that was freed, with its changes, and unfixes it.
   *
   * <p>Only after the record that frees it is published, or redo could meet the page's old image
   * (rule R12); or if it is a page from {@link #fixNew} or {@link #fixForRedo} that was never
   * marked dirty.
   *
   * @param frame a frame, latched exclusively by the caller; not latched afterwards
   */
  public void discard(int frame) {
    if (frames.firstLsnVolatile(frame) != 0) {
      frames.setFirstLsnVolatile(frame, 0);
      writer.countDiscarded();
    }
    if (frames.flushingVolatile(frame) != 0) {
      // An image is on its way to the file. Were the page read again before it is there, that read
      // could
      // find half of it; so the frame stays and leaves by eviction, which waits for the image.
      frames.setCold(frame);
      frames.latchVolatile(frame).releaseExclusive();
      return;
    }
    leave(frame, frames.pageIdVolatile(frame));
  }

  // ---- checkpoint and file

  /**
   * Up to where the redo point may go as far as pages are concerned. The caller reads the tail of
   * the log first and takes the lower of the two.
   *
   * @return the lowest LSN at which a change may begin that is not in the data file, or {@link
   *     Long#MAX_VALUE}
   */
  public long oldestDirtyLsn() {
    return frames.oldestLsn(steps);
  }

  /**
   * Brings old changes to the data file: on return every page that was marked dirty with an LSN
   * below this is written and forced.
   *
   * @param lsn the goal
   * @throws StorageException if a page could not be written: the engine has stopped
   */
  public void flushDirtyBefore(long lsn) {
    writer.flushBefore(lsn);
  }

  /**
   * Makes the data file at least so large, with zeros that are written and forced. Rounded up
   * generously while the disk has room.
   *
   * @param pages number of pages
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no room; nothing has changed
   */
  public void extendTo(int pages) {
    writer.growTo(Integer.toUnsignedLong(pages));
  }

  /**
   * How large the data file is.
   *
   * @return number of pages that are prepared
   */
  public int sizeInPages() {
    return (int) writer.pagesInFile();
  }

  /**
   * What the pool has done.
   *
   * @return the numbers of now
   */
  public BufferStatistics statistics() {
    return new BufferStatistics(
        frames.capacity(),
        frames.used(),
        writer.dirty(),
        hits.sum(),
        misses.sum(),
        clock.evictions(),
        pagesRead.sum(),
        writer.pagesWritten(),
        writer.batches(),
        frameWaits.sum());
  }

  /**
   * Ends the pool's threads and gives its memory back. Nothing is written: who wants the changes in
   * the file calls {@link #flushDirtyBefore} first. No page may be fixed.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    waiters.signal();
    readers.close();
    writer.close();
    frames.close();
  }
}
