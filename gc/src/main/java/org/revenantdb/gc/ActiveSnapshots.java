package org.revenantdb.gc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The snapshots that are open now: one padded slot for each, and nothing else that openers share.
 *
 * <p>Use it to find out which old versions nobody can need any more: those that were superseded at
 * or before the {@link #horizon}, or, finer, those that {@link SnapshotSet#needs} does not need.
 *
 * <p>Time is a <em>clock</em> that the caller brings, always the same one: a number from 0 to
 * {@link #MAX_TIMESTAMP} that never falls, read with volatile semantics. A snapshot S sees what was
 * committed at or before S.
 *
 * <p>Threads: any thread may do anything; a slot may be closed by another thread than its opener. A
 * slot number is valid from {@link #open} to {@link #close}, and is used again afterwards. Nothing
 * blocks; opening may allocate when more snapshots are open than ever before.
 *
 * {@snippet :
 * int slot = snapshots.open(clock);
 * try {
 *   read(snapshots.snapshot(slot));
 * } finally {
 *   snapshots.close(slot);
 * }
 * }
 */
public final class ActiveSnapshots {
  /*
   * Source      Böttcher, "Scalable Concurrency Control", thesis 2023, section 5.3.2 (Steam). We differ: (1) a slot
   *             per snapshot instead of a minimum per thread, since sessions may be virtual threads and
   *             more than one snapshot can be open in one; (2) a lower bound is published before the clock is
   *             read (rule R4), where the thesis leaves the moment between the two open.
   *
   * Slot        FREE      all ones   nobody's
   *             BOUND|L   bit 62     claimed; the snapshot will be L or later
   *             S         0..2^62-1  the snapshot
   *
   * Transitions FREE -> BOUND|L   CAS         by the opener, L read from the clock before
   *             BOUND|L -> S      volatile    by the opener, S read from the clock after the CAS
   *             S -> BOUND|S -> S'  volatile  by the holder (advance), S' read from the clock in between: as a slot is
   *                                           opened. A set that was computed with S in it and a bound above S' would
   *                                           not know S' otherwise
   *             any -> FREE       release     by the holder
   *
   * Chunks      Slots are numbered through chunks of C, C, 2C, 4C ... slots, so that a slot never moves and the
   *             number of slots doubles. Chunks are added when an opener finds no free slot in a few tries, and
   *             stay. A slot is 128 bytes, so that openers do not share cache lines.
   *
   * Claim       Whoever scans reads the clock, R, BEFORE the slots. Then every snapshot S open now or later has
   *             S >= min(R, all slots seen).
   * Proof       For each snapshot the CAS of its slot either precedes the scan's load of that slot or follows it.
   *             Precedes: the scan sees BOUND|L with L <= S, or S itself, or a later snapshot of a slot that
   *             was closed in between, and then S is no longer open. Follows: then clock read R < scan's load <
   *             CAS < clock read S in the one order of all volatile accesses, and the clock does not fall, so
   *             S >= R. A chunk that the scan does not see was published after its load, and so was every CAS
   *             in it. (jcstress: SnapshotHorizonStress; with the clock read before the claim it fails.)
   *
   * A stale horizon is safe: what was true when it was computed, "no snapshot open now or later is below H",
   *             stays true, since later ones only get larger and open ones only close or advance. A stale H
   *             keeps versions for longer, at the next look they go. What it may not decide is what was
   *             superseded after H: see SnapshotSet.
   *
   * Races left in   size() and oldest() read slots one after the other; they are for people.
   */

  /** The largest value that the clock may have. */
  public static final long MAX_TIMESTAMP = (1L << 62) - 1;

  private static final long FREE = -1;
  private static final long BOUND = 1L << 62;

  /** Longs from one slot to the next: two cache lines, as processors fetch them in pairs. */
  private static final int STRIDE = 16;

  /**
   * So many slots does an opener look at, all but the first at random, before it adds a chunk. With
   * nine slots of ten taken it looks at ten on average, and finds none once in a thousand times.
   */
  private static final int TRIES = 64;

  private static final int MAX_CHUNKS = 20;

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

  private final int firstChunk;
  private final AtomicReferenceArray<long @Nullable []> chunks =
      new AtomicReferenceArray<>(MAX_CHUNKS);

  /** Makes an empty set, with a first chunk that follows from the number of processors. */
  public ActiveSnapshots() {
    this(Math.clamp(4L * Runtime.getRuntime().availableProcessors(), 16, 1024));
  }

  /** Makes an empty set with a first chunk of at least so many slots. */
  ActiveSnapshots(int slots) {
    this.firstChunk = Integer.highestOneBit(2 * slots - 1);
    chunks.set(0, newChunk(firstChunk));
  }

  /**
   * Opens a snapshot of now.
   *
   * @param clock the clock that all snapshots here are taken from
   * @return its slot
   * @throws IllegalStateException if more than some ten million snapshots are open
   */
  public int open(LongSupplier clock) {
    int slot = claim(clock);
    try {
      publish(slot, read(clock));
    } catch (Throwable failure) {
      setFree(slot);
      throw failure;
    }
    return slot;
  }

  /**
   * The value of an open snapshot.
   *
   * @param slot from {@link #open}
   * @return the clock's value when it was opened, or advanced last
   * @throws IllegalStateException if the slot is not open
   */
  public long snapshot(int slot) {
    long value = getOpaque(slot);
    if (value == FREE || isBound(value)) {
      throw new IllegalStateException("no snapshot is open in slot " + slot);
    }
    return value;
  }

  /**
   * Moves an open snapshot forward to now, for a session that reads each statement anew. The old
   * value is the lower bound meanwhile.
   *
   * @param slot from {@link #open}
   * @param clock the clock that all snapshots here are taken from
   * @return the new value
   * @throws IllegalStateException if the slot is not open
   */
  public long advance(int slot, LongSupplier clock) {
    long before = snapshot(slot);
    publish(slot, BOUND | before); // before the clock: R4
    long after = before;
    try {
      long now = read(clock);
      if (now < before) {
        throw new IllegalArgumentException("the clock fell from " + before + " to " + now);
      }
      after = now;
    } finally {
      publish(slot, after);
    }
    return after;
  }

  /**
   * Closes a snapshot; what was read through it must have been read before.
   *
   * @param slot from {@link #open}
   * @throws IllegalStateException if the slot is not open
   */
  public void close(int slot) {
    snapshot(slot);
    setFree(slot);
  }

  /**
   * A moment below which no snapshot is, nor ever will be.
   *
   * @param clock the clock that all snapshots here are taken from
   * @return the oldest open snapshot, or now if none is open
   */
  public long horizon(LongSupplier clock) {
    long now = read(clock); // before the slots: R4
    return Math.min(now, oldest());
  }

  /**
   * The open snapshots, sorted, with the moment from which on any could be open.
   *
   * @param clock the clock that all snapshots here are taken from
   * @return a set that decides what may be pruned, now and later
   */
  public SnapshotSet snapshots(LongSupplier clock) {
    long bound = read(clock); // before the slots: R4
    long[] found = new long[16];
    int n = 0;
    for (int c = 0; c < MAX_CHUNKS; c++) {
      long[] chunk = chunks.get(c);
      if (chunk == null) {
        break;
      }
      for (int at = 0; at < chunk.length; at += STRIDE) {
        long value = (long) SLOT.getVolatile(chunk, at);
        if (value == FREE) {
          continue;
        }
        if (isBound(value)) {
          bound = Math.min(bound, value & ~BOUND);
          continue;
        }
        if (n == found.length) {
          found = Arrays.copyOf(found, 2 * n);
        }
        found[n++] = value;
      }
    }
    return SnapshotSet.of(found, n, bound);
  }

  /**
   * The oldest open snapshot, for people; {@link #horizon} is for deciding.
   *
   * @return its value, or {@link Long#MAX_VALUE} if none is open
   */
  public long oldest() {
    long oldest = Long.MAX_VALUE;
    for (int c = 0; c < MAX_CHUNKS; c++) {
      long[] chunk = chunks.get(c);
      if (chunk == null) {
        break;
      }
      for (int at = 0; at < chunk.length; at += STRIDE) {
        long value = (long) SLOT.getVolatile(chunk, at);
        if (value != FREE) {
          oldest = Math.min(oldest, value & ~BOUND);
        }
      }
    }
    return oldest;
  }

  /**
   * How many snapshots are open, for people.
   *
   * @return their number, about
   */
  public int active() {
    int n = 0;
    for (int c = 0; c < MAX_CHUNKS; c++) {
      long[] chunk = chunks.get(c);
      if (chunk == null) {
        break;
      }
      for (int at = 0; at < chunk.length; at += STRIDE) {
        if ((long) SLOT.getOpaque(chunk, at) != FREE) {
          n++;
        }
      }
    }
    return n;
  }

  /** How many slots there are. */
  int capacity() {
    int c = 0;
    while (c < MAX_CHUNKS && chunks.get(c) != null) {
      c++;
    }
    return firstChunk << (c - 1);
  }

  /** Step one of opening: a slot is ours and says from when on our snapshot will be. */
  int claim(LongSupplier clock) {
    long bound = BOUND | read(clock);
    int probe = homeOf(Thread.currentThread());
    for (; ; ) {
      int capacity = capacity();
      for (int i = 0; i < TRIES; i++) {
        int slot = probe & (capacity - 1);
        probe = ThreadLocalRandom.current().nextInt();
        long[] chunk = chunkOf(slot);
        int at = indexOf(slot);
        if ((long) SLOT.getOpaque(chunk, at) == FREE
            && SLOT.compareAndSet(chunk, at, FREE, bound)) {
          return slot;
        }
      }
      addChunk(capacity);
    }
  }

  /** Step two of opening: the clock was read after step one. */
  void publish(int slot, long snapshot) {
    SLOT.setVolatile(chunkOf(slot), indexOf(slot), snapshot);
  }

  private void setFree(int slot) {
    SLOT.setRelease(chunkOf(slot), indexOf(slot), FREE);
  }

  private long getOpaque(int slot) {
    return (long) SLOT.getOpaque(chunkOf(slot), indexOf(slot));
  }

  /** Doubles the number of slots, unless another opener has done so since we read it. */
  private void addChunk(int capacity) {
    int next = chunkNumber(capacity);
    if (next >= MAX_CHUNKS) {
      throw new IllegalStateException("more than " + capacity / 2 + " open snapshots");
    }
    if (chunks.get(next) == null) {
      chunks.compareAndSet(next, null, newChunk(capacity));
    }
  }

  private static long[] newChunk(int slots) {
    long[] chunk = new long[slots * STRIDE];
    Arrays.fill(chunk, FREE);
    return chunk;
  }

  private long[] chunkOf(int slot) {
    long[] chunk = slot < 0 ? null : chunks.get(chunkNumber(slot));
    if (chunk == null) {
      throw new IllegalArgumentException("no such slot: " + slot);
    }
    return chunk;
  }

  /** 0 for the first C slots, 1 for the next C, 2 for the next 2C, and so on. */
  private int chunkNumber(int slot) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(slot / firstChunk);
  }

  private int indexOf(int slot) {
    int first = Integer.highestOneBit(slot / firstChunk) * firstChunk;
    return (slot - first) * STRIDE;
  }

  private static boolean isBound(long value) {
    return (value & BOUND) != 0;
  }

  private static long read(LongSupplier clock) {
    long now = clock.getAsLong();
    if (now < 0 || now > MAX_TIMESTAMP) {
      throw new IllegalArgumentException("not a timestamp: " + now);
    }
    return now;
  }

  /** Where a thread looks first: in the slot it had the last time, whose cache line it may have. */
  private static int homeOf(Thread thread) {
    return (int) ((thread.threadId() * 0x9E3779B97F4A7C15L) >>> 32);
  }
}
