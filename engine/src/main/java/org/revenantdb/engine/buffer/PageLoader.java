package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.LatchDebug;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * Brings pages from the data file into frames: for callers that need one, and ahead of scans.
 *
 * <p>Owns the number of pages that are being read ahead. Readers, frames and claims belong to the
 * pool. The {@link PageJudge} decides whether the bytes are good.
 *
 * <p>Threads: any, several at once. Pages that are read ahead arrive on a thread of {@link
 * PageReaders}.
 *
 * <p>Latches: the page has a new stay. Its latch is acquired before another thread can find it, and
 * held until the page is read and found good. So a read happens under that latch, and under those
 * that the caller holds already. {@link #load} leaves it to the caller. {@link #prefetch} hands it
 * over to a reading thread, which releases it. A page that is not good ends its stay before the
 * latch is released.
 */
final class PageLoader {
  /*
   * Reading ahead
   *   The latch of a new stay is free, so a prefetching thread does not wait for it. The latch has no order with the
   *   latches that this thread holds, because the thread no longer owns it when prefetch returns. A thread that needs
   *   the page meanwhile waits for the latch, so for a reading thread. That one waits for the file only. It serves
   *   waiting callers and read-ahead in turn, so neither waits for ever. If the page is bad, the stay becomes
   *   obsolete. A thread that waited for it looks up the page again, reads it itself, and gets the failure. A page
   *   may have been freed since its id was read. Then the frame has the clean page of the file, as after any read. No
   *   link leads to it, and its next user formats it (fixNew, after the read).
   *
   * Redo on demand (docs/protocols.md §44)
   *   A page that lacks changes since a crash gets them here, before its latch is released for the first time. First
   *   the frame is marked dirty, or the page is noted as refused. Then the page is no longer pending. So if a
   *   checkpoint finds no page pending, each page is in one of these places, or written.
   */

  private final Frames frames;
  private final Translation translation;
  private final FrameClaims claims;
  private final PageJudge judge;
  private final PageReaders readers;
  private final PageWriter writer;
  private final PoolWaits waits;
  private final PoolCounters counters;
  private final Steps steps;
  private final AtomicInteger aheadNow = new AtomicInteger();

  /** What pages lack since a crash; nothing once the last of them was redone. */
  private volatile PendingRedo pending = PendingRedo.NONE;

  PageLoader(
      Frames frames,
      Translation translation,
      FrameClaims claims,
      PageJudge judge,
      PageReaders readers,
      PageWriter writer,
      PoolWaits waits,
      PoolCounters counters,
      Steps steps) {
    this.frames = frames;
    this.translation = translation;
    this.claims = claims;
    this.judge = judge;
    this.readers = readers;
    this.writer = writer;
    this.waits = waits;
    this.counters = counters;
    this.steps = steps;
  }

  /**
   * Reads a page into a frame and leaves it latched exclusively; NONE if another thread was faster.
   */
  int load(int pageId, boolean inAnyCondition, boolean forScan) {
    if (!inAnyCondition && (pageId < 0 || pageId >= writer.pagesInFile())) {
      claims.checkOpen();
      throw judge.damage(
          pageId,
          "page "
              + Integer.toUnsignedString(pageId)
              + " lies beyond the end of the file, which has "
              + writer.pagesInFile()
              + " pages");
    }
    int frame = claims.enter(pageId, forScan);
    if (frame == Frames.NONE) {
      return Frames.NONE;
    }
    try {
      boolean needsFiles = pending.readsFiles() && pending.isPending(pageId);
      if (needsFiles || !read(frame, pageId, inAnyCondition)) {
        readers.onFileThread(() -> readOnFileThread(frame, pageId, inAnyCondition));
      }
      return frame;
    } catch (Throwable failure) {
      claims.leave(frames.stayOf(frame));
      throw failure;
    }
  }

  private void readOnFileThread(int frame, int pageId, boolean inAnyCondition) {
    if (!read(frame, pageId, inAnyCondition)) {
      throw new IllegalStateException("a thread of the engine may read files");
    }
  }

  /** Returns false if the page was not redone because that needs a thread of the engine. */
  private boolean read(int frame, int pageId, boolean inAnyCondition) {
    MemorySegment page = frames.stayOf(frame).page();
    PendingRedo lacking = pending;
    if (lacking.isPending(pageId) && lacking.beginsWithFormat(pageId)) {
      return redo(frame, pageId, lacking);
    }
    PageCondition condition;
    @Nullable String problem;
    // The page is read again first, because a failed read would otherwise drop the changes that it
    // lacks.
    int more = lacking.isPending(pageId) ? 2 : 0;
    do {
      condition = PageJudge.conditionOf(page, readPatiently(pageId, page));
      problem = judge.problemOf(condition, page, pageId);
    } while (problem != null && more-- > 0);
    counters.misses[PageClasses.of(Page.type(page))].increment();
    return arrived(frame, pageId, condition, problem, inAnyCondition, /* mayRefuse= */ true);
  }

  private int readPatiently(int pageId, MemorySegment page) {
    WaitMeter meter = waits.read();
    @Nullable Object begun = meter.begin();
    try {
      return readers.read(PageHeaderLayout.position(pageId), page);
    } finally {
      meter.end(begun);
    }
  }

  /**
   * A page was read into a frame, which is latched exclusively, and judged. Returns false as {@link
   * #read} does.
   */
  private boolean arrived(
      int frame,
      int pageId,
      PageCondition condition,
      @Nullable String problem,
      boolean inAnyCondition,
      boolean mayRefuse) {
    MemorySegment page = frames.stayOf(frame).page();
    counters.pagesRead.increment();
    PendingRedo lacking = pending;
    boolean lacksSomething = lacking.isPending(pageId);
    if (lacksSomething && (problem == null || lacking.beginsWithFormat(pageId))) {
      return redo(frame, pageId, lacking);
    }
    if (problem == null) {
      if (PageClasses.leadsToOthers(Page.type(page))) {
        frames.stayOf(frame).setHot();
      }
      frames.stayOf(frame).setArrived();
      return true;
    }
    if (lacksSomething) {
      DamagedFileException damage = judge.damage(pageId, problem);
      if (mayRefuse) {
        refuse(pageId, lacking, judge.leastGood(condition, page, pageId), problem);
      }
      throw damage;
    }
    if (!inAnyCondition) {
      judge.noteRefused(condition, page, pageId);
    }
    if (!inAnyCondition || judge.isOlderThanWritten(condition, page, pageId)) {
      throw judge.damage(pageId, problem);
    }
    clear(frame, pageId);
    frames.setCondition(frame, condition == PageCondition.GOOD ? PageCondition.DAMAGED : condition);
    return true;
  }

  /**
   * Redoes the changes that a page lacks. The page was read and found good, or the log can build
   * it.
   */
  private boolean redo(int frame, int pageId, PendingRedo lacking) {
    Stay stay = frames.stayOf(frame);
    try {
      if (lacking.beginsWithFormat(pageId)) {
        blank(frame, pageId); // a peeking thread comes here, and must not see an empty page
      } else {
        judge.checkBeforeChange(stay);
      }
      if (!lacking.redo(pageId, stay.page())) {
        return false;
      }
      judge.checkBeforeChange(stay); // what the log has from its beginning was not judged yet
    } catch (DamagedFileException damage) {
      if (judge.isOfPage(damage)) {
        refuse(pageId, lacking, /* leastGood= */ 0, damage.reason());
      }
      throw damage;
    }
    long since = lacking.dirtySince(pageId);
    if (since != 0) {
      // Dirty whether it was changed or not: what is in the cache may not be on the medium (R6).
      markRedone(frame, since);
      leavePending(frame, pageId, lacking);
    }
    if (PageClasses.leadsToOthers(Page.type(stay.page()))) {
      stay.setHot();
    }
    stay.setArrived();
    return true;
  }

  /**
   * A page cannot be redone. Reads of it are refused in this life and in later ones, as it is older
   * than its logged changes. So the redo point may pass them.
   */
  private void refuse(int pageId, PendingRedo lacking, long leastGood, String why) {
    if (lacking.dirtySince(pageId) != 0
        && judge.refuseBelow(pageId, Math.max(leastGood, lacking.lastLsn(pageId)), why)) {
      lacking.done(pageId);
    }
  }

  /**
   * A page that is not pending must stay dirty in its frame: so nothing may be thrown then. An
   * error has left the number of pending pages wrong, so the engine stops (R18).
   */
  private void leavePending(int frame, int pageId, PendingRedo lacking) {
    try {
      lacking.done(pageId);
    } catch (Throwable half) {
      if (lacking.isPending(pageId)) {
        unmark(frame);
        throw half;
      }
      readers.fail(half);
    }
  }

  private void markRedone(int frame, long since) {
    frames.setFirstLsnVolatile(frame, since);
    try {
      writer.countDirty();
    } catch (Throwable noThread) {
      unmark(frame);
      throw noThread;
    }
  }

  /** The frame is freed, so it must not hold a flush back. */
  private void unmark(int frame) {
    frames.setFirstLsnVolatile(frame, 0);
    writer.countDiscarded();
  }

  /** As {@link BufferPool#redoOnDemand}. */
  void redoOnDemand(PendingRedo lacking) {
    pending = lacking;
  }

  /** A page is formatted anew: what it lacked does not matter any more (R12). */
  void isNew(int pageId) {
    PendingRedo lacking = pending;
    if (lacking.isPending(pageId)) {
      lacking.done(pageId);
    }
  }

  /** Makes a frame that of a page of zeros but for its id, instead of reading it. */
  void clear(int frame, int pageId) {
    blank(frame, pageId);
    frames.stayOf(frame).setFit(); // what is put there is built by the engine
    frames.stayOf(frame).setArrived();
  }

  private void blank(int frame, int pageId) {
    MemorySegment page = frames.stayOf(frame).page();
    page.fill((byte) 0);
    PageHeaderLayout.pageId(page, pageId);
    frames.setCondition(frame, PageCondition.GOOD);
  }

  /** As {@link BufferPool#prefetch}. */
  BufferPool.Ahead prefetch(int pageId) {
    if (translation.stayOf(pageId) != null) {
      return BufferPool.Ahead.RESIDENT;
    }
    if (claims.isRefusingAhead() || pageId < 0 || pageId >= writer.pagesInFile()) {
      return BufferPool.Ahead.REFUSED;
    }
    if (aheadNow.incrementAndGet() > maxAhead()) {
      aheadNow.decrementAndGet();
      return BufferPool.Ahead.REFUSED;
    }
    boolean begun = false;
    try {
      translation.prepare(pageId);
      int claimed = claims.claimForAhead();
      if (claimed == Frames.NONE) {
        return BufferPool.Ahead.REFUSED;
      }
      int frame = claims.enter(pageId, claimed, /* forScan= */ true);
      if (frame == Frames.NONE) {
        return BufferPool.Ahead.RESIDENT;
      }
      begun = beginAhead(frames.stayOf(frame));
      return begun ? BufferPool.Ahead.BEGUN : BufferPool.Ahead.REFUSED;
    } finally {
      if (!begun) {
        aheadNow.decrementAndGet();
      }
    }
  }

  /** As {@link BufferPool#maxAhead}. */
  int maxAhead() {
    return Math.clamp(frames.capacity() / 32, 4, 256);
  }

  /** Hands the exclusive latch of a stay over to a reading thread, or ends the stay. */
  private boolean beginAhead(Stay stay) {
    LatchDebug.handOver(stay);
    try {
      readers.readAhead(
          PageHeaderLayout.position(stay.pageId()),
          stay.page(),
          (bytes, failure) -> {
            try {
              finishAhead(stay, bytes, failure);
            } finally {
              aheadNow.decrementAndGet();
            }
          });
      return true;
    } catch (PoolClosedException | OutOfMemoryError notNow) {
      claims.leave(stay);
      return false;
    }
  }

  /** On a reading thread, which has the stay's exclusive latch. */
  private void finishAhead(Stay stay, int bytes, @Nullable Throwable failure) {
    steps.at(Steps.Step.READ_AHEAD, stay.frame());
    boolean good = false;
    try {
      if (failure == null) {
        PageCondition condition = PageJudge.conditionOf(stay.page(), bytes);
        String problem = judge.problemOf(condition, stay.page(), stay.pageId());
        good =
            arrived(
                stay.frame(),
                stay.pageId(),
                condition,
                problem,
                /* inAnyCondition= */ false,
                /* mayRefuse= */ false);
      }
    } catch (Throwable bad) {
      // A thread that needs the page finds it missing, reads it, and gets the failure. This reading
      // thread must survive.
    } finally {
      if (good) {
        counters.pagesAhead.increment();
        stay.releaseExclusive();
      } else {
        claims.leave(stay);
      }
    }
  }

  /**
   * What is wrong with a page in the file, as far as concurrent writes allow an answer, or null.
   */
  @Nullable String problemInFile(int pageId, MemorySegment scratch) {
    boolean written = judge.wasWritten(pageId); // before it is read
    int bytes = readers.read(PageHeaderLayout.position(pageId), scratch);
    PageCondition condition = PageJudge.conditionOf(scratch, bytes);
    return condition == PageCondition.NEVER_WRITTEN && !written
        ? null
        : judge.problemOf(condition, scratch, pageId);
  }

  /**
   * Whether the log has a whole page, so that its bytes in the file mean nothing: in a database
   * that writes nothing, for ever. The caller has latched the page.
   */
  boolean isBuiltFromLog(int pageId) {
    PendingRedo lacking = pending;
    return lacking.isPending(pageId) && lacking.beginsWithFormat(pageId);
  }

  /** What is wrong with bytes that were read from the file, as far as they show it, or null. */
  @Nullable String problemInCopy(int pageId, MemorySegment bytes) {
    PageCondition condition = PageJudge.conditionOf(bytes, (int) bytes.byteSize());
    return condition == PageCondition.NEVER_WRITTEN && !judge.wasWritten(pageId)
        ? null
        : judge.problemOf(condition, bytes, pageId);
  }
}
