package org.revenantdb.recovery.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.file.LsnWaiters;
import org.revenantdb.recovery.file.MappingFault;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.segment.Segment;
import org.revenantdb.recovery.segment.SegmentDirectory;
import org.revenantdb.recovery.segment.SegmentMap;
import org.revenantdb.recovery.segment.SegmentPlace;
import org.revenantdb.recovery.segment.SegmentSupply;

/**
 * The log of one life of a database. {@link #publish} adds a record, which is durable when {@link
 * #awaitDurable} returns.
 *
 * <p>An LSN is a position in an endless sequence of bytes; the LSN of a record is the position
 * after its last byte (R11).
 *
 * <p>Threads: any number of threads at once, virtual ones too. {@code publish} waits only for room
 * in the ring, which the writer thread makes without needing any latch. {@code awaitDurable} waits
 * for the disk. An interrupt ends neither wait; the interrupt status stays set.
 *
 * <p>Failure: a failed write or force stops the log for good. Threads that wait then, or ask later
 * about a record that is not known to be durable, receive {@link DurabilityUnknownException}. Later
 * calls of {@code publish} throw {@link LogStoppedException}. Both have the cause.
 *
 * {@snippet :
 * long lsn = log.publish(builder.begin(RecordType.COMMIT, transactionId));
 * log.awaitDurable(lsn);
 * }
 */
public final class Log implements AutoCloseable {
  /*
   * Source      docs/protocols.md §1; the protocol of the ring is in LogBuffer, the writer's in LogWriter.
   *
   * State       running -> stopped (failure set) | closing (no failure) -> closed; all by adding STOPPED to the tail,
   *             once. A reservation at or above STOPPED has reserved nothing.
   *
   * publish     1 record padded, length checked (all that can fail)
   *             2 reserve                    a Throwable from here on: PAD in the same place, or stop (R18)
   *             3 wait for room
   *             4 LSN, durable LSN, life, CRC; copy; publish
   *             5 wake the writer if the ring fills   nothing can be thrown any more
   *
   * Invariants  I1 the tail is a record boundary at all times, so it may serve as a redo point.
   *             I2 the ring goes back to the pool only after everything reserved was published and written. No
   *             reservation can follow, so no thread writes into a ring that has a new owner.
   *
   * Ordering    setFlushWish (CAS) -> writer.sleeping (volatile read); the writer sets `sleeping`, then reads the
   *             wish: one of them sees the other, so the writer never sleeps while there is a wish. The same holds
   *             for the tail (getAndAdd), the deadline (CAS) and the wish for a ring in a file (CAS).
   */

  private static final VarHandle FLUSH_WISH;
  private static final VarHandle FAILURE;
  private static final VarHandle STOPPING;
  private static final VarHandle SPINNER;
  private static final VarHandle RING_STATE;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      FLUSH_WISH = lookup.findVarHandle(Log.class, "flushWish", long.class);
      FAILURE = lookup.findVarHandle(Log.class, "failure", Throwable.class);
      SPINNER = lookup.findVarHandle(Log.class, "spinner", boolean.class);
      RING_STATE = lookup.findVarHandle(Log.class, "ringState", RingState.class);
      STOPPING = lookup.findVarHandle(Log.class, "stopping", boolean.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** The field has sixteen bits. */
  private static final int MOST_AHEAD = 0xFFFF;

  /** A committer naps while a record before its own is not published, each time twice as long. */
  private static final long SHORTEST_NAP = TimeUnit.MICROSECONDS.toNanos(20);

  private static final long LONGEST_NAP = TimeUnit.MILLISECONDS.toNanos(1);

  /** No thread spins for a force that takes longer. */
  private static final long LONGEST_SPIN = TimeUnit.MICROSECONDS.toNanos(500);

  /**
   * Threads that have waited for room go on when this part of the ring is free. It always becomes
   * free: everything before the first waiter's record is published, so the writer gets as far as
   * the beginning of that record, and a record is at most an eighth of the ring.
   */
  private static final int SPARE = 4;

  private final LogBuffer buffer;

  /** Where the ring is. */
  private enum RingState {
    /** In memory: there was no lazy commit yet. */
    MEMORY,
    /** In memory: the writer is to move it. */
    WANTED,
    /** In memory, and stays there: the file system cannot map files, or the options want it so. */
    STAYS,
    /** In memory: the file could not be made. It is tried again after a while. */
    REFUSED,
    /** The ring is in a file. */
    FILE
  }

  private final LifeStart start;
  private final LogOptions options;
  private volatile RingState ringState = RingState.MEMORY;

  /** When the file is tried again, if it was refused. */
  private final RingRetry retry = new RingRetry();

  /** The file in which the ring is; null if it is in memory. */
  private volatile @Nullable RingFile ringFile;

  private final SegmentSupply supply;
  private final LogWriter writer;
  private final FileThread thread;
  private final LogWaits waits;
  private final int life;
  private final int segmentSize;
  private final int maxRecord;
  private final LazyDeadline lazyDeadline = new LazyDeadline();
  private final LsnWaiters durableWaiters = new LsnWaiters();
  private final LsnWaiters spaceWaiters = new LsnWaiters();
  private final LongPredicate durableReached = this::isDurableOrStopped;
  private final LongPredicate roomReached = this::hasRoomOrStopped;

  private volatile long flushWish;

  private volatile @Nullable Throwable failure;

  private volatile boolean stopping;

  /** Whether a thread spins; one at a time. */
  @SuppressWarnings("UnusedVariable") // through SPINNER
  private volatile boolean spinner;

  private volatile long finalTail = Long.MAX_VALUE;

  /** Tests replace it before they publish. */
  LogSteps steps = LogSteps.NONE;

  private boolean closed;

  /** Whether both control slots durably name the end of this log. */
  private volatile boolean cleanEnd;

  private Log(LifeStart start, SegmentSupply supply, Segment first, LogOptions options) {
    this.start = start;
    this.options = options;
    this.supply = supply;
    life = start.life();
    waits = options.waits();
    segmentSize = options.segmentSize();
    maxRecord = options.maxRecord();
    buffer = new LogBuffer(RingPool.take(options.bufferCapacity()), start.firstLsn());
    flushWish = start.firstLsn();
    writer = new LogWriter(this, buffer, supply, first, options);
    thread = FileThread.of(options.threadName() + "-log", writer, this::fail, writer::closeFiles);
  }

  /**
   * Starts the log of a new life; its first segment is durable on return. A life that follows
   * another begins with a LIFE record. It is not forced: everything that can depend on it comes
   * after it in the log.
   *
   * @param start the data about former lives
   * @param options the options of the log
   * @return the running log
   */
  public static Log start(LifeStart start, LogOptions options) {
    SegmentDirectory directory =
        new SegmentDirectory(
            start.directory(),
            start.databaseId(),
            options.segmentSize(),
            options.statistics(),
            options.ownership());
    SegmentSupply supply =
        new SegmentSupply(
            directory,
            SegmentMap.of(start.present()),
            start.life(),
            options.bufferCapacity(),
            options.maxLogSize(),
            options.threadName() + "-log-ahead");
    supply.addFree(start.freeAtOnce());
    Segment first =
        supply.first(new SegmentPlace(start.firstLsn(), start.firstSize()), start.formerEnd());
    supply.addFree(start.freeLater());
    supply.trim();
    Log log = started(start, supply, first, options);
    if (start.formerLife() != 0) {
      RecordBuilder record = new RecordBuilder().begin(RecordType.LIFE, /* transactionId= */ 0);
      record.putLong(start.formerEnd());
      record.putInt(start.formerLife());
      log.publish(record);
    }
    return log;
  }

  /** The first segment is durable: now the ring of the former life is not needed any more (§46). */
  private static Log started(
      LifeStart start, SegmentSupply supply, Segment first, LogOptions options) {
    try {
      RingFile.deleteFormer(start.directory(), options);
      Log log = new Log(start, supply, first, options);
      log.thread.start();
      return log;
    } catch (Throwable failed) {
      try {
        first.file().close();
        supply.close();
      } catch (RuntimeException second) {
        failed.addSuppressed(second);
      }
      throw failed;
    }
  }

  /**
   * The end of the reserved part of the log; always the end of a record.
   *
   * @return the LSN of the last record, or the position where the first one will begin
   */
  public long tail() {
    long tail = buffer.tailVolatile();
    return tail >= LogBuffer.STOPPED ? finalTail() : tail;
  }

  /**
   * The end of the part that is known to be durable.
   *
   * @return the LSN of the last record that no crash can undo
   */
  public long durableLsn() {
    return buffer.durableVolatile();
  }

  /**
   * The life of this log.
   *
   * @return how often the database has been opened for writing
   */
  public int life() {
    return life;
  }

  /**
   * The full size of its files.
   *
   * @return bytes of a segment; those that a log begins with may be smaller
   */
  public int segmentSize() {
    return segmentSize;
  }

  /**
   * The longest record that this log takes.
   *
   * @return bytes, header and padding included
   */
  public int maxRecord() {
    return maxRecord;
  }

  /**
   * Adds a record to the log. On return it is visible to the writer, but not durable.
   *
   * @param record complete except for its padding; unchanged afterwards, so that its parts can be
   *     applied to the pages
   * @return the record's LSN
   * @throws LogStoppedException if the log has stopped; then nothing was published
   * @throws IllegalArgumentException if the record is longer than an eighth of the buffer
   */
  @SuppressWarnings("EmptyCatch")
  public long publish(RecordBuilder record) {
    int length = record.seal();
    if (length > maxRecord) {
      throw new IllegalArgumentException(
          "a log record of " + length + " bytes; this log takes at most " + maxRecord);
    }
    long start = buffer.reserve(length);
    if (start >= LogBuffer.STOPPED) {
      throw new LogStoppedException(failure);
    }
    long end = start + length;
    boolean copied = false;
    try {
      steps.at(LogSteps.Step.RESERVED);
      if (!buffer.hasRoomUpTo(end)) {
        awaitRoom(end);
      }
      record.stamp(length, end, durableLsn(), life, ahead(start));
      copy(start, record, length);
      copied = true;
      steps.at(LogSteps.Step.COPIED);
      buffer.publishRelease(start, end);
    } catch (LogStoppedException stopped) {
      throw stopped;
    } catch (Throwable thrown) {
      notPublished(start, length, copied, thrown);
      throw thrown;
    }
    try {
      wakeWriterOfFullRing(end);
    } catch (Throwable notWoken) {
      // The record is published, but after an exception the caller would believe that it is
      // not. There is no stack or memory left for an unpark, or for the call. The writer
      // checks by itself within a second, and any thread that waits for room or for durability
      // wakes it before.
    }
    return end;
  }

  private void wakeWriterOfFullRing(long end) {
    if (end - buffer.writtenAcquire() > buffer.capacity() / 2) {
      steps.at(LogSteps.Step.BEFORE_WAKE);
      writer.wake(thread);
    }
  }

  private void awaitRoom(long end) {
    @Nullable Object begun = waits.room().begin();
    try {
      writer.wake(thread);
      spaceWaiters.await(end, roomReached);
    } finally {
      waits.room().end(begun);
    }
    if (!buffer.hasRoomUpTo(end)) {
      throw new LogStoppedException(failure);
    }
  }

  /** Demands some spare room, so that not every written chunk wakes a thread. */
  private boolean hasRoomOrStopped(long end) {
    return buffer.hasRoomUpTo(end + buffer.capacity() / SPARE) || failure != null;
  }

  /** How far from a position on there are segments, as a record says it. */
  private int ahead(long start) {
    long ahead = (supply.preparedEnd() - start) / LogRecordLayout.AHEAD_UNIT;
    return (int) Math.max(0, Math.min(MOST_AHEAD, ahead));
  }

  /**
   * Keeps others from waiting for a record that failed. A whole record in a ring that outlives the
   * process may be found by a restart, even after a PAD took its place, if the power is cut (§46).
   * Then no later record may follow, so the log stops.
   */
  private void notPublished(long start, int length, boolean copied, Throwable thrown) {
    if (ringFile == null) { // the ring is not moved while this place is not published
      publishPad(start, length, thrown);
    } else if (stopping && thrown instanceof IllegalStateException) {
      throw new LogStoppedException(failure); // the ring was unmapped
    } else if (copied || thrown instanceof InternalError) {
      fail(thrown);
    } else {
      publishPad(start, length, thrown);
    }
  }

  /** Copies a record to its place. What a mapped file has not taken must not be published. */
  private void copy(long start, RecordBuilder record, int length) {
    buffer.copy(start, record.array(), length);
    if (ringFile != null) {
      MappingFault.await();
    }
  }

  /**
   * Waits until all records before a position are published, in a ring that outlives the process or
   * in a segment. Then a killed process leaves all of them. The first call moves the ring into a
   * file. If the file system cannot map files, there is nothing to wait for. If the file cannot be
   * made for another reason, the call waits until the log is durable, and so it does while the log
   * is closed.
   *
   * <p>The wait is short: a thread that has reserved a place copies its record, and waits at most
   * for room.
   *
   * @param lsn the LSN of a published record
   * @throws DurabilityUnknownException if the log has failed and a killed process might not leave
   *     all of them
   */
  public void awaitUnbroken(long lsn) {
    RingState state = ringState;
    if (state != RingState.FILE) {
      state = awaitRing();
    }
    switch (state) {
      case FILE -> awaitFilled(lsn);
      case REFUSED -> {
        requestFlush(lsn);
        awaitDurableUnasked(lsn);
      }
      case MEMORY, WANTED -> awaitDurableUnasked(lsn); // a close forces it, a failure refuses it
      case STAYS -> {
        // The log cannot do better.
      }
    }
  }

  private void awaitFilled(long lsn) {
    long nap = SHORTEST_NAP;
    for (int looks = 0; !buffer.isUnbrokenUpTo(lsn); looks++) {
      if (failure != null) {
        throwUnlessThere(lsn);
        return;
      }
      if (looks < Spinning.LOOKS) {
        Thread.onSpinWait();
      } else {
        Parking.parkNanos(this, nap);
        nap = Math.min(2 * nap, LONGEST_NAP);
      }
    }
  }

  /** After a failure a place may stay empty for ever. */
  private void throwUnlessThere(long lsn) {
    if (!buffer.isUnbrokenUpTo(lsn) && durableLsn() < lsn) {
      throw new DurabilityUnknownException(lsn, failure);
    }
  }

  /** Has the ring moved, and returns what became of it. */
  private RingState awaitRing() {
    RingState state = ringState;
    long nap = SHORTEST_NAP;
    while (!stopping && isToBeMoved(state)) {
      if (state == RingState.WANTED || RING_STATE.compareAndSet(this, state, RingState.WANTED)) {
        writer.wake(thread);
        Parking.parkNanos(this, nap);
        nap = Math.min(2 * nap, LONGEST_NAP);
      }
      state = ringState;
    }
    return state;
  }

  private boolean isToBeMoved(RingState state) {
    return switch (state) {
      case MEMORY, WANTED -> true;
      case REFUSED -> retry.isDue(System.nanoTime());
      case STAYS, FILE -> false;
    };
  }

  boolean isRingFileWanted() {
    return ringState == RingState.WANTED;
  }

  /**
   * Makes the file of the ring.
   *
   * @param segment a file of the same file system, open
   * @return null if there is none; what is to become of the ring is known then
   */
  @Nullable RingFile makeRingFile(StorageFile segment) {
    try {
      @Nullable RingFile file = RingFile.create(start, segment, options);
      if (file == null) {
        ringState = RingState.STAYS;
      }
      return file;
    } catch (FileException refused) {
      retry.refused(System.nanoTime());
      ringState = RingState.REFUSED;
      return null;
    }
  }

  /** The ring is in a file, and reservations are still paused. */
  void ringMoved(RingFile file) {
    ringFile = file;
    ringState = RingState.FILE;
  }

  /**
   * Whether what was published outlives the process.
   *
   * @return true if the ring is in a file
   */
  public boolean isRingInFile() {
    return ringFile != null;
  }

  /** Fills the place of a failed record, or stops the log: a hole would block all other threads. */
  private void publishPad(long start, int length, Throwable thrown) {
    try {
      steps.at(LogSteps.Step.BEFORE_PAD);
      RecordBuilder pad = new RecordBuilder().begin(RecordType.PAD, /* transactionId= */ 0);
      byte[] zeros = new byte[length - pad.position()];
      pad.putBytes(zeros, 0, zeros.length);
      pad.seal();
      long end = start + length;
      if (!buffer.hasRoomUpTo(end)) {
        awaitRoom(end);
      }
      pad.stamp(length, end, durableLsn(), life, ahead(start));
      copy(start, pad, length);
      buffer.publishRelease(start, end);
    } catch (Throwable second) {
      if (!second.equals(thrown)) {
        thrown.addSuppressed(second);
      }
      fail(thrown);
    }
  }

  /**
   * Waits until the log is durable up to a position, and makes the writer force it.
   *
   * @param lsn the LSN of a published record
   * @throws DurabilityUnknownException if the log has stopped and the record is not known to be
   *     durable
   */
  public void awaitDurable(long lsn) {
    if (durableLsn() >= lsn) {
      return;
    }
    @Nullable Object begun = waits.force().begin();
    try {
      requestFlush(lsn);
      awaitDurableUnasked(lsn);
    } finally {
      waits.force().end(begun);
    }
  }

  /**
   * Waits until the log is durable up to a position, without a request for a force. So it waits
   * until the log is forced for another reason. The wait is not reported to a meter.
   *
   * @param lsn the LSN of a published record
   * @throws DurabilityUnknownException if the log has stopped and the record is not known to be
   *     durable
   */
  public void awaitDurableUnasked(long lsn) {
    if (!spinUntilDurable(lsn)) {
      durableWaiters.await(lsn, durableReached);
    }
    if (durableLsn() < lsn) {
      throw new DurabilityUnknownException(lsn, failure);
    }
  }

  /**
   * Spins for a force that is on its way, if forces are quick, no other thread waits, and a
   * processor is left for the writer. Returns whether there is nothing to wait for any more.
   */
  private boolean spinUntilDurable(long lsn) {
    long expected = 2 * writer.forceNanos();
    if (!Spinning.OTHERS_RUN
        || expected > LONGEST_SPIN
        || lsn > flushWish
        || !durableWaiters.isEmpty()
        || Thread.currentThread().isVirtual()
        || !SPINNER.compareAndSet(this, false, true)) {
      return false;
    }
    try {
      long start = System.nanoTime();
      do {
        for (int i = 0; i < Spinning.LOOKS; i++) {
          if (isDurableOrStopped(lsn)) {
            return true;
          }
          Thread.onSpinWait();
        }
      } while (durableWaiters.isEmpty() && System.nanoTime() - start < expected);
      return false;
    } finally {
      spinner = false;
    }
  }

  private boolean isDurableOrStopped(long lsn) {
    return durableLsn() >= lsn || failure != null;
  }

  /**
   * Requests a force of the log up to a position, without waiting for it.
   *
   * @param lsn a position; one beyond the tail counts as the tail
   */
  public void requestFlush(long lsn) {
    long wish = Math.min(lsn, tail());
    raiseFlushWish(wish);
    if (durableLsn() < wish) {
      writer.wake(thread);
    }
  }

  private void raiseFlushWish(long wish) {
    long old = flushWish;
    while (old < wish && !FLUSH_WISH.compareAndSet(this, old, wish)) {
      old = flushWish;
    }
  }

  /**
   * Requests a force of the log up to a position within a time, together with everything that is
   * published until then. A force that is made for others meanwhile satisfies the request.
   *
   * @param lsn the LSN of a published record
   * @param nanos how long it may take
   */
  public void requestFlushWithin(long lsn, long nanos) {
    if (durableLsn() >= lsn) {
      return;
    }
    if (lazyDeadline.request(nanos, System::nanoTime)) {
      writer.wake(thread); // the thread then sleeps only until the deadline
    }
  }

  long flushWish() {
    return flushWish;
  }

  /** How long the writer may sleep before a force is due, at most the time given. */
  long untilLazyDeadline(long longest) {
    return lazyDeadline.left(System.nanoTime(), longest);
  }

  /**
   * Called by the writer before a force, which includes the lazy records. Returns how far the force
   * has to go.
   */
  long takeLazy() {
    if (lazyDeadline.take()) {
      raiseFlushWish(tail());
    }
    return flushWish;
  }

  /** The end of the last record of a log that accepts no more records. */
  long finalTail() {
    while (finalTail == Long.MAX_VALUE) {
      Thread.onSpinWait(); // between two neighbouring stores of stop()
    }
    return finalTail;
  }

  void wakeWriter() {
    writer.wake(thread);
  }

  void spaceFreed() {
    spaceWaiters.wake(roomReached);
  }

  void durableRaised() {
    durableWaiters.wake(durableReached);
  }

  /**
   * Why the log has stopped.
   *
   * @return the cause; null while it works and after an orderly close
   */
  public @Nullable Throwable failure() {
    return failure;
  }

  /**
   * Stops the log for good. Nothing more becomes durable; present waiters and later callers receive
   * an exception. The first cause counts.
   *
   * @param cause why
   */
  public void fail(Throwable cause) {
    if (!FAILURE.compareAndSet(this, null, cause)) {
      return;
    }
    try {
      stop();
    } finally {
      try {
        durableWaiters.wake(durableReached);
      } finally {
        try {
          spaceWaiters.wake(roomReached);
        } finally {
          writer.wake(thread);
        }
      }
    }
  }

  private void stop() {
    if (STOPPING.compareAndSet(this, false, true)) {
      finalTail = buffer.stop();
    }
  }

  /**
   * Waits until the files exist that the log needs up to a position; makes them if necessary.
   *
   * <p>The caller must hold no latch: the method may wait for the disk.
   *
   * @param lsn the position
   * @throws org.revenantdb.recovery.file.DiskFullException if there is no room for them; the log
   *     continues as before
   * @throws LogStoppedException if the log has stopped
   */
  public void ensureSegments(long lsn) {
    if (supply.preparedEnd() <= lsn) {
      if (stopping) {
        throw new LogStoppedException(failure);
      }
      @Nullable Object begun = waits.file().begin();
      try {
        supply.ensure(lsn);
      } finally {
        waits.file().end(begun);
      }
    }
  }

  /** Whether the files exist that the log needs up to a position. Does not wait. */
  boolean hasSegments(long lsn) {
    return supply.preparedEnd() > lsn;
  }

  /**
   * Releases the segments that lie completely below a position; they may be reused at once.
   *
   * @param lsn the redo point of a checkpoint whose control slot is durable
   */
  public void recycleBelow(long lsn) {
    if (supply.recycleBelow(lsn)) {
      writer.wake(thread); // the writer deletes surplus segments
    }
  }

  /**
   * Called when both control slots durably name the end of this log, and nothing follows. Then the
   * close deletes free segments, and those that were made ahead.
   */
  public void endsCleanly() {
    cleanEnd = true;
  }

  /** The segments, for a copy of the log. */
  SegmentSupply segments() {
    return supply;
  }

  /**
   * Returns where this life begins.
   *
   * @return its first LSN
   */
  public long lifeBegin() {
    return start.firstLsn();
  }

  /** How this life has begun. */
  LifeStart lifeStart() {
    return start;
  }

  /**
   * Size of all files in the log directory.
   *
   * @return bytes, spare and prepared segments included
   */
  public long bytesInDirectory() {
    return supply.bytes();
  }

  /**
   * Writes and forces all published records, and ends the log's threads. After a failure it only
   * ends the threads.
   *
   * @throws LogStoppedException if the published records could not be made durable
   */
  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    stop();
    writer.wake(thread);
    @Nullable RingFile file = null;
    try {
      thread.join();
    } finally {
      file = ringFile; // the writer has ended
      if (file != null) {
        file.unmap();
      }
    }
    @Nullable Throwable cause = failure;
    if (cause != null) {
      throw new LogStoppedException(cause);
    }
    if (file == null) {
      RingPool.giveBack(buffer.ring());
    } else {
      file.delete();
    }
    if (cleanEnd) {
      supply.deleteUnneeded(finalTail);
    }
  }
}
