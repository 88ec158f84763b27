package org.revenantdb.engine.txn;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.restart.AbortedTransactions;

/**
 * What became of each transaction that wrote something, for as long as somebody may ask.
 *
 * <p>Thread-safe. Looking up is lock-free.
 */
public final class TransactionTable {
  /*
   * Source      design §8, §9; rules R1, R8, R10, R21.
   *
   * State       one word per id, in chunks of 4,096 ids:
   *               0 unknown   1 ACTIVE   2 COMMITTING   3 ABORTED   anything else: the commit LSN (always above 8)
   * Transitions 0 -> 1         enter(): before the transaction's first record is reserved (R8)
   *             1 -> 2         committing(): before its commit record is reserved
   *             2 -> LSN       committed(): after that record is published
   *             1 -> 3         aborted(): after the id is in the ATM and the ABORT record is published
   *             chunk -> null  forget(): all ids of the chunk are finished, their commits durable and at or below
   *                            every snapshot (R10)
   *
   * Look-up     table first, then the ATM, else committed for all. It is right while the row that names the id is
   *             latched (R1): an id leaves the ATM only after every row of it was reverted under its page's exclusive
   *             latch, and a chunk is forgotten only when "committed for all" is the answer for its committed ids,
   *             and the ATM, which was filled before, answers for its aborted ones.
   */
  /** Answer of {@link #status}: still running. */
  public static final long ACTIVE = 1;

  /**
   * Answer of {@link #status}: its commit record is being published; the outcome is known in a
   * moment.
   */
  public static final long COMMITTING = 2;

  /** Answer of {@link #status}: rolled back. */
  public static final long ABORTED = 3;

  /** Answer of {@link #status}: committed, durable, and visible to every snapshot. */
  public static final long COMMITTED_FOR_ALL = 0;

  private static final int SHIFT = 12;
  private static final int CHUNK = 1 << SHIFT;

  private final AbortedTransactions aborted;
  private final AtomicLong nextId;
  private final ReentrantLock growing = new ReentrantLock();
  private volatile Chunks chunks;

  /** The chunk in which this life's ids begin; ids below the offset are of a former life. */
  private final AtomicLongArray firstChunk = new AtomicLongArray(CHUNK);

  private final int firstOffset;

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Chunks(long first, @Nullable AtomicLongArray[] array) {
    @Nullable AtomicLongArray of(long id) {
      long index = (id >>> SHIFT) - first;
      return index >= 0 && index < array.length ? array[(int) index] : null;
    }
  }

  /**
   * An empty table.
   *
   * @param aborted the aborted-transaction map
   * @param highestId the highest id that was ever used
   */
  public TransactionTable(AbortedTransactions aborted, long highestId) {
    this.aborted = aborted;
    this.nextId = new AtomicLong(highestId + 1);
    this.firstOffset = (int) (highestId + 1) & (CHUNK - 1);
    this.chunks = new Chunks((highestId + 1) >>> SHIFT, new AtomicLongArray[] {firstChunk});
  }

  /** The aborted-transaction map. */
  public AbortedTransactions aborted() {
    return aborted;
  }

  /** The highest id given out. */
  public long highestId() {
    return nextId.get() - 1;
  }

  /** Gives out an id and enters it as active. The caller has reserved no record with it yet. */
  public long enter() {
    long id = next();
    enter(id);
    return id;
  }

  /** Step one of entering: an id that nobody else has. */
  long next() {
    return nextId.getAndIncrement();
  }

  /** Step two of entering. Any number of later ids may have come and gone since step one. */
  void enter(long id) {
    AtomicLongArray words = chunks.of(id);
    if (words == null) {
      words = addChunk(id);
    }
    words.set((int) id & (CHUNK - 1), ACTIVE);
  }

  private AtomicLongArray addChunk(long id) {
    growing.lock();
    try {
      Chunks now = chunks;
      AtomicLongArray words = now.of(id);
      if (words != null) {
        return words;
      }
      int index = (int) ((id >>> SHIFT) - now.first);
      @Nullable AtomicLongArray[] array =
          Arrays.copyOf(now.array, Math.max(now.array.length, index + 1));
      words = new AtomicLongArray(CHUNK);
      array[index] = words;
      // Those before it, too: their first ids were given out and are about to be entered. Null
      // means forgotten.
      for (int i = now.array.length; i < index; i++) {
        array[i] = new AtomicLongArray(CHUNK);
      }
      chunks = new Chunks(now.first, array);
      return words;
    } finally {
      growing.unlock();
    }
  }

  /** Marks a transaction that is about to reserve its commit record. */
  public void committing(long id) {
    set(id, COMMITTING);
  }

  /** Marks a transaction whose commit record is published. */
  public void committed(long id, long lsn) {
    set(id, lsn);
  }

  /** Marks a transaction that is in the ATM and whose ABORT record is published. */
  public void aborted(long id) {
    set(id, ABORTED);
  }

  private void set(long id, long state) {
    AtomicLongArray words = chunks.of(id);
    if (words == null) {
      throw new IllegalStateException("transaction " + id + " is not in the table");
    }
    words.set((int) id & (CHUNK - 1), state);
  }

  /**
   * What became of a writer: {@link #ACTIVE}, {@link #COMMITTING}, {@link #ABORTED}, {@link
   * #COMMITTED_FOR_ALL}, or its commit LSN. The row that names the id has to be latched.
   */
  public long status(long id) {
    if (id == 0) {
      return COMMITTED_FOR_ALL;
    }
    AtomicLongArray words = chunks.of(id);
    long state = words == null ? 0 : words.get((int) id & (CHUNK - 1));
    if (state == 0 && aborted.contains(id)) {
      return ABORTED;
    }
    return state;
  }

  /**
   * As {@link #status}, but waits while the outcome is being published, which needs no latch and no
   * other caller.
   */
  @SuppressWarnings(
      "ThreadPriorityCheck") // the other thread is about to publish; nothing to park on
  public long outcome(long id) {
    long state = status(id);
    for (int spins = 0; state == COMMITTING; spins++) {
      if (spins < 100) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
      state = status(id);
    }
    return state;
  }

  /** Whether a status says committed. */
  public static boolean isCommitted(long status) {
    return status == COMMITTED_FOR_ALL || status > ABORTED;
  }

  /**
   * Ids of all transactions that have written and have not ended; those committing are waited for
   * (R8).
   */
  public long[] writing() {
    Chunks now = chunks;
    long[] ids = new long[16];
    int count = 0;
    for (int c = 0; c < now.array.length; c++) {
      AtomicLongArray words = now.array[c];
      for (int i = 0; words != null && i < CHUNK; i++) {
        long state = words.get(i);
        if (state != ACTIVE && state != COMMITTING) {
          continue;
        }
        long id = ((now.first + c) << SHIFT) + i;
        if (outcome(id) == ACTIVE) {
          if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
          }
          ids[count++] = id;
        }
      }
    }
    return Arrays.copyOf(ids, count);
  }

  /** The lowest id that has not ended, or {@link Long#MAX_VALUE}. */
  public long oldestActive() {
    Chunks now = chunks;
    for (int c = 0; c < now.array.length; c++) {
      AtomicLongArray words = now.array[c];
      for (int i = 0; words != null && i < CHUNK; i++) {
        long state = words.get(i);
        if (state == ACTIVE || state == COMMITTING) {
          return ((now.first + c) << SHIFT) + i;
        }
      }
    }
    return Long.MAX_VALUE;
  }

  /**
   * Forgets chunks of ids that nobody has to tell apart any more.
   *
   * @param horizon every snapshot is at or above it, and the log is durable up to it
   */
  public void forget(long horizon) {
    growing.lock();
    try {
      Chunks now = chunks;
      long last = (nextId.get() >>> SHIFT) - now.first;
      @Nullable AtomicLongArray[] array = now.array.clone();
      int leading = 0;
      for (int c = 0; c < array.length && c < last; c++) {
        AtomicLongArray words = array[c];
        if (words != null && allForgettable(words, horizon)) {
          array[c] = null;
        }
        if (array[c] == null && leading == c) {
          leading++;
        }
      }
      chunks = new Chunks(now.first + leading, Arrays.copyOfRange(array, leading, array.length));
    } finally {
      growing.unlock();
    }
  }

  /** Whether there are ids to forget, now or when their commits are durable and seen by all. */
  public boolean mayForget() {
    return chunks.array.length > 1;
  }

  private boolean allForgettable(AtomicLongArray words, long horizon) {
    boolean isFirst = isFirstChunk(words);
    for (int i = 0; i < CHUNK; i++) {
      long state = words.get(i);
      boolean former = state == 0 && isFirst && i < firstOffset;
      if (!former && (state < ABORTED || state > horizon)) {
        return false;
      }
    }
    return true;
  }

  @SuppressWarnings("ReferenceEquality") // which chunk it is, not what it holds
  private boolean isFirstChunk(AtomicLongArray words) {
    return words == firstChunk;
  }
}
