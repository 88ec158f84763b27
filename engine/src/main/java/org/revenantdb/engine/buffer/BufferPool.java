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
import org.revenantdb.recovery.file.CorruptDataException;
import org.revenantdb.recovery.file.StorageException;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The pages of one database that are in memory: a fixed number of off-heap frames, and the right to
 * read or change what is in them.
 *
 * <p>A page is <em>fixed</em>: brought into a frame if it is not in one, and latched, shared or
 * exclusively. The frame number that is returned stands for the page until it is unfixed.
 *
 * <p>What is fixing, unfixing and marking is here. {@link FrameClaims} gets frames for pages,
 * {@link PageLoader} reads pages, ahead too, {@link PageJudge} says whether they are good, {@link
 * PageWriter} writes them, {@link PoolCounters} has what was counted.
 *
 * <p>Threads: any, platform or virtual. Fixing may wait for the latch, for the page to be read and
 * for a frame to become free; the caller may hold latches on other pages, in the order of {@code
 * docs/protocols.md} §4, but no space map while it waits for a frame. An interrupt ends no wait and
 * is kept for later. The file is read and written by threads of the pool; callers read by openings
 * of their own ({@link PageReaders}).
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
   *   free           none      0         0         none                        no
   *   loading        p         0         0         exclusive, by the loader    yes
   *   ahead          p         0         0         exclusive, by the readers   yes
   *   clean          p         0         0         any                         yes
   *   dirty          p         > 0       0         any                         yes
   *   being written  p         0 or > 0  > 0       any                         yes
   *
   * Transitions
   *   free -> loading             by who claimed it: a new Stay, latched; entry in the translation by CAS.
   *                               If the CAS fails, somebody else brings the page: back to free.
   *   loading -> clean            by the loader, when the page has been read and found good
   *   free -> ahead               by who prefetches, as free -> loading; the latch goes to the reading threads with
   *                               the request, and one of them releases it
   *   ahead -> clean              by that thread, when the page has been found good
   *   ahead -> free               by that thread: the read failed, or the pool closes; or by who prefetches, if the
   *                               request was not taken
   *   loading, clean -> free      by the holder of the exclusive latch: the read failed; evicted; discarded.
   *                               The stay becomes obsolete before the latch is given up.
   *   clean -> dirty              markDirty, by the holder of the exclusive latch; of a space map markDirtyShared, by
   *                               CAS, by those who hold it shared: one of them wins
   *   dirty -> being written      PageWriter, under the shared latch, of a space map under the exclusive one
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
   *   The latch belongs to the stay of one page, not to the frame. If it were the frame's, a thread that looked up
   *   page C and was slow could wait for the latch of a frame that by now holds page Q, and its wait would be in no
   *   latch order: A holds P and waits for "C", really Q; B holds Q and waits for P. As it is, who looked up C waits
   *   at most for those who use C, and what it then has is C, or obsolete: it looks up again.
   *
   * Optimistic reads
   *   of a stay that was looked up: stamp, read, validate. A stamp is never of an obsolete stay. The frame may be
   *   given to another page meanwhile and overwritten; that is after the stay became obsolete, so the stamp does not
   *   validate (jcstress: FrameRecycleStress). Frames are not unmapped while an operation is inside the database
   *   (OperationGate). A hit writes nothing but, sometimes, the heat of the page.
   *
   * Reading ahead is told in PageLoader, waiting for a frame in FrameClaims.
   *
   * Races left in   The heat of a page is counted without care (Stay.warm): a use may be lost, which can cost one
   *   read. A page may be evicted right after the look-up: one more turn.
   */

  /** The size of a page and of a frame. */
  public static final int PAGE_SIZE = PageHeaderLayout.PAGE_SIZE;

  /** Levels of a tree, at most: a descent that goes on is among pages of another time. */
  public static final int MAX_LEVELS = 32;

  /** How often one that waits for a latch looks whether the engine has stopped. */
  private static final Duration ASK = Duration.ofMillis(100);

  /** How often one that waits for the write of a page looks whether it has ended. */
  private static final long WRITE_LOOK = TimeUnit.MICROSECONDS.toNanos(50);

  /**
   * As long as the engine works; where that is told is found when somebody has to wait, not before.
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

  /** The counters' own, here as well: so a hit finds its counter with one read less. */
  private final Tally[] hits = counters.hits;

  private final Tally[] descents = counters.descents;
  private volatile @Nullable ChangeWatch watch;

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
    this(options, data, guard, log, account, check, PoolWaits.NONE);
  }

  /**
   * Makes an empty pool whose waits are told.
   *
   * @param options size and threads
   * @param data the data file; it stays the caller's, who closes it after the pool
   * @param guard what makes torn pages repairable; null where the device writes pages whole
   * @param log the log that has to be ahead of every page written
   * @param account told which pages a restart would have to read
   * @param check what else is asked of a page that was read
   * @param waits where waits for latches, pages and frames are told
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
   * Ends the wait for a latch in an engine that has stopped: an error may have stopped it while a
   * latch was held, which nobody releases any more.
   */
  private static boolean isRunning(WriteAhead log) {
    Throwable failure = log.failure();
    if (failure != null) {
      throw new LogStoppedException(failure);
    }
    return true;
  }

  /**
   * Where a wait for a latch is told. The page may be changing: its type is that of a moment ago.
   * Who meets a new page whose frame is not cleared yet is told of as if it were being read.
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
   * @throws CorruptDataException if what is in the file is not this page
   */
  public int fixShared(int pageId) {
    return fixShared(pageId, /* forScan= */ false);
  }

  /**
   * Fixes a page for a scan, as {@link #fixShared} but that the page becomes no warmer, and does
   * not stay longer for being asked for by scans again and again.
   *
   * @return its frame, latched shared
   * @throws CorruptDataException if what is in the file is not this page
   */
  public int fixSharedForScan(int pageId) {
    return fixShared(pageId, /* forScan= */ true);
  }

  private int fixShared(int pageId, boolean forScan) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      if (stay == null) {
        int frame = loader.load(pageId, /* forRedo= */ false, forScan);
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
   * The stay of a page in a frame, for an optimistic read. The caller is inside the database.
   *
   * @return its stay, which may be over at any moment; null if the page is not in the pool
   */
  public @Nullable Stay resident(int pageId) {
    return translation.stayOf(pageId);
  }

  /** What {@link #peek} returns of a page that is not in the pool, or on its way. */
  public static final long UNKNOWN = -1;

  /**
   * What a page in the pool is, without its latch.
   *
   * <p>A thread that has a page latched and follows a link of it asks here before it waits for the
   * other page. Latches are acquired in an order, from pages of one kind to those of another. A
   * damaged link may lead back, even to a page that the thread has latched itself. If the kind is
   * not the one that the link promises, the thread must not wait. The kind of a page does not
   * change while a legal link leads to it from a page that is latched.
   *
   * @param pageId any number
   * @return type, level and table, as {@link Slotted#kind} has them; {@link #UNKNOWN} if the page
   *     is not in the pool now
   */
  public long peek(int pageId) {
    Stay stay = translation.stayOf(pageId);
    if (stay == null || !stay.hasArrived()) {
      return UNKNOWN;
    }
    long kind = Slotted.kind(stay.page());
    VarHandle.loadLoadFence(); // the frame may have another page by now
    return stay.isObsolete() ? UNKNOWN : kind;
  }

  /**
   * Whether a page is in the pool and is of neither of two types: see {@link #peek}.
   *
   * @param pageId any number
   * @param type a type that it may have
   * @param or another one
   * @return false if it may be of one of them, as far as is known
   */
  public boolean isOfOtherType(int pageId, int type, int or) {
    long kind = peek(pageId);
    int found = Slotted.typeOf(kind);
    return kind != UNKNOWN && found != type && found != or;
  }

  /**
   * The frame in which a page probably is, for an optimistic read that does not wait for the stay:
   * it has to be compared with the stay's.
   *
   * @param pageId a page that has a stay
   * @return the number of a frame
   */
  public int frameOf(int pageId) {
    return translation.frameOf(pageId);
  }

  /**
   * The memory that a frame is in, with others.
   *
   * @return the memory; the frame begins at {@link #base}
   */
  public MemorySegment slab(int frame) {
    return frames.slab(frame);
  }

  /**
   * Where in its slab a frame begins.
   *
   * @return offset of its first byte
   */
  public static long base(int frame) {
    return Frames.base(frame);
  }

  /**
   * Notes an optimistic descent that was right.
   *
   * @param leaf where it ended, whose page becomes warmer
   * @param levels how many pages it went through, the leaf included; at most 32
   */
  public void hit(Stay leaf, int levels) {
    leaf.warm();
    descents[levels].increment();
  }

  /**
   * Fixes the page of a stay for reading, if it is still there and was not changed since an
   * optimistic read of it began, and no wait is needed.
   *
   * @param stay from {@link #resident}
   * @param stamp from {@link Stay#readOptimistic}
   * @return its frame, latched shared; or -1
   */
  public int tryFixShared(Stay stay, long stamp) {
    return stay.tryUpgradeOptimisticToShared(stamp) ? hit(stay) : Frames.NONE;
  }

  /**
   * As {@link #tryFixShared} for a scan: the page becomes no warmer.
   *
   * @param stay from {@link #resident}
   * @param stamp from {@link Stay#readOptimistic}
   * @return its frame, latched shared; or -1
   */
  public int tryFixSharedForScan(Stay stay, long stamp) {
    return stay.tryUpgradeOptimisticToShared(stamp) ? scanned(stay) : Frames.NONE;
  }

  /**
   * Fixes the page of a stay for changing it, if it is still there and was not changed since an
   * optimistic read of it began, and no wait is needed.
   *
   * @param stay from {@link #resident}
   * @param stamp from {@link Stay#readOptimistic}
   * @return its frame, latched exclusively; or -1
   */
  public int tryFixExclusive(Stay stay, long stamp) {
    return stay.tryUpgradeOptimistic(stamp) ? changing(stay) : Frames.NONE;
  }

  /**
   * Fixes the page of a stay for changing it, if it is still there; waits for its latch.
   *
   * @param stay from {@link #resident}
   * @return its frame, latched exclusively; or -1
   */
  public int fixExclusive(Stay stay) {
    return latchExclusive(stay);
  }

  /**
   * Has a request carried out under the exclusive latch of a page: by the calling thread, or, while
   * that waits, by a thread that has the latch and is about to give it up.
   *
   * @param stay of the page; obsolete perhaps when the request is carried out
   * @param request as {@link Stay#runExclusive(Runnable)} wants it
   */
  public void runExclusive(Stay stay, Runnable request) {
    stay.runExclusive(request, latchTerms);
    hit(stay);
  }

  /**
   * The stay of a page that the caller has latched.
   *
   * @param frame a frame, latched by the caller
   */
  public Stay stayOf(int frame) {
    return frames.stayOf(frame);
  }

  /**
   * Fixes a page for changing it.
   *
   * @return its frame, latched exclusively
   * @throws CorruptDataException if what is in the file is not this page
   */
  public int fixExclusive(int pageId) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      int frame =
          stay == null
              ? changing(loader.load(pageId, /* forRedo= */ false, /* forScan= */ false))
              : latchExclusive(stay);
      if (frame != Frames.NONE) {
        return frame;
      }
    }
  }

  /**
   * Fixes a page for changing it if that needs no waiting for a latch.
   *
   * @return its frame, latched exclusively; or -1 if somebody else has it latched
   * @throws CorruptDataException if what is in the file is not this page
   */
  public int tryFixExclusive(int pageId) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      if (stay == null) {
        return changing(loader.load(pageId, /* forRedo= */ false, /* forScan= */ false));
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
   * Fixes a page whose contents do not matter, since the caller formats it: it is not read.
   *
   * <p>All its bytes are zero but the page id. A caller that cannot format it after all calls
   * {@link #discard}.
   *
   * @return its frame, latched exclusively
   */
  public int fixNew(int pageId) {
    return fixNew(pageId, /* forScan= */ false);
  }

  /** For tests of who leaves: as if a scan had read the page. */
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
   * Notes that a page was given back by a record that is published: who has its stay from before,
   * and gets the latch, can tell by {@link Stay#isFreed}.
   *
   * @param frame a frame, latched exclusively by the caller
   */
  public void markFreed(int frame) {
    frames.stayOf(frame).setFreed(true);
  }

  /**
   * Fixes a page for redo, which decides itself what a page that is not good means: {@link
   * #condition} says what was found. If that is not {@link PageCondition#GOOD}, the frame is like
   * that of {@link #fixNew}: the caller formats it or calls {@link #discard}.
   *
   * @return its frame, latched exclusively
   */
  public int fixForRedo(int pageId) {
    while (true) {
      Stay stay = translation.stayOf(pageId);
      int frame =
          stay == null
              ? changing(loader.load(pageId, /* forRedo= */ true, /* forScan= */ false))
              : latchExclusive(stay);
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
   * Ends reading.
   *
   * @param frame a frame, latched shared by the caller
   */
  public void unfixShared(int frame) {
    frames.stayOf(frame).releaseShared();
  }

  /**
   * Ends changing.
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

  /** A hit of a page that the caller has acquired for changing it. */
  private int changing(Stay stay) {
    stay.setHeldByCaller();
    return hit(stay);
  }

  /** As {@link #changing(Stay)}, of a page that was just brought in, if it was. */
  private int changing(int frame) {
    if (frame != Frames.NONE) {
      frames.stayOf(frame).setHeldByCaller();
    }
    return frame;
  }

  /**
   * Refuses to wait for a page that the calling thread is changing.
   *
   * <p>In a sound database nothing leads a thread to a page that it has: links lead down, and the
   * allocator gives out pages that are free. A link or a space map with a good checksum can be
   * wrong all the same; the thread would wait for itself, and others for it, for ever.
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

  /** A hit that makes the page no warmer. */
  private int scanned(Stay stay) {
    hits[PageClasses.of(Page.type(stay.page()))].increment();
    return stay.frame();
  }

  // ---- reading ahead

  /**
   * Has a page read that a scan will probably ask for soon. Waits for nothing: not for the page,
   * nor a latch, nor a frame. The caller may hold latches.
   *
   * <p>What goes wrong is told to nobody: who needs the page reads it, and meets the same.
   */
  public Ahead prefetch(int pageId) {
    return loader.prefetch(pageId);
  }

  /** What becomes of the wish to have a page read ahead. */
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
   * How many pages may be on their way at once that nobody has asked for: far fewer than pages may
   * be on probation, or they would drive each other out.
   *
   * @return a number of pages, at least 4
   */
  public int maxAhead() {
    return loader.maxAhead();
  }

  // ---- what is in a frame

  /**
   * The bytes of a fixed page.
   *
   * @param frame a frame, latched by the caller
   * @return its 8192 bytes; not to be used after the frame is unfixed
   */
  public MemorySegment page(int frame) {
    return frames.stayOf(frame).page();
  }

  /**
   * Which page a frame holds.
   *
   * @param frame a frame, latched by the caller
   * @return the page id
   */
  public int pageIdOf(int frame) {
    return frames.stayOf(frame).pageId();
  }

  /**
   * Says that a page is about to be changed. To be called before the record is reserved, with the
   * tail of the log: so a checkpoint that missed the mark had read the tail before, and the record
   * lies after it.
   *
   * @param frame a frame, latched exclusively by the caller
   * @param tail an LSN at or below the start of the record, above 0; asked for only if the page is
   *     clean: all who write meet at the tail of the log
   * @throws CorruptDataException if the page was read and cannot be changed safely
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
   * As {@link #markDirty(int, LongSupplier)}, where the LSN is known.
   *
   * @param frame a frame, latched exclusively by the caller
   * @param firstLsn an LSN at or below the start of the record; above 0
   */
  public void markDirty(int frame, long firstLsn) {
    markDirty(frame, () -> firstLsn);
  }

  /**
   * As {@link #markDirty(int, LongSupplier)}, of a space map that others change at the same time.
   *
   * @param frame a frame, latched shared by the caller from before this until its change is made
   *     and the page LSN raised
   * @param firstLsn an LSN at or below the start of the record, read from the tail of the log after
   *     the latch was acquired; above 0
   */
  public void markDirtyShared(int frame, long firstLsn) {
    tellWatch(frame);
    // Who loses against another, whose LSN may be higher than his own,
    // reserves his record after that: it lies behind the tail that the other had read.
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
   * Forgets a page that was freed, with its changes, and unfixes it.
   *
   * <p>Only after the record that frees it is published, or redo could meet the page's old image
   * (rule R12); or if it is a page from {@link #fixNew} or {@link #fixForRedo} that was never
   * marked dirty.
   *
   * @param frame a frame, latched exclusively by the caller; not latched afterwards
   */
  public void discard(int frame) {
    frames.stayOf(frame).clearHolder();
    if (frames.firstLsnVolatile(frame) != 0) {
      tellWatch(frame); // what only the frame has is gone
      frames.setFirstLsnVolatile(frame, 0);
      writer.countDiscarded();
    }
    if (frames.flushingVolatile(frame) != 0) {
      // An image is on its way to the file.
      // Were the page read again before it is there, that read could find half of it;
      // so the frame stays and leaves by eviction, which waits for the image.
      Stay stay = frames.stayOf(frame);
      stay.setCold();
      stay.releaseExclusive();
      return;
    }
    claims.leave(frames.stayOf(frame));
  }

  /**
   * Has somebody told of each change from now on. To be set while nobody changes anything.
   *
   * @param newWatch is told; null for nobody
   */
  public void watchChanges(@Nullable ChangeWatch newWatch) {
    watch = newWatch;
  }

  /**
   * What is wrong with the bytes that the data file has for a page.
   *
   * @param why says what, and where
   * @param isDirty whether the page in memory is newer and will be written in their place
   */
  public record BadInFile(StorageException why, boolean isDirty) {}

  /**
   * Looks at what the data file has for a page, be that in the pool or not, in use or free. A page
   * that was never written is well.
   *
   * @param scratch 8192 bytes to read into
   * @return what is wrong with it, or null
   */
  public @Nullable BadInFile problemInFile(int pageId, MemorySegment scratch) {
    if (loader.problemInFile(pageId, scratch) == null) {
      return null;
    }
    // Perhaps it is being written just now.
    // Nobody begins to write a page that is latched exclusively.
    int frame;
    try {
      frame = fixExclusive(pageId); // if it is not resident, this looks at all that there is
    } catch (CorruptDataException bad) {
      return new BadInFile(bad, /* isDirty= */ false);
    }
    try {
      while (frames.flushingVolatile(frame) != 0) {
        writer.checkRunning();
        Parking.parkNanos(this, WRITE_LOOK); // the page writer waits for no latch
      }
      String problem = loader.problemInFile(pageId, scratch);
      return problem == null ? null : new BadInFile(damage(pageId, problem), frames.isDirty(frame));
    } finally {
      unfixExclusive(frame);
    }
  }

  /**
   * The file that the pages are in.
   *
   * @return its path, for messages
   */
  public Path dataFile() {
    return judge.dataPath();
  }

  /**
   * What is thrown for a page that is not what it should be.
   *
   * @param problem in words
   * @return the exception, which names the file and the place
   */
  public CorruptDataException damage(int pageId, String problem) {
    return judge.damage(pageId, problem);
  }

  /**
   * What is thrown for a page that is not what it should be.
   *
   * @param problem in words
   * @param cause what it was noticed by
   * @return the exception, which names the file and the place
   */
  public CorruptDataException damage(int pageId, String problem, @Nullable Throwable cause) {
    return judge.damage(pageId, problem, cause);
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
   * Says what pages lack since a crash: each is redone when it is brought into memory. To be called
   * before a page is read; and with {@link PendingRedo#NONE} when no page is pending any more.
   */
  public void redoOnDemand(PendingRedo lacking) {
    loader.redoOnDemand(lacking);
  }

  /**
   * Says what a former life is known to have written: a page that is older when it is read is an
   * error. To be called before the page is read.
   *
   * @param lsn of an image that was written and forced
   */
  public void wasFlushed(int pageId, long lsn) {
    flushedLsns.set(pageId, lsn);
  }

  /**
   * Says what a former life has refused. To be called before the page is read, and after {@link
   * #wasFlushed}, which takes a page for written.
   *
   * @param lsn which the page has at least if it is good
   */
  public void wasRefused(int pageId, long lsn) {
    flushedLsns.inherit(pageId, lsn);
  }

  /**
   * The pages that were refused, because the data file has not what was written last, and that were
   * not written since.
   *
   * @return each with the LSN that it has at least if it is good
   */
  public List<RefusedPage> refusedPages() {
    return flushedLsns.refused();
  }

  /**
   * Brings old changes to the data file: on return every page that was marked dirty with an LSN
   * below this is written and forced.
   *
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
   * Has the data file made larger soon, if there is room, so that {@link #extendTo} need not be
   * waited for.
   *
   * @param pages number of pages
   */
  public void extendAhead(int pages) {
    writer.growAheadTo(Integer.toUnsignedLong(pages));
  }

  /**
   * Cuts the data file, which may come back as it was after a crash. No page behind the new end may
   * be in use, nor come into use before this returns; what was written of them must not be needed
   * by a restart.
   *
   * @param pages number of pages that stay
   * @return false if a page behind the new end is waiting to be written: then nothing was cut
   */
  public boolean cutTo(int pages) {
    return writer.cutTo(pages);
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
    return counters.statistics(frames, clock, writer, /* contents= */ true);
  }

  /**
   * What the pool has done, without a look at what is in it: cheap, however large it is.
   *
   * @return as {@link #statistics}, but resident and dirty pages of each class are 0
   */
  public BufferStatistics statisticsOfWork() {
    return counters.statistics(frames, clock, writer, /* contents= */ false);
  }

  /**
   * Ends the pool's threads and gives its memory back. Nothing is written: who wants the changes in
   * the file calls {@link #flushDirtyBefore} first. No page may be fixed.
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
