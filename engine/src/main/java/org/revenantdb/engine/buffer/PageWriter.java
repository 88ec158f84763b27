package org.revenantdb.engine.buffer;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.Tally;
import org.revenantdb.recovery.file.DiskFullException;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.Errand;
import org.revenantdb.recovery.file.ErrandQueue;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The only thread that writes data pages and enlarges the data file.
 *
 * <p>It is started with its first task. It writes for three reasons, in this order of urgency: the
 * file has to grow; clean frames run short; a checkpoint needs all older changes in the file.
 *
 * <p>Failure: a batch that could not be written stops the engine ({@link WriteAhead#fail}), because
 * the content of the file is then unknown. Every thread that waits for this thread gets the
 * failure, then and later. A growth that finds the disk full fails for its caller and changes
 * nothing.
 */
final class PageWriter implements AutoCloseable {
  /*
   * A batch     1 up to 128 dirty frames to guard, and for a checkpoint up to 512 in all, are chosen
   *             and sorted by page id.
   *             2 Each is latched shared by a *try*, copied, marked as being written, unlatched.
   *             3 Wait until the log is durable up to the highest page LSN of the copies.
   *             4 Checksums over the copies. 5 The copies go to the double-write file, forced,
   *             except those of pages that were formatted since they were clean (protocols.md §58).
   *             6 Copies to the data file, forced. 7 The batch is confirmed.
   *             8 The account is informed, which writes FLUSHED if there is space, and waits for
   *             none. This comes before 9, so that a close which finds no dirty page also finds the
   *             log at rest.
   *             9 The LSN of each image is noted, so that its loss is detected, and for its extent
   *             (protocols.md §56); flushing := 0; waiters are woken.
   *             If the disk is full, so that the double-write file cannot grow, 5 to 7 are done for
   *             one part of the copies after the other.
   *             A crash before 5 ends finds the data file unchanged. In 6 the batch repairs every
   *             torn page that it has, and redo builds the others; after 6 it is not needed. One batch at a time, because two would need
   *             two places in the double-write file.
   *
   * Ordering    In step 2, under the shared latch: flushing := firstLsn, *then* firstLsn := 0 (both volatile).
   *             The checkpoint reads firstLsn and *then* flushing of a frame. If it finds firstLsn
   *             == 0 because of this move, flushing was set before. It then sees that value, or the
   *             0 of step 9, and in that case the change is in the file. In any other order (clear
   *             first; or read flushing first) there is a moment in which a change is in neither,
   *             and the redo point would move past it.
   *             The mover holds the latch shared, and a thread that marks a page dirty holds it
   *             exclusively. So no mark is cleared that was made after the copy. A frame that is
   *             dirtied again after step 2 has both values.
   *             Space maps are changed by holders of the shared latch, so the mover takes it
   *             exclusively. Then all whose records are in the log have made their changes and
   *             raised the LSN (protocols.md §19).
   *
   * Latches     This thread never waits for a latch, except for a moment for a space map, because
   *             new holders might share it forever. The holder of a latch may be waiting for a
   *             frame or for the file to grow, and so for this thread. A latched frame is left out
   *             and tried again in the next round; if a round writes nothing, the thread pauses. In
   *             each round growth and frame waiters come first.
   *
   * Clean       Frames are cleaned before they are needed, for one of two reasons: more than 7/8 of
   *             the frames are dirty (then down to 3/4); or eviction has passed many frames only
   *             because they were dirty (one batch). Cold frames ahead of the hand come first,
   *             because a warm one will be changed again and would be written twice. Warm ones are
   *             written only while too many are dirty or a thread waits. So a caller waits for a
   *             frame only if the last eighth becomes dirty in the time of a batch.
   *
   * Soon        Pages that nobody will change soon, the full leaves of a bulk load, are written when
   *             there are enough for a large batch. So the checkpoint, for which writers may wait,
   *             finds them written. This is a hint: a page that is latched, or for which there is no
   *             room in the queue, is left to the checkpoint.
   *
   * Memory      A round that meets an OutOfMemoryError ends, and the next one repeats it, unless
   *             `halfDone` is set. May be repeated:
   *               choosing frames   only reads; the next choice overwrites the batch
   *               memory for copies a large batch becomes a small one instead, and the rest stays
   *                                 dirty
   *               step 3            only waits; it is repeated at its place
   *               growth            up to its force: the file may be longer than pagesInFile says,
   *                                 as after a crash; the task stays first, and the same zeros go
   *                                 to the same place
   *             Not repeated, so the engine stops:
   *               step 2            frames that have moved are only in the batch, and would never
   *                                 be written
   *               steps 5 to 7, the force of a growth, a cut   The error may have replaced an
   *                                 exception of the force, and a second force would then succeed
   *                                 although bytes are lost. And a batch that is written to the
   *                                 double-write file again while pages of the first attempt are
   *                                 torn leaves no copy that can repair them.
   *
   * Not written A frame whose latch is held exclusively all the time. Latches are held for the time
   *             of a change, so a repeated checkpoint round finds it free sooner or later.
   */
  static final int MAX_BATCH = DoubleWriteFile.MAX_PAGES;

  /** The most pages of a batch, with those that are not guarded: one force for four megabytes. */
  static final int LARGE_BATCH = 4 * MAX_BATCH;

  /** The most pages that wait to be written soon. */
  private static final int MAX_SOON = 4 * LARGE_BATCH;

  /** Stands for the page of a frame that holds none. */
  private static final int NO_PAGE = -1;

  private static final int PAGE_SIZE = BufferPool.PAGE_SIZE;

  /**
   * The memory for copies of batches: a megabyte for each pool that writes, kept for the next
   * pools.
   */
  private static final Slabs COPIES = new Slabs((long) MAX_BATCH * PAGE_SIZE, /* kept= */ 4);

  /** The memory for copies of large batches, for pools that have written one. */
  private static final Slabs LARGE_COPIES =
      new Slabs((long) LARGE_BATCH * PAGE_SIZE, /* kept= */ 2);

  private static final long SHORTEST_PAUSE = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

  /** The pause before a round that lacked memory is repeated. */
  private static final long WITHOUT_MEMORY = TimeUnit.MILLISECONDS.toNanos(20);

  /** While it waits this long for a space map, no thread joins the shared holders. */
  private static final long DRAIN = TimeUnit.MILLISECONDS.toNanos(2);

  /** A file with fewer pages doubles. */
  private static final int MIN_GROWTH = 128;

  private static final int MAX_GROWTH = 4096;

  /** A request that a thread waits for: the file to have a size, or old changes to be in it. */
  private static final class Task extends Errand {
    final long goal;

    /** For a growth: whether the file may become no larger than that. */
    private boolean exactly;

    /** Whether the file is to be cut, not enlarged. */
    final boolean cuts;

    private boolean hasCut;

    Task(long goal) {
      this(goal, /* cuts= */ false);
    }

    Task(long goal, boolean cuts) {
      this.goal = goal;
      this.cuts = cuts;
    }
  }

  private final StorageFile data;
  private final BatchGuard guard;
  private final WriteAhead log;
  private final PageAccount account;
  private final Frames frames;
  private final FlushedLsns flushedLsns;
  private final WrittenExtents extents = new WrittenExtents();
  private final Clock clock;
  private final FrameWaiters waiters;
  private final Steps steps;
  private final String name;

  private final AtomicInteger dirty = new AtomicInteger();
  private final int highDirty;
  private final int lowDirty;

  /**
   * Pages in a batch that is written for clean frames: few in a small pool, because otherwise all
   * threads would wait.
   */
  private final int cleanBatch;

  /** Pages in a large batch: a share of the pool, because none of them can be evicted meanwhile. */
  private final int mostInBatch;

  private final Tally pagesWritten = new Tally();
  private final Tally batches = new Tally();
  private volatile long pagesInFile;

  /** The size that was requested ahead of need; requested once for each size. */
  private volatile long ahead;

  private volatile @Nullable Throwable failure;

  private final PatientLock lock = new PatientLock();
  private final Condition work = lock.newCondition();
  private final ErrandQueue<Task> growths = new ErrandQueue<>();
  private final ErrandQueue<Task> flushes = new ErrandQueue<>();
  private volatile boolean cleaning;

  /** Pages to write soon, as entries: a ring, under the lock. */
  private final long[] soon = new long[MAX_SOON];

  private int firstSoon;
  private int manySoon;
  private boolean closed;
  private @Nullable FileThread thread;

  // Used only by the thread.
  private Slabs.@Nullable Slab copies;
  private Slabs.@Nullable Slab largeCopies;
  private final long[] batch = new long[LARGE_BATCH];
  private final long[] warmOnes = new long[MAX_BATCH];
  private final long[] rebuilt = new long[LARGE_BATCH];
  private final int[] batchPages = new int[LARGE_BATCH];
  private final int[] batchFrames = new int[LARGE_BATCH];
  private final long[] batchLsns = new long[LARGE_BATCH];
  private int unguarded;
  private long pause = SHORTEST_PAUSE;

  /** Whether the present step may not be repeated. */
  private boolean halfDone;

  PageWriter(
      StorageFile data,
      BatchGuard guard,
      WriteAhead log,
      PageAccount account,
      Frames frames,
      FlushedLsns flushedLsns,
      Clock clock,
      FrameWaiters waiters,
      Steps steps,
      String name) {
    this.data = data;
    this.guard = guard;
    this.log = log;
    this.account = account;
    this.frames = frames;
    this.flushedLsns = flushedLsns;
    this.clock = clock;
    this.waiters = waiters;
    this.steps = steps;
    this.name = name;
    this.highDirty = frames.capacity() - frames.capacity() / 8;
    this.lowDirty = frames.capacity() - frames.capacity() / 4;
    this.cleanBatch = Math.clamp(frames.capacity() / 4, 64, MAX_BATCH);
    this.mostInBatch = Math.clamp(frames.capacity() / 4, MAX_BATCH, LARGE_BATCH);
    this.pagesInFile = data.size() / PAGE_SIZE;
  }

  // ---- for callers

  /** A frame is now dirty. */
  void countDirty() {
    account.dirtied();
    if (dirty.incrementAndGet() > highDirty && !cleaning) {
      wantCleanFrames();
    }
  }

  /** A frame is not dirty any more, because its page was freed. */
  void countDiscarded() {
    dirty.decrementAndGet();
    account.discarded();
  }

  int dirty() {
    return dirty.get();
  }

  long pagesWritten() {
    return pagesWritten.sum();
  }

  long batches() {
    return batches.sum();
  }

  long pagesInFile() {
    return pagesInFile;
  }

  /** What was written where. */
  WrittenExtents extents() {
    return extents;
  }

  /** Requests clean frames if eviction has passed too many dirty ones; does not wait. */
  void keepUp() {
    if (!cleaning && clock.passedDirty() > cleanBatch / 4) {
      wantCleanFrames();
    }
  }

  /** Requests clean frames; does not wait. */
  void wantCleanFrames() {
    lock.lock();
    try {
      if (!closed && failure == null) {
        cleaning = true;
        wakeThread();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Requests that pages are written when there are enough of them; does not wait. This is a hint,
   * so a lack of memory is no failure: the caller has published its changes already.
   *
   * @param pageIds pages that are expected not to change soon
   * @param inFrames their frames
   * @param from the index of the first one
   * @param to the index behind the last one
   */
  void writeSoon(int[] pageIds, int[] inFrames, int from, int to) {
    try {
      takeHint(pageIds, inFrames, from, to);
    } catch (OutOfMemoryError notNow) {
      // A later request, or a checkpoint, starts the thread.
    }
  }

  private void takeHint(int[] pageIds, int[] inFrames, int from, int to) {
    lock.lock();
    try {
      for (int i = from; i < to && manySoon < MAX_SOON; i++) {
        soon[(firstSoon + manySoon++) % MAX_SOON] = (long) pageIds[i] << 32 | inFrames[i];
      }
      if (manySoon >= mostInBatch && !closed && failure == null) {
        wakeThread();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Throws if this thread has stopped. */
  void checkRunning() {
    Throwable cause = failure;
    if (cause != null) {
      throw stopped(cause);
    }
  }

  /** Waits until the file has at least this many pages. */
  void growTo(long pages) {
    if (pages > pagesInFile) {
      perform(growths, new Task(pages));
    }
  }

  /**
   * Requests that the file is enlarged soon. A failure is reported to the thread that needs the
   * space.
   */
  void growAheadTo(long pages) {
    if (pages <= ahead || pages <= pagesInFile) {
      return;
    }
    lock.lock();
    try {
      if (pages > ahead && !closed && failure == null) {
        Task task = new Task(pages);
        task.exactly = true;
        wakeThread();
        ahead = pages;
        growths.push(task);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * The number of pages that the file has, or will have when all requests that wait are served. A
   * growth that has failed does not count.
   */
  long pagesSoon() {
    lock.lock();
    try {
      long pages = pagesInFile;
      for (Task task = growths.first(); task != null; task = growths.after(task)) {
        pages = task.cuts ? pages : Math.max(pages, task.goal);
      }
      return pages;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the file has at most this many pages; false if it could not be cut. */
  boolean cutTo(long pages) {
    Task task = new Task(pages, /* cuts= */ true);
    perform(growths, task);
    return task.hasCut;
  }

  /** Waits until all changes first made before an LSN are in the file, forced. */
  void flushBefore(long lsn) {
    if (!isClosed() && frames.oldestLsn(Steps.NONE) >= lsn) {
      checkRunning();
      return; // a checkpoint of an idle database need not wake the thread
    }
    perform(flushes, new Task(lsn));
  }

  private void perform(ErrandQueue<Task> tasks, Task task) {
    lock.lock();
    try {
      checkRunning();
      if (closed) {
        throw new PoolClosedException();
      }
      wakeThread();
      tasks.push(task);
    } finally {
      lock.unlock();
    }
    Throwable cause = task.await();
    if (cause instanceof DiskFullException || cause instanceof PoolClosedException) {
      throw Failures.rethrow(cause);
    }
    if (cause != null) {
      throw stopped(cause);
    }
  }

  private FileException stopped(Throwable cause) {
    String said = cause.getMessage();
    return new FileException(
        data.path(),
        FileException.NO_OFFSET,
        "writing pages has failed and the database has stopped ("
            + (said == null ? cause.getClass().getName() : said)
            + ")",
        "remove the cause and open the database again",
        cause);
  }

  /** With the lock held. */
  private void wakeThread() {
    if (thread == null) {
      steps.at(Steps.Step.ABOUT_TO_ALLOCATE, -1);
      FileThread starting = FileThread.of(name + "-page-writer", this::run, this::stop);
      starting.start();
      thread = starting;
    }
    work.signal();
  }

  /** Ends the thread after the present batch; other pages stay unwritten. */
  @Override
  public void close() {
    FileThread running;
    lock.lock();
    try {
      closed = true;
      work.signal();
      running = thread;
    } finally {
      lock.unlock();
    }
    if (running != null) {
      running.join();
    }
    if (copies != null) {
      COPIES.giveBack(copies);
      copies = null;
    }
    if (largeCopies != null) {
      LARGE_COPIES.giveBack(largeCopies);
      largeCopies = null;
    }
  }

  // ---- the thread

  private void run() {
    while (awaitWork()) {
      try {
        boolean progress = serveGrowths();
        progress |= cleanSome();
        progress |= flushSome();
        progress |= writeSome();
        rest(progress);
      } catch (OutOfMemoryError notNow) {
        pauseWithoutMemory(notNow);
      }
    }
    finishAll(new PoolClosedException());
  }

  /** Returns when the round may be repeated. */
  private void pauseWithoutMemory(OutOfMemoryError notNow) {
    if (halfDone || log.failure() != null) {
      throw notNow;
    }
    LockSupport.parkNanos(this, WITHOUT_MEMORY);
  }

  private boolean awaitWork() {
    lock.lock();
    try {
      while (!closed
          && !cleaning
          && growths.isEmpty()
          && flushes.isEmpty()
          && manySoon < mostInBatch) {
        work.awaitUninterruptibly();
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  /** After a round in which every frame that should be written was latched. */
  private void rest(boolean progress) {
    if (progress) {
      pause = SHORTEST_PAUSE;
      return;
    }
    LockSupport.parkNanos(this, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }

  /**
   * Marks this thread as stopped, then the log, then all waiting threads: each in any case, and
   * without allocation.
   */
  private void stop(Throwable cause) {
    lock.lock();
    try {
      failure = cause;
      cleaning = false;
    } finally {
      lock.unlock();
    }
    try {
      log.fail(cause);
    } finally {
      try {
        finishAll(cause);
      } finally {
        waiters.signal();
      }
    }
  }

  private void finishAll(Throwable cause) {
    lock.lock();
    try {
      growths.finishAll(cause);
      flushes.finishAll(cause);
    } finally {
      lock.unlock();
    }
  }

  // ---- growth

  /** Grows the file for all requests; returns whether there was any. */
  private boolean serveGrowths() {
    boolean any = false;
    for (Task task = firstGrowth(); task != null; task = firstGrowth()) {
      any = true;
      DiskFullException noRoom = null;
      try {
        if (task.cuts) {
          task.hasCut = cut(task.goal);
        } else {
          grow(task.goal, task.exactly);
        }
      } catch (DiskFullException full) {
        halfDone = false;
        noRoom = full;
      }
      endGrowth(noRoom);
    }
    return any;
  }

  /**
   * It stays in the queue while it is done, so that after a failure it is finished with the others.
   */
  private @Nullable Task firstGrowth() {
    lock.lock();
    try {
      return growths.first();
    } finally {
      lock.unlock();
    }
  }

  private void endGrowth(@Nullable DiskFullException noRoom) {
    lock.lock();
    try {
      Task first = growths.take();
      if (first != null) {
        first.finish(noRoom);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Grows by a share of the size, so that a growing file is seldom forced; by less if needed. */
  private void grow(long pages, boolean exactly) {
    long size = pagesInFile;
    if (pages <= size) {
      return;
    }
    long step = Math.clamp(size / 4, Math.min(size, MIN_GROWTH), MAX_GROWTH);
    long generous = exactly ? pages : size + step;
    try {
      fillUpTo(Math.max(pages, generous));
    } catch (DiskFullException full) {
      if (pages >= generous) {
        throw full;
      }
      fillUpTo(pages);
    }
  }

  private void fillUpTo(long pages) {
    data.preallocate(pagesInFile * PAGE_SIZE, pages * PAGE_SIZE);
    halfDone = true;
    data.force();
    pagesInFile = pages;
    halfDone = false;
  }

  /** Between two batches, so that no page is on its way to the file. */
  private boolean cut(long pages) {
    if (pages >= pagesInFile) {
      return true;
    }
    int used = frames.used();
    for (int frame = 0; frame < used; frame++) {
      Stay stay = frames.stayVolatile(frame);
      if (frames.isDirty(frame) && stay != null && stay.pageId() >= pages) {
        return false;
      }
    }
    halfDone = true;
    data.truncate(pages * PAGE_SIZE); // a crash can undo this, which only leaves the file longer
    flushedLsns.forget((int) pages, (int) pagesInFile);
    pagesInFile = pages;
    ahead = pages;
    halfDone = false;
    return true;
  }

  // ---- reasons to write

  /**
   * Writes a batch near the hand of the clock if frames run short; true unless all were latched.
   */
  private boolean cleanSome() {
    if (!cleaning) {
      return false;
    }
    clock.forgetPassedDirty();
    int n = chooseNearHand();
    int written = n == 0 ? 0 : write(n, Long.MAX_VALUE);
    if (dirty.get() <= lowDirty && !waiters.any()) {
      cleaning = false;
    }
    waiters.signal();
    return written > 0;
  }

  private int chooseNearHand() {
    int used = frames.used();
    int hand = clock.hand();
    int cold = 0;
    int warm = 0;
    for (int i = 0; i < used && cold < cleanBatch; i++) {
      int frame = (hand + i) % used;
      Stay stay = frames.stayVolatile(frame);
      if (frames.firstLsnVolatile(frame) == 0 || stay == null || stay.isExclusivelyHeld()) {
        continue;
      }
      if (stay.isCold()) {
        batch[cold++] = entry(frame);
      } else if (warm < cleanBatch) {
        warmOnes[warm++] = entry(frame);
      }
    }
    boolean runShort = dirty.get() > lowDirty || waiters.any();
    int added = runShort ? Math.min(warm, cleanBatch - cold) : 0;
    System.arraycopy(warmOnes, 0, batch, cold, added);
    return cold + added;
  }

  /** One pass over the frames for the checkpoint; true unless all selected frames were latched. */
  private boolean flushSome() {
    long goal = highestGoal();
    if (goal == Long.MIN_VALUE) {
      return false;
    }
    long[] old = dirtyBefore(goal);
    int written = 0;
    int from = 0;
    while (from < old.length && !isClosed()) {
      int n = largeBatch(old, from);
      System.arraycopy(old, from, batch, 0, n);
      written += write(n, goal);
      from += n;
      serveGrowths();
      cleanSome();
    }
    finishFlushes();
    return written > 0 || old.length == 0;
  }

  /** How many of some entries are one batch: as many as can be guarded, and others with them. */
  private int largeBatch(long[] entries, int from) {
    int most = Math.min(mostInBatch, entries.length - from);
    int guarded = 0;
    for (int n = 0; n < most; n++) {
      guarded += isFormatted(entries[from + n]) ? 0 : 1;
      if (guarded > MAX_BATCH) {
        return n;
      }
    }
    return most;
  }

  private boolean isFormatted(long entry) {
    Stay stay = frames.stayVolatile((int) entry);
    return stay != null && stay.isFormatted();
  }

  /** Writes a large batch of those that were to be written soon; true if that was any. */
  private boolean writeSome() {
    int n = takeSoon();
    return n > 0 && write(n, Long.MAX_VALUE) > 0;
  }

  private int takeSoon() {
    lock.lock();
    try {
      if (closed || manySoon < mostInBatch) {
        return 0;
      }
      for (int i = 0; i < mostInBatch; i++) {
        batch[i] = soon[(firstSoon + i) % MAX_SOON];
      }
      firstSoon = (firstSoon + mostInBatch) % MAX_SOON;
      manySoon -= mostInBatch;
      return mostInBatch;
    } finally {
      lock.unlock();
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  private long highestGoal() {
    lock.lock();
    try {
      long goal = Long.MIN_VALUE;
      for (Task task = flushes.first(); task != null; task = flushes.after(task)) {
        goal = Math.max(goal, task.goal);
      }
      return goal;
    } finally {
      lock.unlock();
    }
  }

  /** Between batches nothing is being written, so the first LSNs alone show what is old. */
  private void finishFlushes() {
    long oldest = frames.oldestLsn(Steps.NONE);
    lock.lock();
    try {
      flushes.finishIf(task -> oldest >= task.goal);
      forgetWritten();
    } finally {
      lock.unlock();
    }
  }

  /** Drops pages from those to write soon that need no write any more. With the lock held. */
  private void forgetWritten() {
    int kept = 0;
    for (int i = 0; i < manySoon; i++) {
      long entry = soon[(firstSoon + i) % MAX_SOON];
      if (frames.firstLsnVolatile((int) entry) != 0 && isInPlace(entry)) {
        soon[(firstSoon + kept++) % MAX_SOON] = entry;
      }
    }
    manySoon = kept;
  }

  /** The frames with a first LSN below the goal, as entries in the order of their pages. */
  private long[] dirtyBefore(long goal) {
    long[] found = new long[MAX_BATCH];
    int n = 0;
    int used = frames.used();
    for (int frame = 0; frame < used; frame++) {
      long first = frames.firstLsnVolatile(frame);
      if (first != 0 && first < goal) {
        if (n == found.length) {
          found = Arrays.copyOf(found, n * 2);
        }
        found[n++] = entry(frame);
      }
    }
    long[] entries = Arrays.copyOf(found, n);
    Arrays.sort(entries);
    return entries;
  }

  /** Page id and frame in one number that sorts by page. */
  private long entry(int frame) {
    Stay stay = frames.stayVolatile(frame);
    return (long) (stay == null ? NO_PAGE : stay.pageId()) << 32 | frame;
  }

  // ---- a batch

  /** Writes the first {@code entries} of the batch; returns how many were not latched. */
  private int write(int entries, long goal) {
    Arrays.sort(batch, 0, entries);
    int n = onceEach(entries);
    MemorySegment images = n > MAX_BATCH ? largeImages() : null;
    if (images == null) {
      n = Math.min(n, MAX_BATCH); // the others stay dirty, for another batch
      images = smallImages();
    }
    int toGuard = sortOut(n);
    halfDone = true;
    int copied = 0;
    int guarded = 0;
    long lsn = 0;
    int end = toGuard + unguarded;
    for (int i = 0; i < end; i++) {
      int page = (int) (batch[i] >> 32);
      int frame = (int) batch[i];
      MemorySegment copy = image(images, copied);
      if (copy(frame, page, goal, /* isGuarded= */ i < toGuard, copy)) {
        guarded += i < toGuard ? 1 : 0;
        batchPages[copied] = page;
        batchFrames[copied] = frame;
        batchLsns[copied] = PageHeaderLayout.pageLsn(copy);
        lsn = Math.max(lsn, batchLsns[copied++]);
        steps.at(Steps.Step.PAGE_COPIED, frame);
      }
    }
    if (copied > 0) {
      steps.at(Steps.Step.BATCH_COPIED, -1);
      writeCopies(images, guarded, copied, lsn);
      markWritten(copied);
    }
    halfDone = false;
    return copied;
  }

  /**
   * Drops entries of the sorted batch until each page has one; returns how many are left. The queue
   * of pages to write soon can have a page twice, or in two frames. A second copy in the same batch
   * would hide the first LSN of the first copy, and a batch of the double-write file must not name
   * a page twice.
   */
  private int onceEach(int entries) {
    int n = 0;
    for (int i = 0; i < entries; i++) {
      int page = (int) (batch[i] >> 32);
      if (page == NO_PAGE) {
        continue;
      }
      if (n == 0 || (int) (batch[n - 1] >> 32) != page) {
        batch[n++] = batch[i];
      } else if (isInPlace(batch[i])) {
        batch[n - 1] = batch[i];
      }
    }
    return n;
  }

  /** Whether the frame of an entry has its page; out of date a moment later. */
  private boolean isInPlace(long entry) {
    Stay stay = frames.stayVolatile((int) entry);
    return stay != null && stay.pageId() == (int) (entry >> 32);
  }

  /**
   * Moves pages that a restart would build from their FORMAT behind the others, each group in the
   * order of the pages; returns how many the others are, and sets `unguarded`. A page that is
   * formatted after this look is guarded without need. Pages that cannot be guarded in this batch
   * stay dirty for another one.
   */
  private int sortOut(int n) {
    int guarded = 0;
    int left = 0;
    for (int i = 0; i < n; i++) {
      if (isFormatted(batch[i])) {
        rebuilt[left++] = batch[i];
      } else if (guarded < MAX_BATCH) {
        batch[guarded++] = batch[i];
      }
    }
    System.arraycopy(rebuilt, 0, batch, guarded, left);
    unguarded = left;
    return guarded;
  }

  /**
   * Step 2 for one frame; false if it is latched or has nothing to write any more, or has to be
   * guarded and is not.
   */
  private boolean copy(int frame, int page, long goal, boolean isGuarded, MemorySegment target) {
    Stay stay = frames.stayVolatile(frame);
    if (stay == null) {
      return false;
    }
    boolean drained = isMap(stay);
    if (drained ? !stay.tryAcquireExclusive(DRAIN) : !tryLatch(stay)) {
      return false;
    }
    try {
      long first = frames.firstLsnVolatile(frame);
      boolean same = stay.pageId() == page && !stay.isObsolete();
      if (frames.flushingVolatile(frame) != 0) {
        return false; // its copy in this batch must be in the file first
      }
      if (!same || first == 0 || first >= goal || !(isGuarded || stay.isFormatted())) {
        return false;
      }
      target.copyFrom(frames.memory(frame));
      if (PageHeaderLayout.pageId(target) != page) {
        throw new IllegalStateException(
            "frame "
                + frame
                + " holds page "
                + page
                + ", but its bytes say page "
                + PageHeaderLayout.pageId(target));
      }
      frames.setFlushingVolatile(frame, first);
      steps.at(Steps.Step.FLUSHING_SET, frame);
      frames.setFirstLsnVolatile(frame, 0);
      stay.setFormatted(false); // what comes is not built from a FORMAT that the redo point passes
      return true;
    } finally {
      if (drained) {
        stay.releaseExclusiveUnmodified();
      } else {
        stay.releaseShared();
      }
    }
  }

  private static boolean isMap(Stay stay) {
    return Page.isChangedShared(Page.type(stay.page()));
  }

  /** Latches a page shared, unless it was made a space map while it was not latched. */
  private static boolean tryLatch(Stay stay) {
    if (!stay.tryAcquireShared()) {
      return false;
    }
    if (isMap(stay)) {
      stay.releaseShared();
      return false;
    }
    return true;
  }

  /** The first copies are guarded, the others are not. */
  private void writeCopies(MemorySegment images, int guarded, int n, long lsn) {
    // A change that failed half way stops the log before it releases the page's latch. The page
    // still has its former LSN, which is durable, but must not be written (R18).
    Throwable stopped = log.failure();
    if (stopped != null) {
      throw new LogStoppedException(stopped);
    }
    awaitDurable(lsn);
    steps.at(Steps.Step.LOG_DURABLE, -1);
    for (int i = guarded; i < n; i++) {
      PageChecksum.seal(image(images, i));
    }
    if (guarded == 0) {
      guard.leaveOut(batchPages, 0, n);
      writeInPlace(images, 0, n);
      data.force();
      steps.at(Steps.Step.PAGES_FORCED, -1);
      return;
    }
    int room = guard.roomFor(guarded);
    for (int from = 0; from < guarded; from += room) {
      int to = Math.min(guarded, from + room);
      writePart(images, from, to, to == guarded ? n : to);
    }
  }

  /**
   * Steps 5 to 7, mostly for all copies at once.
   *
   * @param to behind the last copy that is guarded
   * @param end behind the last copy
   */
  private void writePart(MemorySegment images, int from, int to, int end) {
    int n = to - from;
    int[] pages = from == 0 ? batchPages : Arrays.copyOfRange(batchPages, from, to);
    guard.write(pages, n, images.asSlice((long) from * PAGE_SIZE, (long) n * PAGE_SIZE));
    steps.at(Steps.Step.DOUBLE_WRITTEN, -1);
    writeInPlace(images, from, end);
    data.force();
    guard.confirm();
    steps.at(Steps.Step.PAGES_FORCED, -1);
  }

  /** Step 3: the batch is half done, so only the wait is repeated, not the round. */
  private void awaitDurable(long lsn) {
    while (true) {
      try {
        log.awaitDurable(lsn);
        return;
      } catch (OutOfMemoryError notNow) {
        if (log.failure() != null) {
          throw notNow;
        }
        LockSupport.parkNanos(this, WITHOUT_MEMORY);
      }
    }
  }

  /** Pages that follow each other in the file go in one write. */
  private void writeInPlace(MemorySegment images, int first, int end) {
    for (int from = first; from < end; ) {
      int to = from + 1;
      while (to < end && batchPages[to] == batchPages[to - 1] + 1) {
        to++;
      }
      data.write(
          (long) batchPages[from] * PAGE_SIZE,
          images.asSlice((long) from * PAGE_SIZE, (long) (to - from) * PAGE_SIZE));
      pagesInFile = Math.max(pagesInFile, batchPages[to - 1] + 1L);
      from = to;
    }
  }

  private void markWritten(int n) {
    for (int from = 0; from < n; from += MAX_BATCH) { // a record has no more
      int to = Math.min(n, from + MAX_BATCH);
      account.written(
          to - from,
          from == 0 ? batchPages : Arrays.copyOfRange(batchPages, from, to),
          from == 0 ? batchLsns : Arrays.copyOfRange(batchLsns, from, to));
    }
    WrittenExtents.beforeNotes();
    for (int i = 0; i < n; i++) {
      flushedLsns.set(batchPages[i], batchLsns[i]);
      extents.wrote(batchPages[i], batchLsns[i]);
      frames.setFlushingVolatile(batchFrames[i], 0);
      dirty.decrementAndGet();
    }
    pagesWritten.add(n);
    batches.increment();
    waiters.signal();
  }

  private static MemorySegment image(MemorySegment images, int i) {
    return images.asSlice((long) i * PAGE_SIZE, PAGE_SIZE);
  }

  /** The memory for a large batch; null if there is none now. */
  private @Nullable MemorySegment largeImages() {
    Slabs.Slab images = largeCopies;
    if (images == null) {
      try {
        steps.at(Steps.Step.ABOUT_TO_ALLOCATE, -1);
        images = LARGE_COPIES.take();
      } catch (OutOfMemoryError notNow) {
        return null; // the same batch, repeated, would lack it again
      }
      largeCopies = images;
    }
    return images.memory;
  }

  private MemorySegment smallImages() {
    Slabs.Slab images = copies;
    if (images == null) {
      images = COPIES.take();
      copies = images;
    }
    return images.memory;
  }
}
