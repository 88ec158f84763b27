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
 * What became of each transaction that wrote something, for as long as somebody may ask.
 *
 * <p>Thread-safe. Looking up is lock-free.
 */
public final class TransactionTable {
  /*
   * Source      rules R1, R8, R10, R21 (docs/rules.md).
   *
   * State       one word per id, in chunks of 4,096 ids: OutcomeWords has its states and transitions
   * Transitions of a chunk, by forget(), when all its ids have ended, or nobody gets them, and their commits are durable
   *             words -> one value     when no snapshot, open or to come, is at or behind the lowest of its commits and
   *                                    before the highest: that is the value. With its neighbours, if none is between
   *                                    the lowest and the highest of all (IdSpans)
   *             either -> nothing      when all its commits are at or below every snapshot (R10)
   *
   * One value   is as good as each id's own: every snapshot that compares it, S, was open when the chunk became one
   *             value, or is at or above the bound of that look, and so at or above the value. Either way S is below
   *             all of the chunk's commits, or at or above all of them. The value of an id only grows, and with each
   *             the same holds; so it does for a lifetime of which one end is the commit itself, taken before, and the
   *             other the value (protocols.md §38).
   *
   * Waiting     for one that is COMMITTING, usually a matter of a microsecond; where the ring of the log is full, as
   *             long as a write to the disk. So: some spins, then the parking lot, keyed by table and id. It is done
   *             with the row's page latched (R1), and ends all the same: the session that commits holds nothing, the
   *             log writer takes no latch, and a log that stops makes the session abort.
   *
   *             For one that is ACTIVE, which may take any time: RowWaiters, with nothing latched.
   *
   * Prepared    those of this life and of former ones have words of their own (protocols.md §29): looked at where the
   *             chunk has none, or says ELSEWHERE; before the ATM, in which one that is being rolled back already is.
   *             Forgotten as a chunk is.
   *
   * Look-up     table first, then the ATM, else committed for all. It is right while the row that names the id is
   *             latched (R1): an id leaves the ATM only after every row of it was reverted under its page's exclusive
   *             latch, and a chunk loses its words only when one answer is right for its committed ids, and the ATM,
   *             which was filled before, answers for its aborted ones, but for those of which no row was left when they
   *             became so.
   */
  /** Answer of {@link #status}: still running. */
  public static final long ACTIVE = OutcomeWords.ACTIVE;

  /**
   * Answer of {@link #status}: its commit record is being published; the outcome is known in a
   * moment.
   */
  public static final long COMMITTING = OutcomeWords.COMMITTING;

  /** Answer of {@link #status}: rolled back. */
  public static final long ABORTED = OutcomeWords.ABORTED;

  /** Answer of {@link #status}: committed, durable, and visible to every snapshot. */
  public static final long COMMITTED_FOR_ALL = OutcomeWords.UNKNOWN;

  private static final int SHIFT = 12;
  private static final int CHUNK = 1 << SHIFT;

  /** About as long as publishing takes; alone on a processor nobody publishes meanwhile. */
  private static final int SPINS = Runtime.getRuntime().availableProcessors() > 1 ? 100 : 0;

  /** An unpark may be lost, where there is no memory for it. */
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
   * The recent chunks, from one number on, and what is behind them, up to the last that has no
   * words.
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
   * An empty table whose waits are told.
   *
   * @param aborted the aborted-transaction map
   * @param highestId the highest id that was ever used
   * @param waits where it is told that somebody waits for the outcome of a transaction
   */
  public TransactionTable(AbortedTransactions aborted, long highestId, WaitMeter waits) {
    this(aborted, highestId, new long[0], SLICE, waits);
  }

  /**
   * A table in which only those are that were prepared in former lives.
   *
   * @param aborted the aborted-transaction map
   * @param highestId the highest id that was ever used
   * @param prepared ids of those that are prepared
   * @param waits where it is told that somebody waits for the outcome of a transaction
   */
  public TransactionTable(
      AbortedTransactions aborted, long highestId, long[] prepared, WaitMeter waits) {
    this(aborted, highestId, prepared, SLICE, waits);
  }

  /** For tests, which would not notice a lost wake-up if everybody looked by himself soon after. */
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

  /** Those who wait until transactions have ended, for their rows. */
  public RowWaiters rowWaiters() {
    return rowWaiters;
  }

  /** The turns of those who try again for rows. */
  public RowTurns rowTurns() {
    return rowTurns;
  }

  /** With the lock of {@link RowWaiters}: false if there is nothing to sleep for. */
  private boolean markWaited(long id) {
    OutcomeWords prepared = wordOfPrepared(id);
    if (prepared != null) {
      return prepared.mustWaitForEnd(0);
    }
    OutcomeWords words = chunks.of(id);
    return words != null && words.mustWaitForEnd(index(id));
  }

  /** No higher id was given out; this one may not have been either. */
  public long highestId() {
    return ids.end() - 1;
  }

  /** Gives out an id and enters it as active. The caller has reserved no record with it yet. */
  public long enter() {
    long id = next();
    enter(id);
    return id;
  }

  /** Step one of entering: an id that nobody else has. */
  long next() {
    return ids.next();
  }

  /** Step two of entering. Any number of later ids may have come and gone since step one. */
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
      long index = chunk - now.first; // below 0: all of its ids were given out, and are forgotten
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
   * Makes a word for a transaction that is about to be prepared, which may fail; nobody looks at it
   * before {@link #prepared}.
   */
  public void prepare(long id) {
    growing.lock();
    try {
      preparedWords = preparedWords.with(id);
    } finally {
      growing.unlock();
    }
  }

  /** What {@link #prepare} made is not needed: the record could not be published. */
  public void notPrepared(long id) {
    growing.lock();
    try {
      OutcomeWords word = preparedWords.of(id);
      preparedWords = preparedWords.without(id);
      if (word != null) {
        word.settle(0, ABORTED); // who has it waits for nothing any more
      }
    } finally {
      growing.unlock();
    }
  }

  /** Marks a transaction that is in the table as one whose PREPARE record is published. */
  public void prepared(long id) {
    active(id);
    boolean isWaited = wordsOf(id).moveAway(index(id)); // behind: who finds this looks there
    if (isWaited) {
      markWaited(id); // nobody decides upon it meanwhile: that takes the lock of the list
    }
  }

  private void active(long id) {
    Objects.requireNonNull(preparedWords.of(id)).enter(0);
  }

  /** Marks a prepared transaction as undecided again: its commit record could not be published. */
  public void stillPrepared(long id) {
    settle(id, ACTIVE);
  }

  /** Whether a transaction is prepared, and nobody has decided yet. */
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

  /** Marks one that is committing, and has reserved no record, as active again. */
  public void stillActive(long id) {
    settle(id, ACTIVE);
  }

  /**
   * What becomes of a transaction that was prepared or is just being prepared, in this life or a
   * former one, and tells the outcome as long as anybody has it: {@link #ACTIVE} while nobody has
   * decided, {@link #ABORTED}, or the LSN of its commit. Null if it was not prepared, or all know
   * what has become of it.
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
   * Marks a transaction that is in the ATM and whose ABORT record is published; or of which no row
   * is left, which is published.
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

  /** Once the outcome stands nothing may be thrown: the caller would take it for unknown. */
  @SuppressWarnings("EmptyCatch")
  private void settle(long id, long outcome) {
    OutcomeWords prepared = wordOfPrepared(id);
    boolean isAwaited =
        prepared != null ? prepared.settle(0, outcome) : wordsOf(id).settle(index(id), outcome);
    if (isAwaited) {
      try {
        ParkingLot.global().unparkAll(this, id);
      } catch (Throwable notWoken) {
        // No stack or memory left. Who sleeps looks by itself after a slice.
      }
      try {
        rowWaiters.ended(id);
      } catch (Throwable notWoken) {
        // The same.
      }
    }
  }

  /**
   * What became of a writer: {@link #ACTIVE}, {@link #COMMITTING}, {@link #ABORTED}, {@link
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
   * As {@link #status}, but waits while the outcome is being published, which needs no latch and no
   * other caller.
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

  /** Until it may have ended, for a slice at most. */
  private void sleep(long id) {
    OutcomeWords prepared = wordOfPrepared(id);
    OutcomeWords words = prepared != null ? prepared : chunks.of(id);
    int index = prepared != null ? 0 : index(id);
    if (words != null) {
      ParkingLot.global().park(this, id, () -> words.mustWait(index), System.nanoTime() + slice);
    }
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
    LongStream.Builder ids = LongStream.builder();
    forEachUndecided(id -> {
      if (outcome(id) == ACTIVE) {
        ids.add(id);
      }
      return true;
    });
    PreparedWords prepared = preparedWords; // behind the chunks: one moves from there to here
    for (int i = 0; i < prepared.size(); i++) {
      if (isUndecided(prepared.get(i)) && outcome(prepared.id(i)) == ACTIVE) {
        ids.add(prepared.id(i));
      }
    }
    return ids.build().distinct().toArray();
  }

  /** Goes over those in the chunks that are active or committing, in order, while it is told to. */
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

  /** The lowest ids that have not ended and are not prepared, so many at most, in order. */
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
   * Forgets ids that nobody has to tell apart any more: what is committed for all, or is one for
   * every snapshot.
   *
   * @param snapshots those that are open
   * @param durable how far the log is durable
   */
  public void forget(SnapshotSet snapshots, long durable) {
    long horizon = Math.min(snapshots.horizon(), durable);
    growing.lock();
    try {
      long firstOfLast = ids.end() & -CHUNK;
      ids.takeBack(firstOfLast);
      Chunks now = chunks;
      int complete = (int) ((firstOfLast >>> SHIFT) - now.first); // nobody is given an id of theirs
      List<IdSpans.Span> spans = new ArrayList<>();
      for (IdSpans.Span span : now.older.all()) {
        OutcomeWords words = span.words();
        spans.add(words == null ? span : lookAt(span.first(), words, snapshots, durable, horizon));
      }
      for (int c = 0; c < Math.min(complete, now.array.length); c++) {
        spans.add(lookAt(now.first + c, now.array[c], snapshots, durable, horizon));
      }
      int older = spans.size(); // with the last that has no words
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

  /** Whether there are ids to forget, now or when their commits are durable and seen by all. */
  public boolean mayForget() {
    Chunks now = chunks;
    return now.array.length > 1 || !now.older.isEmpty();
  }

  /** For how many chunks of ids it has words, and how many spans of them have one value. */
  public int size() {
    Chunks now = chunks;
    return now.array.length + now.older.all().size();
  }

  /** What becomes of a chunk all of whose ids are given out. */
  private IdSpans.Span lookAt(
      long chunk, OutcomeWords words, SnapshotSet snapshots, long durable, long horizon) {
    long lowest = Long.MAX_VALUE;
    long highest = 0;
    boolean isForAll = true;
    for (int i = 0; i < CHUNK; i++) {
      long id = (chunk << SHIFT) + i;
      if (id < firstId) {
        continue; // of a former life: looked up before the chunk's value is
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
   * What became of a prepared one, {@link OutcomeWords#UNKNOWN} if it has no word any more, since
   * it is committed for all: its chunk waits until all others of it are, too.
   */
  private long ofPreparedOrForAll(long id) {
    OutcomeWords prepared = preparedWords.of(id);
    return prepared == null ? OutcomeWords.UNKNOWN : prepared.get(0);
  }

  private static boolean isForgettable(long state, long horizon) {
    return state >= ABORTED && state <= horizon;
  }
}
