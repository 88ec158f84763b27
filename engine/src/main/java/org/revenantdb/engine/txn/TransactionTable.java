package org.revenantdb.engine.txn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.latch.ParkingLot;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.restart.AbortedTransactions;

/**
 * The outcome of each transaction that wrote something, for as long as it may be needed.
 *
 * <p>Thread-safe. A lookup is lock-free.
 */
public final class TransactionTable {
  /*
   * Source      rules R1, R8, R10, R21 (docs/rules.md).
   *
   * State       one word per id, in chunks of 4,096 ids: OutcomeWords has its states and transitions
   * Transitions of a chunk, by forget(), when all its ids have ended or are unused, and their commits are durable
   *             words -> one value     when no snapshot, open or to come, is at or behind the lowest of its commits and
   *                                    before the highest: that is the value. With its neighbours, if none is between
   *                                    the lowest and the highest of all (IdSpans)
   *             either -> nothing      when all its commits are at or below every snapshot (R10)
   *
   * One value   is as good as the value of each id: every snapshot S that compares it was open when the chunk became
   *             one value, or is at or above the bound of the snapshot set used then, and so at or above the value.
   *             Either way S is below all of the chunk's commits, or at or above all of them. The value of an id only
   *             grows, and with each the same holds; so it does for a lifetime of which one end is the commit itself,
   *             taken before, and the other the value (protocols.md §38).
   *
   * Waiting     for a transaction that is COMMITTING: usually about a microsecond; if the ring of the log is full, as
   *             long as a write to the disk. So the waiter spins a little, then uses the parking lot, keyed by table
   *             and id. It waits with the row's page latched (R1). The wait ends nevertheless: the committing session
   *             holds nothing, the log writer takes no latch, and a log that stops makes the session abort.
   *             For a transaction that is ACTIVE, which may take any time: RowWaiters, with nothing latched.
   *
   * Prepared    prepared transactions of this life and of former ones have separate words (protocols.md §29). They
   *             are read if the chunk has no words, or has ELSEWHERE; and before the ATM, which already contains a
   *             transaction that is being rolled back. They are forgotten like a chunk.
   *
   * Look-up     table first, then the ATM, else committed for all. It is right while the row that names the id is
   *             latched (R1): an id leaves the ATM only after every row of it was reverted under its page's exclusive
   *             latch, and a chunk loses its words only when one answer is right for its committed ids, and the ATM,
   *             which was filled before, answers for its aborted ones, but for those of which no row was left when they
   *             became so.
   */
  /** Result of {@link #status}: still running. */
  public static final long ACTIVE = OutcomeWords.ACTIVE;

  /**
   * Result of {@link #status}: the commit record is being published; the outcome will be known in a
   * moment.
   */
  public static final long COMMITTING = OutcomeWords.COMMITTING;

  /** Result of {@link #status}: rolled back. */
  public static final long ABORTED = OutcomeWords.ABORTED;

  /** Result of {@link #status}: committed, durable, and visible to every snapshot. */
  public static final long COMMITTED_FOR_ALL = OutcomeWords.UNKNOWN;

  private static final int SHIFT = 12;
  private static final int CHUNK = 1 << SHIFT;

  /**
   * About as long as publishing takes. On a single processor no other thread can publish during the
   * spin.
   */
  private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 100 : 0;

  /** An unpark may be lost if there is no memory for it. */
  private static final long SLICE = TimeUnit.SECONDS.toNanos(1);

  private final AbortedTransactions aborted;
  private final TransactionIds ids;
  private final PatientLock growing = new PatientLock();
  private volatile Chunks chunks;

  /** Written under the lock. */
  private volatile PreparedWords preparedWords = PreparedWords.NONE;

  /** The first id of this life. */
  private final long firstId;

  private final long slice;
  private final WaitMeter waits;
  private final RowWaiters rowWaiters;
  private final RowTurns rowTurns;

  /**
   * The recent chunks, from one number on, and the older spans, up to the last chunk without words.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Chunks(long first, OutcomeWords[] array, IdSpans older) {
    @Nullable OutcomeWords of(long id) {
      long chunk = id >>> SHIFT;
      if (chunk < first) {
        IdSpans.Span span = older.of(chunk);
        return span == null ? null : span.words();
      }
      return chunk - first < array.length ? array[(int) (chunk - first)] : null;
    }

    /** The value of a chunk that has one, else {@link #COMMITTED_FOR_ALL}. */
    long valueOf(long id) {
      IdSpans.Span span = older.isEmpty() ? null : older.of(id >>> SHIFT);
      return span == null ? COMMITTED_FOR_ALL : span.highest();
    }
  }

  /**
   * An empty table.
   *
   * @param aborted the aborted-transaction map
   * @param highestId the highest id that was ever used
   */
  public TransactionTable(AbortedTransactions aborted, long highestId) {
    this(aborted, highestId, WaitMeter.NONE);
  }

  /**
   * An empty table whose waits are reported.
   *
   * @param aborted the aborted-transaction map
   * @param highestId the highest id that was ever used
   * @param waits receives the waits for the outcome of a transaction
   */
  public TransactionTable(AbortedTransactions aborted, long highestId, WaitMeter waits) {
    this(aborted, highestId, new long[0], SLICE, waits);
  }

  /**
   * A table that contains only the transactions that were prepared in former lives.
   *
   * @param aborted the aborted-transaction map
   * @param highestId the highest id that was ever used
   * @param prepared ids of those that are prepared
   * @param waits receives the waits for the outcome of a transaction
   */
  public TransactionTable(
      AbortedTransactions aborted, long highestId, long[] prepared, WaitMeter waits) {
    this(aborted, highestId, prepared, SLICE, waits);
  }

  /**
   * For tests, which would not notice a lost wake-up if every thread checked by itself soon after.
   */
  TransactionTable(AbortedTransactions aborted, long highestId, long slice) {
    this(aborted, highestId, new long[0], slice, WaitMeter.NONE);
  }

  private TransactionTable(
      AbortedTransactions aborted, long highestId, long[] prepared, long slice, WaitMeter waits) {
    for (long id : prepared) {
      prepare(id);
      active(id);
    }
    this.slice = slice;
    this.waits = waits;
    this.rowWaiters = new RowWaiters(this::markWaited, waits);
    this.rowTurns = new RowTurns(waits);
    this.aborted = aborted;
    this.ids = new TransactionIds(highestId + 1, new IdOutcomes());
    this.firstId = highestId + 1;
    this.chunks =
        new Chunks(firstId >>> SHIFT, new OutcomeWords[] {new OutcomeWords(CHUNK)}, IdSpans.NONE);
  }

  /** The aborted-transaction map. */
  public AbortedTransactions aborted() {
    return aborted;
  }

  /** The waiters for the end of transactions and for their rows. */
  public RowWaiters rowWaiters() {
    return rowWaiters;
  }

  /** The turns of transactions that are retried because of rows. */
  public RowTurns rowTurns() {
    return rowTurns;
  }

  /** Called with the lock of {@link RowWaiters}. Returns false if there is nothing to sleep for. */
  private boolean markWaited(long id) {
    OutcomeWords prepared = wordOfPrepared(id);
    if (prepared != null) {
      return prepared.mustWaitForEnd(0);
    }
    OutcomeWords words = chunks.of(id);
    return words != null && words.mustWaitForEnd(index(id));
  }

  /** An upper bound of the assigned ids. */
  public long highestId() {
    return ids.end() - 1;
  }

  /** Assigns an id and enters it as active. The caller has reserved no record with it yet. */
  public long enter() {
    long id = next();
    enter(id);
    return id;
  }

  /** Step one of entering: an id that no other transaction has. */
  long next() {
    return ids.next();
  }

  /**
   * Step two of entering. Any number of later transactions may have begun and ended since step one.
   */
  void enter(long id) {
    wordsOf(id).enter(index(id));
  }

  /** Words for blocks of ids, each of which lies in one chunk. */
  private final class IdOutcomes implements TransactionIds.Outcomes {
    @Override
    public void makeRoom(long first) {
      if (chunks.of(first) == null) {
        addChunk(first >>> SHIFT);
      }
    }

    /** As if they had aborted, with no row. */
    @Override
    public void unused(long from, long end) {
      OutcomeWords words = wordsOf(from);
      for (long id = from; id < end; id++) {
        words.settle(index(id), ABORTED);
      }
    }
  }

  private void addChunk(long chunk) {
    growing.lock();
    try {
      Chunks now = chunks;
      long index = chunk - now.first; // below 0: all of its ids were assigned, and are forgotten
      if (index >= now.array.length) {
        OutcomeWords[] array = Arrays.copyOf(now.array, (int) index + 1);
        for (int i = now.array.length; i <= index; i++) {
          array[i] = new OutcomeWords(CHUNK);
        }
        chunks = new Chunks(now.first, array, now.older);
      }
    } finally {
      growing.unlock();
    }
  }

  /** Marks a transaction that is about to reserve its commit record. */
  public void committing(long id) {
    OutcomeWords prepared = wordOfPrepared(id);
    if (prepared != null) {
      prepared.committing(0);
    } else {
      wordsOf(id).committing(index(id));
    }
  }

  /**
   * Makes a word for a transaction that is about to be prepared, which may fail. The word is not
   * read before {@link #prepared}.
   */
  public void prepare(long id) {
    growing.lock();
    try {
      preparedWords = preparedWords.with(id);
    } finally {
      growing.unlock();
    }
  }

  /** Removes the word that {@link #prepare} made: the record could not be published. */
  public void notPrepared(long id) {
    growing.lock();
    try {
      OutcomeWords word = preparedWords.of(id);
      preparedWords = preparedWords.without(id);
      if (word != null) {
        word.settle(0, ABORTED); // a thread that has the word no longer waits for anything
      }
    } finally {
      growing.unlock();
    }
  }

  /** Marks a transaction that is in the table as one whose PREPARE record is published. */
  public void prepared(long id) {
    active(id);
    boolean isWaited =
        wordsOf(id)
            .moveAway(index(id)); // afterwards: a thread that finds this mark reads the other word
    if (isWaited) {
      markWaited(id); // it is not decided meanwhile: that requires the lock of the list
    }
  }

  private void active(long id) {
    Objects.requireNonNull(preparedWords.of(id)).enter(0);
  }

  /** Marks a prepared transaction as undecided again: its commit record could not be published. */
  public void stillPrepared(long id) {
    settle(id, ACTIVE);
  }

  /** Whether a transaction is prepared and undecided. */
  public boolean isPrepared(long id) {
    OutcomeWords prepared = wordOfPrepared(id);
    return prepared != null && isUndecided(prepared.get(0));
  }

  /**
   * Whether there is a prepared transaction that is undecided, or was committed above a snapshot
   * that is open, or is just being prepared.
   */
  public boolean hasPreparedAbove(long snapshot) {
    PreparedWords now = preparedWords;
    for (int i = 0; i < now.size(); i++) {
      long state = now.get(i);
      if (state != ABORTED && (state < ABORTED || state > snapshot)) {
        return true;
      }
    }
    return false;
  }

  private @Nullable OutcomeWords wordOfPrepared(long id) {
    PreparedWords now = preparedWords;
    OutcomeWords prepared = now.isEmpty() ? null : now.of(id);
    return prepared == null || prepared.get(0) == OutcomeWords.UNKNOWN ? null : prepared;
  }

  /** Marks a committing transaction that has reserved no record as active again. */
  public void stillActive(long id) {
    settle(id, ACTIVE);
  }

  /**
   * A source of the outcome of a transaction that was prepared or is just being prepared, in this
   * life or a former one. It works for as long as it is referenced: {@link #ACTIVE} while
   * undecided, {@link #ABORTED}, or the LSN of the commit. Null if the transaction was not
   * prepared, or its outcome is visible to all.
   */
  public @Nullable LongSupplier ofPrepared(long id) {
    PreparedWords now = preparedWords;
    OutcomeWords prepared = now.isEmpty() ? null : now.of(id);
    return prepared == null
        ? null
        : () -> {
          long state = prepared.get(0);
          return state == OutcomeWords.UNKNOWN || state == COMMITTING ? ACTIVE : state;
        };
  }

  /** Marks a transaction whose commit record is published. */
  public void committed(long id, long lsn) {
    settle(id, lsn);
  }

  /**
   * Marks a transaction as aborted. It is in the ATM and its ABORT record is published; or no row
   * of it is left, and that is published.
   */
  public void aborted(long id) {
    settle(id, ABORTED);
  }

  private static int index(long id) {
    return (int) id & (CHUNK - 1);
  }

  private OutcomeWords wordsOf(long id) {
    OutcomeWords words = chunks.of(id);
    if (words == null) {
      throw new IllegalStateException("transaction " + id + " is not in the table");
    }
    return words;
  }

  /**
   * After the outcome is set nothing may be thrown: the caller would believe that it is unknown.
   */
  @SuppressWarnings("EmptyCatch")
  private void settle(long id, long outcome) {
    OutcomeWords prepared = wordOfPrepared(id);
    boolean isAwaited =
        prepared != null ? prepared.settle(0, outcome) : wordsOf(id).settle(index(id), outcome);
    if (isAwaited) {
      try {
        ParkingLot.global().unparkAll(this, id);
      } catch (Throwable notWoken) {
        // No stack or memory left. A sleeping thread checks by itself after a slice.
      }
      try {
        rowWaiters.ended(id);
      } catch (Throwable notWoken) {
        // The same.
      }
    }
  }

  /**
   * The outcome of a writer: {@link #ACTIVE}, {@link #COMMITTING}, {@link #ABORTED}, {@link
   * #COMMITTED_FOR_ALL}, or its commit LSN. The row that names the id has to be latched.
   */
  public long status(long id) {
    if (id == 0) {
      return COMMITTED_FOR_ALL;
    }
    Chunks now = chunks;
    OutcomeWords words = now.of(id);
    long state = words == null ? OutcomeWords.UNKNOWN : words.get(index(id));
    if (state != OutcomeWords.UNKNOWN && state != OutcomeWords.ELSEWHERE) {
      return state;
    }
    OutcomeWords prepared = wordOfPrepared(id);
    if (prepared != null) {
      return prepared.get(0);
    }
    if (aborted.contains(id)) {
      return ABORTED;
    }
    return words != null || id < firstId ? COMMITTED_FOR_ALL : now.valueOf(id);
  }

  /**
   * As {@link #status}, but waits while the outcome is being published. That needs no latch and no
   * other caller, so the wait ends.
   */
  public long outcome(long id) {
    long state = status(id);
    return state == COMMITTING ? awaitOutcome(id) : state;
  }

  private long awaitOutcome(long id) {
    @Nullable Object begun = waits.begin();
    try {
      long state = COMMITTING;
      for (int spins = 0; state == COMMITTING; spins++) {
        if (spins < SPINS) {
          Thread.onSpinWait();
        } else {
          sleep(id);
        }
        state = status(id);
      }
      return state;
    } finally {
      waits.end(begun);
    }
  }

  /** Sleeps until the transaction may have ended, for at most a slice. */
  private void sleep(long id) {
    OutcomeWords prepared = wordOfPrepared(id);
    OutcomeWords words = prepared != null ? prepared : chunks.of(id);
    int index = prepared != null ? 0 : index(id);
    if (words != null) {
      ParkingLot.global().park(this, id, () -> words.mustWait(index), System.nanoTime() + slice);
    }
  }

  /** Whether a status means committed. */
  public static boolean isCommitted(long status) {
    return status == COMMITTED_FOR_ALL || status > ABORTED;
  }

  /**
   * The ids of all transactions that have written and have not ended. Waits for those that are
   * committing (R8).
   */
  public long[] writing() {
    LongStream.Builder ids = LongStream.builder();
    forEachUndecided(id -> {
      if (outcome(id) == ACTIVE) {
        ids.add(id);
      }
      return true;
    });
    PreparedWords prepared =
        preparedWords; // after the chunks: a transaction moves from there to here
    for (int i = 0; i < prepared.size(); i++) {
      if (isUndecided(prepared.get(i)) && outcome(prepared.id(i)) == ACTIVE) {
        ids.add(prepared.id(i));
      }
    }
    return ids.build().distinct().toArray();
  }

  /**
   * Visits the ids in the chunks that are active or committing, in order, as long as the visitor
   * returns true.
   */
  private void forEachUndecided(LongPredicate visitor) {
    Chunks now = chunks;
    boolean goesOn = true;
    for (IdSpans.Span span : now.older.all()) {
      OutcomeWords words = span.words();
      goesOn = goesOn && (words == null || visitUndecided(span.first(), words, visitor));
    }
    for (int c = 0; c < now.array.length && goesOn; c++) {
      goesOn = visitUndecided(now.first + c, now.array[c], visitor);
    }
  }

  private static boolean visitUndecided(long chunk, OutcomeWords words, LongPredicate visitor) {
    for (int i = 0; i < CHUNK; i++) {
      if (isUndecided(words.get(i)) && !visitor.test((chunk << SHIFT) + i)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isUndecided(long state) {
    return state == ACTIVE || state == COMMITTING;
  }

  /** The lowest ids that have not ended and are not prepared, at most that many, in order. */
  public long[] oldestActive(int most) {
    LongStream.Builder ids = LongStream.builder();
    int[] count = {0};
    forEachUndecided(id -> {
      ids.add(id);
      return ++count[0] < most;
    });
    return ids.build().toArray();
  }

  /**
   * Forgets ids that need not be distinguished any more: those committed for all, and those that no
   * snapshot distinguishes.
   *
   * @param snapshots the open snapshots
   * @param durable the end of the durable part of the log
   */
  public void forget(SnapshotSet snapshots, long durable) {
    long horizon = Math.min(snapshots.horizon(), durable);
    growing.lock();
    try {
      long firstOfLast = ids.end() & -CHUNK;
      ids.takeBack(firstOfLast);
      Chunks now = chunks;
      int complete =
          (int) ((firstOfLast >>> SHIFT) - now.first); // their ids are not assigned any more
      List<IdSpans.Span> spans = new ArrayList<>();
      for (IdSpans.Span span : now.older.all()) {
        OutcomeWords words = span.words();
        spans.add(words == null ? span : lookAt(span.first(), words, snapshots, durable, horizon));
      }
      for (int c = 0; c < Math.min(complete, now.array.length); c++) {
        spans.add(lookAt(now.first + c, now.array[c], snapshots, durable, horizon));
      }
      int older = spans.size(); // including the last one without words
      while (older > 0 && spans.get(older - 1).words() != null) {
        older--;
      }
      long first = older == 0 ? now.first : spans.get(older - 1).end();
      chunks =
          new Chunks(
              first,
              Arrays.copyOfRange(now.array, (int) (first - now.first), now.array.length),
              IdSpans.join(spans.subList(0, older), snapshots, horizon));
      if (!preparedWords.isEmpty()) {
        preparedWords = preparedWords.without(state -> isForgettable(state, horizon));
      }
    } finally {
      growing.unlock();
    }
  }

  /** Whether there are ids to forget, now or after their commits are durable and visible to all. */
  public boolean mayForget() {
    Chunks now = chunks;
    return now.array.length > 1 || !now.older.isEmpty();
  }

  /** The number of chunks with words, plus the number of spans with one value. */
  public int size() {
    Chunks now = chunks;
    return now.array.length + now.older.all().size();
  }

  /** The span for a chunk whose ids are all assigned. */
  private IdSpans.Span lookAt(
      long chunk, OutcomeWords words, SnapshotSet snapshots, long durable, long horizon) {
    long lowest = Long.MAX_VALUE;
    long highest = 0;
    boolean isForAll = true;
    for (int i = 0; i < CHUNK; i++) {
      long id = (chunk << SHIFT) + i;
      if (id < firstId) {
        continue; // of a former life: it is looked up before the chunk's value
      }
      long state = words.get(i);
      isForAll &= isForgettable(state, horizon);
      if (state == OutcomeWords.ELSEWHERE) {
        state = ofPreparedOrForAll(id);
      }
      if (state == OutcomeWords.UNKNOWN || isUndecided(state)) {
        lowest = 0;
        highest = Long.MAX_VALUE;
        if (!isForAll) {
          break;
        }
      } else if (state != ABORTED) {
        lowest = Math.min(lowest, state);
        highest = Math.max(highest, state);
      }
    }
    if (isForAll) {
      return IdSpans.Span.ended(chunk, 0, 0);
    }
    return highest <= durable && !snapshots.needs(lowest, highest)
        ? IdSpans.Span.ended(chunk, lowest, highest)
        : IdSpans.Span.of(chunk, words);
  }

  /**
   * The outcome of a prepared transaction. It is {@link OutcomeWords#UNKNOWN} if the transaction
   * has no word any more because it is committed for all: its chunk waits until its other
   * transactions are, too.
   */
  private long ofPreparedOrForAll(long id) {
    OutcomeWords prepared = preparedWords.of(id);
    return prepared == null ? OutcomeWords.UNKNOWN : prepared.get(0);
  }

  private static boolean isForgettable(long state, long horizon) {
    return state >= ABORTED && state <= horizon;
  }
}
