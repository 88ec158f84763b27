package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.latch.HybridLatch;
import org.revenantdb.latch.Parking;
import org.revenantdb.latch.Tally;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.latch.WaitTerms;
import org.revenantdb.recovery.checkpoint.RefusedPage;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The pages of one database that are in memory: a fixed number of off-heap frames, and the right to
 * read or change their pages.
 *
 * <p>To <em>fix</em> a page is to bring it into a frame, if it is not in one, and to latch it,
 * shared or exclusively. The frame number returned identifies the page until it is unfixed.
 *
 * <p>This class fixes, unfixes and marks pages. {@link FrameClaims} gets frames for pages, {@link
 * PageLoader} reads pages, also ahead, {@link PageJudge} checks them, {@link PageWriter} writes
 * them, and {@link PoolCounters} counts.
 *
 * <p>Threads: any, platform or virtual. Fixing may wait for the latch, for the page to be read and
 * for a free frame. The caller may hold latches on other pages, in the order of {@code
 * docs/protocols.md} §4, but no space map while it waits for a frame. An interrupt ends no wait and
 * is kept for later. Threads of the pool read and write the file; callers read through openings of
 * their own ({@link PageReaders}).
 *
 * <p>Failure: a page that cannot be read causes a {@link DamagedFileException} or another {@link
 * FileException} for each caller that requests it. Nothing is latched then, and the pool stays
 * usable. A page that cannot be written stops the engine.
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
   *   free           none      0         0         none                        no
   *   loading        p         0         0         exclusive, by the loader    yes
   *   ahead          p         0         0         exclusive, by the readers   yes
   *   clean          p         0         0         any                         yes
   *   dirty          p         > 0       0         any                         yes
   *   being written  p         0 or > 0  > 0       any                         yes
   *
   * Transitions
   *   free -> loading             by the thread that claimed the frame: a new Stay, latched; entry
   *                               in the translation by CAS. If the CAS fails, another thread
   *                               brings the page: back to free.
   *   loading -> clean            by the loader, when the page was read and is good
   *   free -> ahead               by the prefetching thread, like free -> loading; the latch goes
   *                               with the request to the reading threads, and one of them releases
   *                               it
   *   ahead -> clean              by that thread, when the page is good
   *   ahead -> free               by that thread: the read failed, or the pool closes; or by the
   *                               prefetching thread, if the request was not accepted
   *   loading, clean -> free      by the holder of the exclusive latch: the read failed; evicted;
   *                               discarded. The stay becomes obsolete before the latch is
   *                               released.
   *   clean -> dirty              markDirty, by the holder of the exclusive latch; for a space map
   *                               markDirtyShared, by CAS, by the holders of the shared latch: one
   *                               of them succeeds
   *   dirty -> being written      PageWriter, under the shared latch, for a space map under the
   *                               exclusive one
   *   being written -> clean      PageWriter, flushing := 0, without a latch
   *
   * Invariants
   *   I1 A frame loses its page only under its exclusive latch, when clean: so a latched page
   *      stays.
   *   I2 At most one frame is in the translation for a page, so a page is read only while no image
   *      of it is dirty or being written: a read never meets a write of the same page.
   *   I3 A change is in the data file, or its LSN is at or above the frame's firstLsn or flushing (PageWriter).
   *   I4 No page is written before the log is durable up to its LSN.
   *
   * A latch for each stay
   *   The latch belongs to the stay of one page, not to the frame. If it belonged to the frame, a
   *   slow thread that looked up page C could wait for the latch of a frame that now holds page Q,
   *   which violates the latch order: A holds P and waits for "C", really Q; B holds Q and waits
   *   for P. Instead, a thread that looked up C waits only for users of C. The latch it then gets
   *   is that of C, or obsolete: then it looks up again.
   *
   * Optimistic reads
   *   of a stay that was looked up: stamp, read, validate. A stamp never belongs to an obsolete
   *   stay. Meanwhile the frame may get another page and be overwritten. That happens after the
   *   stay became obsolete, so the stamp does not validate (jcstress: FrameRecycleStress). Frames
   *   are not unmapped while an operation is inside the database (OperationGate). A hit writes
   *   nothing except, sometimes, the heat of the page.
   *
   * PageLoader describes reading ahead, FrameClaims the wait for a frame.
   *
   * Races left in   The heat of a page is counted without synchronisation (Stay.warm): a lost use
   *   can cost one read. A page may be evicted right after the look-up; that costs one more
   *   look-up.
   */

  /** The size of a page and of a frame. */
  public static final int PAGE_SIZE = PageHeaderLayout.PAGE_SIZE;

  /** The maximum number of levels of a tree; a longer descent has left the tree. */
  public static final int MAX_LEVELS = 32;

  /** How often a thread that waits for a latch checks whether the engine has stopped. */
  private static final Duration ASK = Duration.ofMillis(100);

  /** How often a thread that waits for the write of a page checks whether it has ended. */
  private static final long WRITE_LOOK = TimeUnit.MICROSECONDS.toNanos(50);

  /**
   * Valid as long as the engine works. The meter of a wait is determined only when a thread has to
   * wait.
   */
  private final WaitTerms latchTerms;

  private final Steps steps;
  private final Frames frames;
  private final Translation translation = new Translation();
  private final FlushedLsns flushedLsns = new FlushedLsns();
  private final Clock clock;
  private final PageReaders readers;
  private final PageWriter writer;
  private final PoolCounters counters = new PoolCounters();
  private final FrameClaims claims;
  private final PageJudge judge;
  private final PageLoader loader;

  /** A copy of the counters' field, so that a hit needs one read less to find its counter. */
  private final Tally[] hits = counters.hits;

  private final Tally[] descents = counters.descents;
  private volatile @Nullable ChangeWatch watch;

  /**
   * Creates an empty pool. Memory and threads are allocated on first use.
   *
   * @param options size and threads
   * @param data the data file; the caller closes it after the pool
   * @param guard makes torn pages repairable; null if the device writes pages whole
   * @param log the log, which must be ahead of every page written
   * @param account counts the pages that a restart would have to read
   * @param check further checks of a page that was read
   */
  public BufferPool(
      BufferPoolOptions options,
      StorageFile data,
      @Nullable BatchGuard guard,
      WriteAhead log,
      PageAccount account,
      PageReadCheck check) {
    this(options, data, guard, log, account, check, PoolWaits.NONE);
  }

  /**
   * Creates an empty pool whose waits are reported.
   *
   * @param options size and threads
   * @param data the data file; the caller closes it after the pool
   * @param guard makes torn pages repairable; null if the device writes pages whole
   * @param log the log, which must be ahead of every page written
   * @param account counts the pages that a restart would have to read
   * @param check further checks of a page that was read
   * @param waits receives the waits for latches, pages and frames
   */
  public BufferPool(
      BufferPoolOptions options,
      StorageFile data,
      @Nullable BatchGuard guard,
      WriteAhead log,
      PageAccount account,
      PageReadCheck check,
      PoolWaits waits) {
    this(
        options,
        data,
        guard == null ? BatchGuard.NONE : guard,
        log,
        account,
        check,
        waits,
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
      PoolWaits waits,
      Steps steps,
      Slabs slabs) {
    this.latchTerms =
        WaitTerms.endless()
            .asLongAs(ASK, () -> isRunning(log))
            .meteredBy((latch, shared) -> meterOf(waits, latch, shared));
    this.steps = steps;
    this.frames = new Frames(slabs, options.frames());
    FreeFrames free = new FreeFrames(options.frames());
    this.clock = new Clock(frames, translation);
    FrameWaiters waiters = new FrameWaiters();
    this.readers = new PageReaders(data, options.readThreads(), options.name(), log::fail);
    this.writer =
        new PageWriter(
            data, guard, log, account, frames, flushedLsns, clock, waiters, steps, options.name());
    this.claims =
        new FrameClaims(
            frames, translation, free, clock, waiters, writer, waits, counters, data.path());
    this.judge = new PageJudge(flushedLsns, check, data.path());
    this.loader =
        new PageLoader(frames, translation, claims, judge, readers, writer, waits, counters, steps);
  }

  /**
   * Ends the wait for a latch if the engine has stopped: an error may have stopped it while a latch
   * was held that is never released.
   */
  private static boolean isRunning(WriteAhead log) {
    Throwable failure = log.failure();
    if (failure != null) {
      throw new LogStoppedException(failure);
    }
    return true;
  }

  /**
   * The meter for a wait for a latch. The page may be changing, so its type may be a moment old. A
   * new page whose frame is not cleared yet counts as being read.
   */
  private static WaitMeter meterOf(PoolWaits waits, HybridLatch latch, boolean shared) {
    Stay stay = (Stay) latch;
    return stay.hasArrived() ? waits.latch(Page.type(stay.page()), shared) : waits.read();
  }

  // ---- fixing

  /**
   * Fixes a page for reading.
   *
   * @return its frame, latched shared
   * @throws DamagedFileException if the file does not contain this page
   */
  public int fixShared(int pageId) {
    return fixShared(pageId, /* forScan= */ false);
  }

  /**
   * Fixes a page for a scan: like {@link #fixShared}, but the page does not become warmer, and
   * repeated scans do not keep it in memory longer.
   *
   * @return its frame, latched shared
   * @throws DamagedFileException if the file does not contain this page
   */
  public int fixSharedForScan(int pageId) {
    return fixShared(pageId, /* forScan= */ true);
  }

  private int fixShared(int pageId, boolean forScan) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      if (stay == null) {
        int frame = loader.load(pageId, /* inAnyCondition= */ false, forScan);
        if (frame != Frames.NONE) {
          frames.stayOf(frame).downgrade();
          return frame;
        }
        continue;
      }
      steps.at(Steps.Step.ABOUT_TO_LATCH, stay.frame());
      if (!stay.tryAcquireShared()) {
        refuseOwn(stay);
        stay.acquireShared(latchTerms);
      }
      if (!stay.isObsolete()) {
        return forScan ? scanned(stay) : hit(stay);
      }
      stay.releaseShared();
      claims.checkOpen();
    }
  }

  /**
   * Returns the stay of a page, for an optimistic read. The caller is inside the database.
   *
   * @return its stay, which may end at any moment; null if the page is not in the pool
   */
  public @Nullable Stay resident(int pageId) {
    return translation.stayOf(pageId);
  }

  /** The result of {@link #peek} for a page that is not in the pool, or on its way. */
  public static final long UNKNOWN = -1;

  /**
   * Returns what kind of page is in the pool, without its latch.
   *
   * <p>A thread that holds a page's latch and follows a link calls this before it waits for the
   * other page. Latches are acquired in an order, from pages of one kind to pages of another. A
   * damaged link may lead back, even to a page that the thread has latched itself. If the kind is
   * not the one that the link requires, the thread must not wait. The kind of a page does not
   * change while a legal link leads to it from a latched page.
   *
   * @param pageId any number
   * @return type, level and table, in the form of {@link Slotted#kind}; {@link #UNKNOWN} if the
   *     page is not in the pool now
   */
  public long peek(int pageId) {
    Stay stay = translation.stayOf(pageId);
    if (stay == null || !stay.hasArrived()) {
      return UNKNOWN;
    }
    long kind = Slotted.kind(stay.page());
    VarHandle.loadLoadFence(); // the frame may contain another page by now
    return stay.isObsolete() ? UNKNOWN : kind;
  }

  /**
   * Returns whether a page is in the pool and has neither of two types: see {@link #peek}.
   *
   * @param pageId any number
   * @param type a type that it may have
   * @param or another type that it may have
   * @return false if it may have one of them, as far as is known
   */
  public boolean isOfOtherType(int pageId, int type, int or) {
    long kind = peek(pageId);
    int found = Slotted.typeOf(kind);
    return kind != UNKNOWN && found != type && found != or;
  }

  /**
   * Returns the frame in which a page probably is, for an optimistic read that does not wait for
   * the stay. It must be compared with the stay's.
   *
   * @param pageId a page that has a stay
   * @return the number of a frame
   */
  public int frameOf(int pageId) {
    return translation.frameOf(pageId);
  }

  /**
   * Reads the objects that a change of a page needs besides the page's bytes: the segment of its
   * stay, and the state of its frame. So the processor fetches them at the same time as the page,
   * not one after the other behind the latch. Nothing is decided by what is read.
   *
   * @param stay the stay of a page, which may end at any moment
   * @param frame the result of {@link #frameOf}
   * @return a meaningless number, which the caller must store
   */
  public int touchForChange(Stay stay, int frame) {
    return (int) stay.page().byteSize() + frames.touch(frame);
  }

  /**
   * Returns the slab of memory that contains a frame.
   *
   * @return the memory; the frame begins at {@link #base}
   */
  public MemorySegment slab(int frame) {
    return frames.slab(frame);
  }

  /**
   * Returns where a frame begins in its slab.
   *
   * @return offset of its first byte
   */
  public static long base(int frame) {
    return Frames.base(frame);
  }

  /**
   * Counts a successful optimistic descent.
   *
   * @param leaf the last page, which becomes warmer
   * @param levels the number of pages, including the leaf; at most 32
   */
  public void hit(Stay leaf, int levels) {
    leaf.warm();
    descents[levels].increment();
  }

  /**
   * Fixes the page of a stay for reading, if it is still there, was not changed since an optimistic
   * read of it began, and needs no wait.
   *
   * @param stay from {@link #resident}
   * @param stamp from {@link Stay#readOptimistic}
   * @return its frame, latched shared; or -1
   */
  public int tryFixShared(Stay stay, long stamp) {
    return stay.tryUpgradeOptimisticToShared(stamp) ? hit(stay) : Frames.NONE;
  }

  /**
   * Like {@link #tryFixShared}, for a scan: the page does not become warmer.
   *
   * @param stay from {@link #resident}
   * @param stamp from {@link Stay#readOptimistic}
   * @return its frame, latched shared; or -1
   */
  public int tryFixSharedForScan(Stay stay, long stamp) {
    return stay.tryUpgradeOptimisticToShared(stamp) ? scanned(stay) : Frames.NONE;
  }

  /**
   * Fixes the page of a stay for a change, if it is still there, was not changed since an
   * optimistic read of it began, and needs no wait.
   *
   * @param stay from {@link #resident}
   * @param stamp from {@link Stay#readOptimistic}
   * @return its frame, latched exclusively; or -1
   */
  public int tryFixExclusive(Stay stay, long stamp) {
    return stay.tryUpgradeOptimistic(stamp) ? changing(stay) : Frames.NONE;
  }

  /**
   * Fixes the page of a stay for a change, if it is still there; waits for its latch.
   *
   * @param stay from {@link #resident}
   * @return its frame, latched exclusively; or -1
   */
  public int fixExclusive(Stay stay) {
    return latchExclusive(stay);
  }

  /**
   * Carries out a request under the exclusive latch of a page: in the calling thread or, while that
   * waits, in a thread that holds the latch and is about to release it.
   *
   * @param stay of the page; may be obsolete when the request is carried out
   * @param request as required by {@link Stay#runExclusive(Runnable)}
   */
  public void runExclusive(Stay stay, Runnable request) {
    stay.runExclusive(request, latchTerms);
    hit(stay);
  }

  /**
   * Returns the stay of a page that the caller has latched.
   *
   * @param frame a frame, latched by the caller
   */
  public Stay stayOf(int frame) {
    return frames.stayOf(frame);
  }

  /**
   * Fixes a page for a change.
   *
   * @return its frame, latched exclusively
   * @throws DamagedFileException if the file does not contain this page
   */
  public int fixExclusive(int pageId) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      int frame =
          stay == null
              ? changing(loader.load(pageId, /* inAnyCondition= */ false, /* forScan= */ false))
              : latchExclusive(stay);
      if (frame != Frames.NONE) {
        return frame;
      }
    }
  }

  /**
   * Fixes a page for a change if that needs no wait for a latch.
   *
   * @return its frame, latched exclusively; or -1 if another thread has it latched
   * @throws DamagedFileException if the file does not contain this page
   */
  public int tryFixExclusive(int pageId) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      if (stay == null) {
        return changing(loader.load(pageId, /* inAnyCondition= */ false, /* forScan= */ false));
      }
      if (!stay.tryAcquireExclusive()) {
        return Frames.NONE;
      }
      if (!stay.isObsolete()) {
        return changing(stay);
      }
      stay.releaseExclusive();
      claims.checkOpen();
    }
  }

  /**
   * Fixes a page that the caller formats, without reading it.
   *
   * <p>All its bytes are zero except the page id. If the caller cannot format it, it calls {@link
   * #discard}.
   *
   * @return its frame, latched exclusively
   */
  public int fixNew(int pageId) {
    return fixNew(pageId, /* forScan= */ false);
  }

  /** For tests of eviction: as if a scan had read the page. */
  int fixNewForScan(int pageId) {
    return fixNew(pageId, /* forScan= */ true);
  }

  private int fixNew(int pageId, boolean forScan) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      int frame = stay == null ? changing(claims.enter(pageId, forScan)) : latchExclusive(stay);
      if (frame != Frames.NONE) {
        loader.clear(frame, pageId);
        loader.isNew(pageId);
        frames.stayOf(frame).setFreed(false);
        return frame;
      }
    }
  }

  /**
   * Notes that a published record has formatted a page, after {@link #markDirty}. Until the page is
   * written, a restart builds it from that record. So this write needs no second copy (protocols.md
   * §58).
   *
   * @param frame a frame, latched exclusively by the caller
   */
  public void markFormatted(int frame) {
    frames.stayOf(frame).setFormatted(true);
  }

  /**
   * Requests that pages are written before a checkpoint needs it, many at once. A hint: without it
   * the next checkpoint writes them.
   *
   * @param pageIds pages that are expected not to change soon
   * @param inFrames their frames
   * @param from the index of the first one
   * @param to the index behind the last one
   */
  public void writeSoon(int[] pageIds, int[] inFrames, int from, int to) {
    writer.writeSoon(pageIds, inFrames, from, to);
  }

  /**
   * Notes that a published record has freed a page. A thread that has its stay from before, and
   * gets the latch, sees this through {@link Stay#isFreed}.
   *
   * @param frame a frame, latched exclusively by the caller
   */
  public void markFreed(int frame) {
    Stay stay = frames.stayOf(frame);
    stay.setFreed(true);
    stay.setFormatted(false); // FREE makes its FORMAT void
  }

  /**
   * Fixes a page even if it is damaged or was never written: {@link #condition} returns its
   * condition. If that is not {@link PageCondition#GOOD}, the frame is like that of {@link
   * #fixNew}: the caller formats it or calls {@link #discard}. A version that is older than the
   * last written one is refused, as by all other methods.
   *
   * @return its frame, latched exclusively
   */
  public int fixInAnyCondition(int pageId) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      int frame =
          stay == null
              ? changing(loader.load(pageId, /* inAnyCondition= */ true, /* forScan= */ false))
              : latchExclusive(stay);
      if (frame != Frames.NONE) {
        return frame;
      }
    }
  }

  /**
   * Returns the condition in which the page of a frame was read. {@link PageCondition#GOOD} if it
   * was not read because it is new, or if it was formatted and marked dirty since.
   *
   * @param frame a frame from {@link #fixInAnyCondition}, still latched
   * @return the condition
   */
  public PageCondition condition(int frame) {
    return frames.condition(frame);
  }

  /**
   * Makes the only reader of a page its writer.
   *
   * @param frame a frame, latched shared by the caller
   * @return true if it is latched exclusively now; false if it is still latched shared, because
   *     other threads hold it, too
   */
  public boolean tryUpgrade(int frame) {
    Stay stay = frames.stayOf(frame);
    if (!stay.tryUpgrade()) {
      return false;
    }
    stay.setHeldByCaller();
    return true;
  }

  /**
   * Makes the writer of a page a reader.
   *
   * @param frame a frame, latched exclusively by the caller
   */
  public void downgrade(int frame) {
    Stay stay = frames.stayOf(frame);
    stay.clearHolder();
    stay.downgrade();
  }

  /**
   * Ends a read.
   *
   * @param frame a frame, latched shared by the caller
   */
  public void unfixShared(int frame) {
    frames.stayOf(frame).releaseShared();
  }

  /**
   * Ends a change.
   *
   * @param frame a frame, latched exclusively by the caller
   */
  public void unfixExclusive(int frame) {
    Stay stay = frames.stayOf(frame);
    stay.clearHolder();
    stay.releaseExclusive();
  }

  private int latchExclusive(Stay stay) {
    steps.at(Steps.Step.ABOUT_TO_LATCH, stay.frame());
    if (!stay.tryAcquireExclusive()) {
      refuseOwn(stay);
      stay.acquireExclusive(latchTerms);
    }
    if (!stay.isObsolete()) {
      return changing(stay);
    }
    stay.releaseExclusive();
    claims.checkOpen();
    return Frames.NONE;
  }

  /** A hit of a page that the caller has acquired for a change. */
  private int changing(Stay stay) {
    stay.setHeldByCaller();
    return hit(stay);
  }

  /** Like {@link #changing(Stay)}, for a page that was just brought in, if it was. */
  private int changing(int frame) {
    if (frame != Frames.NONE) {
      frames.stayOf(frame).setHeldByCaller();
    }
    return frame;
  }

  /**
   * Refuses to wait for a page that the calling thread is changing.
   *
   * <p>In a sound database nothing leads a thread to a page that it holds: links lead down, and the
   * allocator returns only free pages. But a link or a space map with a correct checksum can be
   * wrong. Then the thread would wait for itself, and other threads for it, forever.
   */
  private void refuseOwn(Stay stay) {
    if (stay.isHeldByCaller()) {
      throw damage(
          stay.pageId(),
          "page "
              + Integer.toUnsignedString(stay.pageId())
              + " was reached again by the operation that is changing it: another page links to it"
              + " wrongly, or its space map calls it free though it is in use; check the database");
    }
  }

  private int hit(Stay stay) {
    stay.warm();
    return scanned(stay);
  }

  /** A hit that does not make the page warmer. */
  private int scanned(Stay stay) {
    hits[PageClasses.of(Page.type(stay.page()))].increment();
    return stay.frame();
  }

  // ---- reading ahead

  /**
   * Starts reading a page that a scan will probably need soon. Waits for nothing: not for the page,
   * a latch, or a frame. The caller may hold latches.
   *
   * <p>Failures are not reported: a thread that needs the page reads it, and gets the same failure.
   */
  public Ahead prefetch(int pageId) {
    return loader.prefetch(pageId);
  }

  /** The result of a request to read a page ahead. */
  public enum Ahead {
    /** It is being read. */
    BEGUN,
    /** It is in the pool, or on its way to it. */
    RESIDENT,
    /** There is no room for it now, or nothing to read. */
    REFUSED,
  }

  /**
   * How often pages were asked for and found in the pool. It rises while callers are at work.
   *
   * @return the number so far
   */
  public long uses() {
    return counters.uses();
  }

  /**
   * Returns how many pages may be on their way at once without a request. The number is far below
   * the number of pages on probation, because otherwise they would evict each other.
   *
   * @return a number of pages, at least 4
   */
  public int maxAhead() {
    return loader.maxAhead();
  }

  // ---- what is in a frame

  /**
   * Returns the bytes of a fixed page.
   *
   * @param frame a frame, latched by the caller
   * @return its 8192 bytes; must not be used after the frame is unfixed
   */
  public MemorySegment page(int frame) {
    return frames.stayOf(frame).page();
  }

  /**
   * Returns which page a frame holds.
   *
   * @param frame a frame, latched by the caller
   * @return the page id
   */
  public int pageIdOf(int frame) {
    return frames.stayOf(frame).pageId();
  }

  /**
   * Marks a page before it is changed. Call it before the record is reserved, with the tail of the
   * log. A checkpoint that missed the mark has then read the tail before, and the record lies after
   * it.
   *
   * @param frame a frame, latched exclusively by the caller
   * @param tail an LSN at or below the start of the record, above 0; read only if the page is
   *     clean, because the tail of the log is contended by all writers
   * @throws DamagedFileException if the page was read and cannot be changed safely
   */
  public void markDirty(int frame, LongSupplier tail) {
    tellWatch(frame);
    if (frames.firstLsnVolatile(frame) == 0) {
      judge.checkBeforeChange(frames.stayOf(frame));
      long firstLsn = tail.getAsLong();
      if (firstLsn <= 0) {
        throw new IllegalArgumentException("first LSN " + firstLsn);
      }
      frames.setCondition(frame, PageCondition.GOOD);
      frames.setFirstLsnVolatile(frame, firstLsn);
      writer.countDirty();
    }
  }

  /**
   * Like {@link #markDirty(int, LongSupplier)}, with a known LSN.
   *
   * @param frame a frame, latched exclusively by the caller
   * @param firstLsn an LSN at or below the start of the record; above 0
   */
  public void markDirty(int frame, long firstLsn) {
    markDirty(frame, () -> firstLsn);
  }

  /**
   * Like {@link #markDirty(int, LongSupplier)}, for a space map that other threads change at the
   * same time.
   *
   * @param frame a frame that the caller holds latched shared from before this call until its
   *     change is made and the page LSN raised
   * @param firstLsn an LSN at or below the start of the record, read from the tail of the log after
   *     the latch was acquired; above 0
   */
  public void markDirtyShared(int frame, long firstLsn) {
    tellWatch(frame);
    // A thread that loses against another one, perhaps with a higher LSN, reserves its record after
    // that: it lies behind the tail that the other thread had read.
    if (frames.firstLsnVolatile(frame) == 0 && frames.beginsDirty(frame, firstLsn)) {
      writer.countDirty();
    }
  }

  private void tellWatch(int frame) {
    ChangeWatch watching = watch;
    if (watching != null) {
      watching.beforeChange(pageIdOf(frame), page(frame));
    }
  }

  /**
   * Drops a page that was freed, with its changes, and unfixes it.
   *
   * <p>Allowed only after the record that frees it is published, because redo could otherwise meet
   * the page's old image (rule R12). Also allowed for a page from {@link #fixNew} or {@link
   * #fixInAnyCondition} that was never marked dirty.
   *
   * @param frame a frame, latched exclusively by the caller; not latched afterwards
   */
  public void discard(int frame) {
    frames.stayOf(frame).clearHolder();
    if (frames.firstLsnVolatile(frame) != 0) {
      tellWatch(frame); // content that only the frame has is lost
      frames.setFirstLsnVolatile(frame, 0);
      frames.stayOf(frame).setFormatted(false);
      writer.countDiscarded();
    }
    if (frames.flushingVolatile(frame) != 0) {
      // An image is on its way to the file. If the page were read again before the write has ended,
      // that read could find half of it. So the frame stays and is evicted later, which waits for
      // the image.
      Stay stay = frames.stayOf(frame);
      stay.setCold();
      stay.releaseExclusive();
      return;
    }
    claims.leave(frames.stayOf(frame));
  }

  /**
   * Sets a watch that receives each change from now on. Call it while nothing is changed.
   *
   * @param newWatch the watch; null for none
   */
  public void watchChanges(@Nullable ChangeWatch newWatch) {
    watch = newWatch;
  }

  /**
   * What is wrong with the bytes of a page in the data file.
   *
   * @param why the problem, with its place
   * @param isDirty whether the page in memory is newer and will be written in their place, or the
   *     log has the whole page
   */
  public record BadInFile(FileException why, boolean isDirty) {}

  /**
   * Checks bytes that were read from the data file while it may have been written. If they are not
   * good, {@link #problemInFile} finds out why.
   *
   * @param bytes 8192 bytes
   * @return what is wrong with them, or null
   */
  public @Nullable String problemInCopy(int pageId, MemorySegment bytes) {
    return loader.problemInCopy(pageId, bytes);
  }

  /**
   * Checks the bytes of a page in the data file, whether the page is in the pool or not, in use or
   * free. A page that was never written is good.
   *
   * @param scratch 8192 bytes to read into; if nothing is wrong it has the page
   * @return what is wrong with it, or null
   */
  public @Nullable BadInFile problemInFile(int pageId, MemorySegment scratch) {
    if (loader.problemInFile(pageId, scratch) == null) {
      return null;
    }
    // It may be being written now. No write of a page begins while the page is latched exclusively.
    int frame;
    try {
      frame = fixExclusive(pageId); // if it is not resident, this checks everything
    } catch (DamagedFileException bad) {
      return new BadInFile(bad, /* isDirty= */ false);
    }
    try {
      while (frames.flushingVolatile(frame) != 0) {
        writer.checkRunning();
        Parking.parkNanos(this, WRITE_LOOK); // the page writer waits for no latch
      }
      String problem = loader.problemInFile(pageId, scratch);
      return problem == null
          ? null
          : new BadInFile(
              damage(pageId, problem), frames.isDirty(frame) || loader.isBuiltFromLog(pageId));
    } finally {
      unfixExclusive(frame);
    }
  }

  /**
   * Returns the file of the pages.
   *
   * @return its path, for messages
   */
  public Path dataFile() {
    return judge.dataPath();
  }

  /**
   * Returns the exception for a damaged page.
   *
   * @param problem in words
   * @return the exception, with the file and the place
   */
  public DamagedFileException damage(int pageId, String problem) {
    return judge.damage(pageId, problem);
  }

  /**
   * Returns the exception for a damaged page.
   *
   * @param problem in words
   * @param cause the exception that revealed it
   * @return the exception, with the file and the place
   */
  public DamagedFileException damage(int pageId, String problem, @Nullable Throwable cause) {
    return judge.damage(pageId, problem, cause);
  }

  // ---- checkpoint and file

  /**
   * Returns how far the redo point may move as far as pages are concerned. The caller reads the
   * tail of the log first and takes the lower of the two.
   *
   * @return the lowest LSN at which a change may begin that is not in the data file, or {@link
   *     Long#MAX_VALUE}
   */
  public long oldestDirtyLsn() {
    return frames.oldestLsn(steps);
  }

  /**
   * Sets what pages lack since a crash: each is redone when it is brought into memory. Call it
   * before a page is read, and with {@link PendingRedo#NONE} when no page is pending any more.
   */
  public void redoOnDemand(PendingRedo lacking) {
    loader.redoOnDemand(lacking);
  }

  /**
   * Notes that a former life has written a page: it is an error if an older version is read. Call
   * it before the page is read.
   *
   * @param lsn of an image that was written and forced
   */
  public void wasFlushed(int pageId, long lsn) {
    flushedLsns.set(pageId, lsn);
  }

  /**
   * Notes that a former life has refused a page. Call it before the page is read, and after {@link
   * #wasFlushed}, which treats a page as written.
   *
   * @param lsn the LSN that a good page has at least
   */
  public void wasRefused(int pageId, long lsn) {
    flushedLsns.inherit(pageId, lsn);
  }

  /**
   * Returns the pages that were refused because the data file lacks their last write, and that were
   * not written since.
   *
   * @return each with the LSN that a good page has at least
   */
  public List<RefusedPage> refusedPages() {
    return flushedLsns.refused();
  }

  /**
   * Writes old changes to the data file. On return every page that was marked dirty with an LSN
   * below this is written and forced.
   *
   * @throws FileException if a page could not be written: the engine has stopped
   */
  public void flushDirtyBefore(long lsn) {
    writer.flushBefore(lsn);
  }

  /**
   * Makes the data file at least this large, with zeros that are written and forced. Rounds up
   * generously while the disk has space.
   *
   * @param pages number of pages
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no space; nothing has
   *     changed
   */
  public void extendTo(int pages) {
    writer.growTo(Integer.toUnsignedLong(pages));
  }

  /**
   * Requests that the data file is made larger soon, if there is space, so that {@link #extendTo}
   * need not wait.
   *
   * @param pages number of pages
   */
  public void extendAhead(int pages) {
    writer.growAheadTo(Integer.toUnsignedLong(pages));
  }

  /**
   * Cuts the data file. After a crash it may have its former size. No page behind the new end may
   * be in use, nor come into use before this returns. A restart must not need the bytes of these
   * pages.
   *
   * @param pages number of pages that stay
   * @return false if a page behind the new end is waiting to be written; then nothing was cut
   */
  public boolean cutTo(int pages) {
    return writer.cutTo(pages);
  }

  /**
   * Returns the size of the data file.
   *
   * @return number of pages that are prepared
   */
  public int sizeInPages() {
    return (int) writer.pagesInFile();
  }

  /** As {@link #sizeInPages}, when the growth is over that was requested so far. */
  public int sizeSoon() {
    return (int) writer.pagesSoon();
  }

  /**
   * Returns which extents of the data file were written, for a backup.
   *
   * @return the highest LSN of each, as far as it is known
   */
  public WrittenExtents writtenExtents() {
    return writer.extents();
  }

  /**
   * Returns how many pages have changes that the file lacks.
   *
   * @return number of pages, those being written included
   */
  public int dirtyPages() {
    return writer.dirty();
  }

  /**
   * Returns what the pool has done.
   *
   * @return the present numbers
   */
  public BufferStatistics statistics() {
    return counters.statistics(frames, clock, writer, /* contents= */ true);
  }

  /**
   * Returns what the pool has done, without reading its contents, which is cheap for any size.
   *
   * @return as {@link #statistics}, but resident and dirty pages of each class are 0
   */
  public BufferStatistics statisticsOfWork() {
    return counters.statistics(frames, clock, writer, /* contents= */ false);
  }

  /**
   * Ends the pool's threads and releases its memory. Nothing is written: to keep changes, call
   * {@link #flushDirtyBefore} first. No page may be fixed.
   */
  @Override
  public void close() {
    if (claims.isClosed()) {
      return;
    }
    claims.close();
    try {
      readers.close();
    } finally {
      try {
        writer.close();
      } finally {
        frames.close();
      }
    }
  }
}
