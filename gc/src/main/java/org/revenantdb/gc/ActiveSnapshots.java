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
 * The snapshots that are open now. Each has a padded slot; openers share nothing else.
 *
 * <p>Use it to find the old versions that no snapshot can need any more. These are the versions
 * that were superseded at or before the {@link #horizon}. {@link SnapshotSet#needs} decides more
 * precisely.
 *
 * <p>Time is a <em>clock</em> that the caller passes, always the same one. It is a number from 0 to
 * {@link #MAX_TIMESTAMP} that never falls and is read with volatile semantics. A snapshot S sees
 * what was committed at or before S.
 *
 * <p>Threads: any thread may call any method. A slot may be closed by another thread than its
 * opener. A slot number is valid from {@link #open} to {@link #close}, and is reused afterwards. No
 * method blocks. Opening may allocate when more snapshots are open than ever before.
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
   *             where the thesis leaves the moment between the two open; (3) a thread that scans a slot in that
   *             moment ends the claim, so that no scan depends on when the opener runs again.
   *
   * Slot        first word   FREE|n     bit 63     free; it has been claimed n times
   *                          CLAIMED|n  bit 62     the n-th claim, whose snapshot is not known yet
   *                          S          0..2^62-1  the snapshot
   *             second word  n, of the present claim; belongs to the holder
   *             third        n, of the claim that was open when note() last recorded it
   *             fourth       when that claim was first recorded
   *             fifth        n, of the claim whose holder is recorded as a writer; advice, no proof relies on it
   *
   * Transitions FREE|n -> CLAIMED|n+1   CAS       by the opener
   *             CLAIMED|n -> S          CAS       by the opener, or by a scanning thread: S is read from the clock
   *                                               after that thread has seen CLAIMED|n. The loser takes the value
   *                                               that is there
   *             S -> CLAIMED|n+1        volatile  by the holder (advance), and then as above; or back to S by CAS if
   *                                               the clock gives no later value
   *             S -> FREE|n             release   by the holder
   *
   * Chunks      Slots are numbered through chunks of C, C, 2C, 4C ... slots, so that a slot never moves and the
   *             number of slots doubles. A chunk is added when an opener finds no free slot in a few tries. A slot
   *             has 128 bytes, so that openers do not share cache lines. The first chunk is always open. The others:
   *             OPEN|e               slots may be claimed, by an opener that reads the same word before and after its
   *                                  claim
   *             OPEN|e -> CLOSING|e  CAS  by note(), if few snapshots are open and no chunk behind it is open
   *             CLOSING|e -> RETIRED|e  CAS  by note(), after it has seen every slot of the chunk free
   *             CLOSING|e, RETIRED|e -> OPEN|e+1  CAS  by an opener that finds no free slot in the chunks before it
   *             A scan skips a chunk that it finds RETIRED. If the word after a claim differs from the word before
   *             it, the claim is taken back. Its opener has read no clock, and a snapshot that a scan gave to it is
   *             not used.
   *
   * Claim       A scan reads the clock, R, BEFORE the slots. Then every snapshot S that is open now or later has
   *             S >= min(R, all snapshots found).
   * Proof       Let c be the claim of a snapshot S, the CAS or the store that made its slot CLAIMED|n. S was read from
   *             the clock after c: by its opener later in program order, by another thread after it had seen CLAIMED|n.
   *             For no other claim of the slot has the same n. So that thread's CAS is for this claim, and a clock
   *             value that was read for an earlier claim never gets into a later one. Now the scan's load of the slot
   *             precedes c or follows it. Precedes: clock read R < load < c < clock read S in the one order of all
   *             volatile accesses, and the clock does not fall, so S >= R. Follows: the scan finds one of three
   *             things. It finds CLAIMED|n, and does not go on before the slot has S, or something later. Or it finds
   *             S itself. Or it finds something later: the slot was closed in between, and S is no longer open, or
   *             its holder has advanced it by another claim. A chunk that the scan does not see was published after
   *             its load, and so was every claim in it.
   *             The scan finds a chunk RETIRED|e, at time t > R: a claim that stood found OPEN|x before and after it,
   *             so the chunk was OPEN|x all the while. x <= e: the claim was before CLOSING|e, so the retiring thread
   *             has read the slot after the claim and found it free: S was closed. x > e: the claim was after t, and
   *             S >= R. Without the e there would be a counter-example: a slot is claimed during CLOSING|e, a scan
   *             gives it an S, the chunk is reopened after t, and a snapshot S < R stands.
   *             (jcstress: SnapshotHorizonStress; with the clock read before the claim it fails. Steps, with the n
   *             and without: R4_ in ActiveSnapshotsTest.)
   *             Back to S: a scan that has seen CLAIMED|n in between goes on only when S is there again, and counts
   *             it. A scan that has passed the slot before has counted it.
   * Scans end   A scan tries again at a slot only if its holder, or another thread, has ended that claim meanwhile.
   *
   * A stale horizon is safe: what was true when it was computed, "no snapshot open now or later is below H",
   *             stays true, since later ones only get larger and open ones only close or advance. A stale H
   *             keeps versions for longer; they go at the next scan. It must not decide about versions that were
   *             superseded after H: see SnapshotSet.
   *
   * Races left in   active() and oldest() read slots one after the other; they are for monitoring.
   */

  /** The largest value that the clock may have. */
  public static final long MAX_TIMESTAMP = (1L << 62) - 1;

  private static final long FREE = Long.MIN_VALUE;
  private static final long CLAIMED = 1L << 62;
  private static final long NUMBER = CLAIMED - 1;

  /**
   * Number of longs from one slot to the next: two cache lines, because processors fetch them in
   * pairs.
   */
  private static final int STRIDE = 16;

  /** Offsets of the other words of a slot from its first one. */
  private static final int CLAIM = 1;

  private static final int NOTED = 2;
  private static final int SINCE = 3;
  private static final int WRITES = 4;

  /**
   * The number of slots that an opener tries before it adds a chunk; all but the first at random.
   * If nine of ten slots are taken it tries ten on average, and finds none once in a thousand
   * times.
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

  /** If fewer than one of this many slots are taken, the last chunk is closed. */
  private static final int SPARSE = 8;

  /** The first chunk has 1 &lt;&lt; firstShift slots. */
  private final int firstShift;

  private final AtomicIntegerArray states = new AtomicIntegerArray(MAX_CHUNKS);
  private final AtomicReferenceArray<long @Nullable []> chunks =
      new AtomicReferenceArray<>(MAX_CHUNKS);

  /** Makes an empty set. The size of the first chunk depends on the number of processors. */
  public ActiveSnapshots() {
    this(Math.clamp(4L * Runtime.getRuntime().availableProcessors(), 16, 1024));
  }

  /** Makes an empty set with a first chunk of at least that many slots. */
  ActiveSnapshots(int slots) {
    this.firstShift = Integer.SIZE - Integer.numberOfLeadingZeros(slots - 1);
    chunks.set(0, newChunk(1 << firstShift));
  }

  /**
   * Opens a snapshot at the current time.
   *
   * @param clock the clock from which all snapshots of this set are taken
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
   * Records, for {@link SnapshotSet#oldestWriter}, that the holder of a snapshot writes. {@link
   * #advance} clears the record.
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
   * Moves an open snapshot forward to the current time, for a session that takes a new snapshot for
   * each statement. Versions that it saw before may be gone on return.
   *
   * @param slot from {@link #open}
   * @param clock the clock from which all snapshots of this set are taken
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
   * Closes a snapshot. All reads through it must have ended before.
   *
   * @param slot from {@link #open}
   * @throws IllegalStateException if the slot is not open
   */
  public void close(int slot) {
    snapshot(slot);
    setFree(slot);
  }

  /**
   * A timestamp below which no snapshot is, or ever will be.
   *
   * @param clock the clock from which all snapshots of this set are taken
   * @return the oldest open snapshot, or the current time if none is open
   */
  public long horizon(LongSupplier clock) {
    return snapshots(clock).horizon();
  }

  /**
   * The open snapshots, sorted, with the timestamp from which on any snapshot could be open. The
   * call reads each of the {@link #slots}, which takes some nanoseconds for each.
   *
   * @param clock the clock from which all snapshots of this set are taken
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
   * An open snapshot, for monitoring.
   *
   * @param slot its slot, which may belong to another snapshot by now
   * @param snapshot its value
   * @param since when {@link #note} first recorded it; if it has not, the time of the call
   */
  public record Open(int slot, long snapshot, long since) {}

  /**
   * Records which snapshots are open, so that {@link #oldest} can report about since when each is
   * open. So openers need not read the time of day. Also takes slots out of use that are left over
   * from a time with many more snapshots. One thread at a time.
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

  /**
   * Closes the last open chunk if few slots are taken, and retires closing chunks that are empty by
   * now.
   */
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
      int seen = states.get(c); // before the slots: a later claim is taken back by its opener
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
   * The open snapshot that holds back most: among the oldest ones, the one that was recorded first.
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
   * Whether a snapshot is still open in its slot, or again; for monitoring.
   *
   * @param one from {@link #oldest}
   * @return false if the slot is free now, or has another snapshot
   */
  public boolean isOpen(Open one) {
    return (long) SLOT.getAcquire(chunkOf(one.slot), indexOf(one.slot)) == one.snapshot;
  }

  /**
   * How many snapshots are open, for monitoring.
   *
   * @return their approximate number
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
   * How many slots a scan reads, without those that only wait for the end of their last snapshot.
   *
   * @return about as many as snapshots were recently open at once, and some more
   */
  public int slots() {
    return 1 << (firstShift + openChunks() - 1);
  }

  /** The number of chunks before the first one that is not open. */
  private int openChunks() {
    int c = 1;
    while (c < MAX_CHUNKS && chunks.get(c) != null && is(OPEN, states.get(c))) {
      c++;
    }
    return c;
  }

  /**
   * Step one of opening: claims a slot. From now on any scanning thread may set the snapshot of the
   * claim.
   */
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

  /** The state of the chunk of a slot, for {@link #claim(int, int)}. */
  int stateAt(int slot) {
    return states.get(chunkNumber(slot));
  }

  /**
   * Claims a slot. Fails if the slot is taken, if its chunk is closed, or if the state of the chunk
   * has changed.
   */
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
   * Step two of opening, with the clock as it was after step one. It has no effect if another
   * thread has set the snapshot.
   */
  void publish(int slot, long snapshot) {
    long[] chunk = chunkOf(slot);
    int at = indexOf(slot);
    SLOT.compareAndSet(chunk, at, claimed((long) SLOT.getOpaque(chunk, at + CLAIM)), snapshot);
  }

  /**
   * The snapshot in a slot; a negative number if the slot is free. If the claim has no snapshot
   * yet, this sets it.
   */
  private static long look(long[] chunk, int at, LongSupplier clock) {
    long value = (long) SLOT.getVolatile(chunk, at);
    while (value >= CLAIMED) {
      long now = read(clock); // after the read of the claim: R4
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

  /** Doubles the number of slots, unless another opener has done so since the capacity was read. */
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

  /**
   * The slot that a thread tries first: the one it had the last time, whose cache line it may still
   * have.
   */
  private static int homeOf(Thread thread) {
    return (int) ((thread.threadId() * 0x9E3779B97F4A7C15L) >>> 32);
  }
}
