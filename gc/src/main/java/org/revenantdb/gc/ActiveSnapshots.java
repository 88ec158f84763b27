package org.revenantdb.gc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
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
   *             more than one snapshot can be open in one; (2) a slot is claimed before the clock is read (rule R4),
   *             where the thesis leaves the moment between the two open; (3) who looks at a slot in that moment ends
   *             it, so that no look depends on when the opener gets to run again.
   *
   * Slot        first word   FREE|n     bit 63     nobody's; it has been claimed n times
   *                          CLAIMED|n  bit 62     the n-th claim, whose snapshot is not known yet
   *                          S          0..2^62-1  the snapshot
   *             second word  n, of the claim that there is; the holder's own
   *             third        n, of the claim that was open when somebody noted it last
   *             fourth       when that was noted first
   *             fifth        n, of the claim whose holder has said that he writes; advice, nothing rests on it
   *
   * Transitions FREE|n -> CLAIMED|n+1   CAS       by the opener
   *             CLAIMED|n -> S          CAS       by the opener, or by whoever looks: S read from the clock after he
   *                                               has seen CLAIMED|n. Who loses takes what stands there
   *             S -> CLAIMED|n+1        volatile  by the holder (advance), and then as above, or back to S by CAS if
   *                                               there is no later one to be had
   *             S -> FREE|n             release   by the holder
   *
   * Chunks      Slots are numbered through chunks of C, C, 2C, 4C ... slots, so that a slot never moves and the
   *             number of slots doubles. Chunks are added when an opener finds no free slot in a few tries. A slot
   *             is 128 bytes, so that openers do not share cache lines. The first is always open; of the others:
   *
   *             OPEN|e               may be claimed in: by who finds the same word behind his claim as before it
   *             OPEN|e -> CLOSING|e  CAS  by who notes, if few snapshots are open and no chunk behind it is
   *             CLOSING|e -> RETIRED|e  CAS  by him, when he has seen every slot of it free
   *             CLOSING|e, RETIRED|e -> OPEN|e+1  CAS  by an opener who finds no free slot in the chunks before it
   *
   *             A look passes over a chunk that it finds RETIRED. A claim behind which the word is another one than
   *             before it is taken back; its opener has read no clock, and what a look gave it nobody gets to know.
   *
   * Claim       Whoever scans reads the clock, R, BEFORE the slots. Then every snapshot S open now or later has
   *             S >= min(R, all snapshots found).
   * Proof       Let c be the claim of a snapshot S, the CAS or the store that made its slot CLAIMED|n. S was read from
   *             the clock after c: by its opener behind it in his program, by another after he had seen CLAIMED|n.
   *             For no other claim of the slot has the same n, so his CAS is of that claim, and no reading of the clock
   *             that was taken for an earlier one gets into a later one. Now the scan's load of the slot precedes c or
   *             follows it. Precedes: clock read R < load < c < clock read S in the one order of all volatile accesses,
   *             and the clock does not fall, so S >= R. Follows: the scan finds CLAIMED|n, and does not go on before
   *             the slot says S, or something later; or S itself; or something later: the slot was closed in
   *             between, and S is no longer open, or its holder has advanced it by another claim. A chunk that the
   *             scan does not see was published after its load, and so was every claim in it.
   *             A chunk that it finds RETIRED|e, at t > R: a claim that stood found OPEN|x before it and behind it, so
   *             the chunk was OPEN|x all the while. x <= e: the claim was before CLOSING|e, so who retired has looked
   *             at the slot after it and found it free: S was closed. x > e: the claim was after t, and S >= R. Without
   *             the e: claimed in the time of CLOSING|e, given an S by a look, reopened behind t, and S < R stands.
   *             (jcstress: SnapshotHorizonStress; with the clock read before the claim it fails. Steps, with the n
   *             and without: R4_ in ActiveSnapshotsTest.)
   *             Back to S: whoever has seen CLAIMED|n in between goes on only when S is there again, and counts it;
   *             whoever scanned before has counted it.
   *
   * Looks end   A look tries again at a slot only when its holder, or another, has ended that claim meanwhile.
   *
   * A stale horizon is safe: what was true when it was computed, "no snapshot open now or later is below H",
   *             stays true, since later ones only get larger and open ones only close or advance. A stale H
   *             keeps versions for longer, at the next look they go. What it may not decide is what was
   *             superseded after H: see SnapshotSet.
   *
   * Races left in   active() and oldest() read slots one after the other; they are for people.
   */

  /** The largest value that the clock may have. */
  public static final long MAX_TIMESTAMP = (1L << 62) - 1;

  private static final long FREE = Long.MIN_VALUE;
  private static final long CLAIMED = 1L << 62;
  private static final long NUMBER = CLAIMED - 1;

  /** Longs from one slot to the next: two cache lines, as processors fetch them in pairs. */
  private static final int STRIDE = 16;

  /** From the first word of a slot to the others. */
  private static final int CLAIM = 1;

  private static final int NOTED = 2;
  private static final int SINCE = 3;
  private static final int WRITES = 4;

  /**
   * So many slots does an opener look at, all but the first at random, before it adds a chunk. With
   * nine slots of ten taken it looks at ten on average, and finds none once in a thousand times.
   */
  private static final int TRIES = 64;

  private static final int MAX_CHUNKS = 20;

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

  /** States of a chunk, below the number of times that it was opened. */
  private static final int OPEN = 0;

  private static final int CLOSING = 1;
  private static final int RETIRED = 2;
  private static final int STATES = 3;
  private static final int OPENED_ONCE_MORE = 4;

  /** Of so many slots one must be taken, or the last chunk is closed. */
  private static final int SPARSE = 8;

  /** Slots of the first chunk: 1 shifted by it. */
  private final int firstShift;

  private final AtomicIntegerArray states = new AtomicIntegerArray(MAX_CHUNKS);
  private final AtomicReferenceArray<long @Nullable []> chunks =
      new AtomicReferenceArray<>(MAX_CHUNKS);

  /** Makes an empty set, with a first chunk that follows from the number of processors. */
  public ActiveSnapshots() {
    this(Math.clamp(4L * Runtime.getRuntime().availableProcessors(), 16, 1024));
  }

  /** Makes an empty set with a first chunk of at least so many slots. */
  ActiveSnapshots(int slots) {
    this.firstShift = Integer.SIZE - Integer.numberOfLeadingZeros(slots - 1);
    chunks.set(0, newChunk(1 << firstShift));
  }

  /**
   * Opens a snapshot of now.
   *
   * @param clock the clock that all snapshots here are taken from
   * @return its slot
   * @throws IllegalStateException if more than some ten million snapshots are open
   */
  public int open(LongSupplier clock) {
    int slot = claim();
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
    long value = (long) SLOT.getOpaque(chunkOf(slot), indexOf(slot));
    if (value < 0 || value >= CLAIMED) {
      throw new IllegalStateException("no snapshot is open in slot " + slot);
    }
    return value;
  }

  /**
   * Tells that who holds a snapshot writes, for {@link SnapshotSet#oldestWriter}; forgotten when it
   * is advanced.
   *
   * @param slot from {@link #open}
   * @throws IllegalStateException if the slot is not open
   */
  public void writes(int slot) {
    snapshot(slot);
    long[] chunk = chunkOf(slot);
    int at = indexOf(slot);
    SLOT.setOpaque(chunk, at + WRITES, (long) SLOT.getOpaque(chunk, at + CLAIM));
  }

  /**
   * Moves an open snapshot forward to now, for a session that reads each statement anew. What it
   * saw before may be gone on return.
   *
   * @param slot from {@link #open}
   * @param clock the clock that all snapshots here are taken from
   * @return the new value
   * @throws IllegalStateException if the slot is not open
   */
  public long advance(int slot, LongSupplier clock) {
    long after = snapshot(slot);
    long[] chunk = chunkOf(slot);
    int at = indexOf(slot);
    long claimed = claimed((long) SLOT.getOpaque(chunk, at + CLAIM) + 1);
    SLOT.setOpaque(chunk, at + CLAIM, claimed & NUMBER);
    SLOT.setVolatile(chunk, at, claimed); // before the clock: R4
    try {
      long now = read(clock);
      if (now < after) {
        throw new IllegalArgumentException("the clock fell from " + after + " to " + now);
      }
      after = now;
    } finally {
      SLOT.compareAndSet(chunk, at, claimed, after);
    }
    return snapshot(slot);
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
    return snapshots(clock).horizon();
  }

  /**
   * The open snapshots, sorted, with the moment from which on any could be open. That takes a look
   * at each slot that there is, some nanoseconds each: {@link #slots}.
   *
   * @param clock the clock that all snapshots here are taken from
   * @return a set that decides what may be pruned, now and later
   */
  public SnapshotSet snapshots(LongSupplier clock) {
    long bound = read(clock); // before the slots: R4
    long[] found = new long[16];
    int n = 0;
    long oldestWriter = Long.MAX_VALUE;
    for (int c = 0; c < MAX_CHUNKS; c++) {
      long[] chunk = chunks.get(c);
      if (chunk == null) {
        break;
      }
      if (is(RETIRED, states.get(c))) {
        continue;
      }
      for (int at = 0; at < chunk.length; at += STRIDE) {
        long value = look(chunk, at, clock);
        if (value < 0) {
          continue;
        }
        if (n == found.length) {
          found = Arrays.copyOf(found, 2 * n);
        }
        found[n++] = value;
        if (value < oldestWriter
            && (long) SLOT.getOpaque(chunk, at + WRITES)
                == (long) SLOT.getOpaque(chunk, at + CLAIM)) {
          oldestWriter = value;
        }
      }
    }
    return SnapshotSet.of(found, n, bound, oldestWriter);
  }

  /**
   * An open snapshot, for people.
   *
   * @param slot its slot, which may be another's by now
   * @param snapshot its value
   * @param since when it was noted first; if it was not, the moment of asking
   */
  public record Open(int slot, long snapshot, long since) {}

  /**
   * Notes which snapshots are open, so that it is known of each, about, since when: those who open
   * them need not read a clock for that. Slots of a time when there were many more go out of use.
   * One thread at a time.
   *
   * @param now the time of day
   */
  public void note(long now) {
    for (int c = 0; c < MAX_CHUNKS; c++) {
      long[] chunk = chunks.get(c);
      if (chunk == null) {
        break;
      }
      for (int at = 0; at < chunk.length; at += STRIDE) {
        long claim = (long) SLOT.getOpaque(chunk, at + CLAIM);
        if ((long) SLOT.getOpaque(chunk, at) >= 0
            && (long) SLOT.getOpaque(chunk, at + NOTED) != claim) {
          SLOT.setOpaque(chunk, at + SINCE, now);
          SLOT.setRelease(chunk, at + NOTED, claim);
        }
      }
    }
    narrow();
  }

  /** Closes the last open chunk if few slots are taken, and retires those that are empty by now. */
  private void narrow() {
    int last = openChunks() - 1;
    if (last > 0 && active() <= slots() / SPARSE) {
      int seen = states.get(last);
      if (is(OPEN, seen)) {
        states.compareAndSet(last, seen, seen + CLOSING);
      }
    }
    for (int c = 1; c < MAX_CHUNKS; c++) {
      long[] chunk = chunks.get(c);
      if (chunk == null) {
        break;
      }
      int seen = states.get(c); // before the slots: who claims behind it takes it back
      if (is(CLOSING, seen) && isEmpty(chunk)) {
        states.compareAndSet(c, seen, seen - CLOSING + RETIRED);
      }
    }
  }

  private static boolean isEmpty(long[] chunk) {
    for (int at = 0; at < chunk.length; at += STRIDE) {
      if ((long) SLOT.getVolatile(chunk, at) >= 0) {
        return false;
      }
    }
    return true;
  }

  private static boolean is(int wanted, int state) {
    return (state & STATES) == wanted;
  }

  /**
   * The open snapshot that holds most back: of the oldest ones that which was noted first.
   *
   * @param now the time of day
   * @return null if none is open
   */
  public @Nullable Open oldest(long now) {
    Open oldest = null;
    int slot = 0;
    for (int c = 0; c < MAX_CHUNKS; c++) {
      long[] chunk = chunks.get(c);
      if (chunk == null) {
        break;
      }
      for (int at = 0; at < chunk.length; at += STRIDE, slot++) {
        long value = (long) SLOT.getAcquire(chunk, at);
        if (value < 0 || value >= CLAIMED || (oldest != null && value > oldest.snapshot)) {
          continue;
        }
        boolean isNoted =
            (long) SLOT.getAcquire(chunk, at + NOTED) == (long) SLOT.getOpaque(chunk, at + CLAIM);
        long since = isNoted ? (long) SLOT.getOpaque(chunk, at + SINCE) : now;
        if (oldest == null || value < oldest.snapshot || since < oldest.since) {
          oldest = new Open(slot, value, since);
        }
      }
    }
    return oldest;
  }

  /**
   * Whether a snapshot is open in a slot still, or again, for people.
   *
   * @param one from {@link #oldest}
   * @return false if the slot is free now, or has another snapshot
   */
  public boolean isOpen(Open one) {
    return (long) SLOT.getAcquire(chunkOf(one.slot), indexOf(one.slot)) == one.snapshot;
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
        if ((long) SLOT.getOpaque(chunk, at) >= 0) {
          n++;
        }
      }
    }
    return n;
  }

  /**
   * How many slots a look goes over, but for those that are only waiting for their last snapshot.
   *
   * @return as many as were open at once lately, and some more
   */
  public int slots() {
    return 1 << (firstShift + openChunks() - 1);
  }

  /** Those in front of the first that is not open. */
  private int openChunks() {
    int c = 1;
    while (c < MAX_CHUNKS && chunks.get(c) != null && is(OPEN, states.get(c))) {
      c++;
    }
    return c;
  }

  /** Step one of opening: a slot is ours, and whoever looks may say what our snapshot is. */
  int claim() {
    int probe = homeOf(Thread.currentThread());
    for (; ; ) {
      int capacity = slots();
      for (int i = 0; i < TRIES; i++) {
        int slot = probe & (capacity - 1);
        if (claim(slot, stateAt(slot))) {
          return slot;
        }
        probe = ThreadLocalRandom.current().nextInt();
      }
      addChunk(capacity);
    }
  }

  /** What the chunk of a slot is in, for {@link #claim(int, int)}. */
  int stateAt(int slot) {
    return states.get(chunkNumber(slot));
  }

  /** Claims a slot, unless it is taken, or its chunk is in another state than it was, or closed. */
  boolean claim(int slot, int before) {
    long[] chunk = chunkOf(slot);
    int at = indexOf(slot);
    long found = (long) SLOT.getOpaque(chunk, at);
    if (!is(OPEN, before)
        || found >= 0
        || !SLOT.compareAndSet(chunk, at, found, claimed(found + 1))) {
      return false;
    }
    SLOT.setOpaque(chunk, at + CLAIM, (found + 1) & NUMBER);
    if (stateAt(slot) == before) {
      return true;
    }
    setFree(slot);
    return false;
  }

  /**
   * Step two of opening, with the clock as it was after step one: too late if another was first.
   */
  void publish(int slot, long snapshot) {
    long[] chunk = chunkOf(slot);
    int at = indexOf(slot);
    SLOT.compareAndSet(chunk, at, claimed((long) SLOT.getOpaque(chunk, at + CLAIM)), snapshot);
  }

  /** The snapshot in a slot, a negative number if it is free; one that has none yet gets one. */
  private static long look(long[] chunk, int at, LongSupplier clock) {
    long value = (long) SLOT.getVolatile(chunk, at);
    while (value >= CLAIMED) {
      long now = read(clock); // behind the look at the claim: R4
      long found = (long) SLOT.compareAndExchange(chunk, at, value, now);
      value = found == value ? now : found;
    }
    return value;
  }

  private void setFree(int slot) {
    long[] chunk = chunkOf(slot);
    int at = indexOf(slot);
    SLOT.setRelease(chunk, at, FREE | (long) SLOT.getOpaque(chunk, at + CLAIM));
  }

  private static long claimed(long number) {
    return CLAIMED | (number & NUMBER);
  }

  /** Doubles the number of slots, unless another opener has done so since it was read. */
  private void addChunk(int capacity) {
    int next = chunkNumber(capacity);
    if (next >= MAX_CHUNKS) {
      throw new IllegalStateException("more than " + capacity / 2 + " open snapshots");
    }
    if (chunks.get(next) == null) {
      chunks.compareAndSet(next, null, newChunk(capacity));
      return;
    }
    int seen = states.get(next);
    if (!is(OPEN, seen)) {
      states.compareAndSet(next, seen, (seen & ~STATES) + OPENED_ONCE_MORE);
    }
  }

  private static long[] newChunk(int slots) {
    long[] chunk = new long[slots * STRIDE];
    for (int at = 0; at < chunk.length; at += STRIDE) {
      chunk[at] = FREE;
    }
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
    return Integer.SIZE - Integer.numberOfLeadingZeros(slot >>> firstShift);
  }

  private int indexOf(int slot) {
    int first = Integer.highestOneBit(slot >>> firstShift) << firstShift;
    return (slot - first) * STRIDE;
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
