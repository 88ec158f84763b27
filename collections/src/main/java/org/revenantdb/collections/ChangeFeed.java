package org.revenantdb.collections;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.expiry.Remover;
import org.revenantdb.collections.feed.FeedMarks;
import org.revenantdb.collections.feed.FeedRecord;
import org.revenantdb.collections.feed.FeedState;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * The committed changes of some tables, in the order of the commits.
 *
 * {@snippet :
 * ChangeFeed feed = ChangeFeed.open(db, "orders");
 * long _ = feed.watch(orders);
 * FeedSubscription subscription =
 *     feed.follow(storedPosition, commit -> commit.forEach(orders, (key, order) -> ...));
 * }
 *
 * <p>Each write of a watched table is recorded in the transaction that makes it. So what is
 * committed is in the feed, what is rolled back is not, and a crash leaves both or neither. A
 * reader sees only commits that are durable: none that it has seen is undone.
 *
 * <p><b>Position.</b> A reader stores the position of the last commit that it has dealt with, and
 * goes on behind it after a restart; 0 is before the first. If it stores the position in the
 * transaction in which it deals with the commit, in this database, it deals with each exactly once.
 *
 * <p><b>Which writes.</b> Those of a {@link TypedTable}. What writes the table as bytes, drops it
 * or truncates it is not recorded. Watch each table again after each open, before the first write,
 * which is refused until then.
 *
 * <p><b>Space.</b> The feed grows until it is {@linkplain #trim trimmed} up to a position, or by
 * the age of its commits ({@link #retain}).
 *
 * <p><b>Limits.</b> A transaction that has written to a watched table cannot be prepared. A
 * READ_COMMITTED transaction cannot write to one.
 *
 * <p><b>Threads.</b> Thread-safe.
 */
public final class ChangeFeed {
  /** Commits that are read in one transaction. */
  private static final int BATCH = 64;

  /** A slow listener does not keep one snapshot open for longer than this and one commit. */
  private static final long PASS_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Commits that are trimmed in one transaction. */
  private static final int TRIMMED = 64;

  private static final TransactionOptions READS =
      TransactionOptions.defaults()
          .withDurability(Durability.DURABLE)
          .withReadOnly(true)
          .withName("change feed");

  private static final TransactionOptions TRIMS =
      TransactionOptions.defaults().withDurability(Durability.LAZY).withName("change feed");

  private final Database database;
  private final FeedState state;

  /** Receives the commits of a feed. */
  @FunctionalInterface
  public interface Listener {
    /**
     * Called with a commit, by one thread at a time, in the order of the commits. A snapshot is
     * open until this returns, so versions of rows that others replace meanwhile are not removed.
     *
     * @param commit valid until this returns
     * @throws Exception if the commit could not be dealt with; the reader stops before it
     */
    void committed(FeedCommit commit) throws Exception;
  }

  private ChangeFeed(Database database, FeedState state) {
    this.database = database;
    this.state = state;
  }

  /**
   * Opens a feed. Creates it if there is none of this name.
   *
   * @param database where it is
   * @param name its name
   * @return the feed
   */
  public static ChangeFeed open(Database database, String name) {
    Objects.requireNonNull(database, "database must not be null");
    Objects.requireNonNull(name, "name must not be null");
    return new ChangeFeed(database, FeedState.of(database, name));
  }

  /**
   * The name of the feed.
   *
   * @return the name
   */
  public String name() {
    return state.name();
  }

  /**
   * Has the writes of a table recorded from now on. Called for the first time, it waits for
   * transactions that have written to the table, as {@link TypedTable#index} does. Call it again
   * after each open.
   *
   * @param table the table
   * @return a position: all commits of the table behind it are in the feed with all their changes,
   *     if this is the first call for the table
   * @throws org.revenantdb.engine.CatalogException if this thread has an open transaction that has
   *     written to the table, or if a prepared transaction has; call it again later
   */
  public long watch(TypedTable<?, ?> table) {
    watchTyped(table);
    return position();
  }

  private <V> void watchTyped(TypedTable<?, V> table) {
    String as = keptAs();
    table.keep(as, state.recordOf(table.name(), as));
  }

  /**
   * Has the writes of a table not recorded any more. What is recorded stays.
   *
   * @param table the table
   * @return whether they were recorded
   */
  public boolean unwatch(TypedTable<?, ?> table) {
    return table.keepNoMore(keptAs());
  }

  private String keptAs() {
    return TypedTable.RESERVED + "feed/" + name();
  }

  /**
   * The position of the last commit. It is durable.
   *
   * @return the position; 0 if there is none
   */
  public long position() {
    return database.<Long>read(READS, state::last);
  }

  /**
   * The position of the last commit that a transaction sees. Its snapshot has exactly the commits
   * up to there. So a reader can begin with the tables as the transaction reads them, and go on
   * behind this position.
   *
   * @param transaction which reads; not READ_COMMITTED, whose statements have a snapshot each. A
   *     lazy one may see a position that a crash undoes
   * @return the position; 0 if there is none
   */
  public long position(Transaction transaction) {
    return state.last(transaction);
  }

  /**
   * The first position from which can be read: commits behind it are there.
   *
   * @return the position; 0 if the feed was never trimmed
   */
  public long first() {
    return database.<Long>read(READS, state::trimmed);
  }

  /**
   * Passes commits behind a position to a listener, on this thread, and returns when there is no
   * further one.
   *
   * @param after the position of the last commit that was dealt with; 0 for all
   * @param most how many at most
   * @param listener receives them
   * @return the position of the last commit that was passed, or {@code after}
   * @throws ChangesGoneException if the feed has not all commits behind the position
   * @throws Exception what the listener has thrown; commits before that one were dealt with
   */
  public long read(long after, long most, Listener listener) throws Exception {
    Objects.requireNonNull(listener, "listener must not be null");
    long at = after;
    long left = most;
    while (left > 0) {
      Pass pass = pass(at, Math.min(left, BATCH), listener);
      at = pass.at;
      left -= pass.passed;
      if (pass.isLast) {
        break;
      }
    }
    return at;
  }

  private void demandThere(Transaction tx, long after) {
    long trimmed = state.trimmed(tx);
    long last = state.last(tx);
    if (after < trimmed || after > last) {
      throw new ChangesGoneException(name(), after, trimmed, last);
    }
  }

  private record Pass(long at, long passed, boolean isLast) {}

  /** Reads in one snapshot. It is no attempt of run: the listener must not be called twice. */
  private Pass pass(long after, long most, Listener listener) throws Exception {
    try (Transaction tx = database.begin(READS)) {
      demandThere(tx, after);
      long at = after;
      long passed = 0;
      long begin = System.nanoTime();
      boolean isCut = false;
      try (Cursor rows = tx.scan(state.commits(), FeedRecord.number(after + 1), null)) {
        while (passed < most && !isCut && rows.next()) {
          long position = FeedRecord.number(rows.key());
          FeedCommit commit = new FeedCommit(state, tx, position, FeedRecord.number(rows.value()));
          if (!commit.isEmpty()) {
            listener.committed(commit);
            passed++;
            isCut = System.nanoTime() - begin >= PASS_NANOS;
          }
          at = position;
        }
      }
      return new Pass(at, passed, passed < most && !isCut);
    }
  }

  /**
   * Passes commits behind a position to a listener, on a virtual thread, those that are there and
   * each later one when it is durable, until the subscription or the database is closed.
   *
   * @param after the position of the last commit that was dealt with; 0 for all
   * @param listener receives them. If it throws, the subscription ends, and {@link
   *     FeedSubscription#failure} has what it has thrown
   * @return the subscription; close it before the database
   * @throws ChangesGoneException if the feed has not all commits behind the position
   */
  public FeedSubscription follow(long after, Listener listener) {
    Objects.requireNonNull(listener, "listener must not be null");
    boolean _ =
        database.<Boolean>read(
            READS,
            tx -> {
              demandThere(tx, after);
              return true;
            });
    return new FeedSubscription(this, state.arrivals(), after, listener);
  }

  /**
   * Removes the commits up to a position. Call it with a position that all readers have stored.
   *
   * @param upTo the last position to be removed; all if it is behind the last one
   * @return how many commits were removed
   */
  public long trim(long upTo) {
    return trim(upTo, Supplier::get);
  }

  /**
   * Trims up to a position.
   *
   * @param permit runs the transaction that it is given, or returns null to end the removal
   */
  private long trim(long upTo, Function<Supplier<Trimmed>, @Nullable Trimmed> permit) {
    long end = Math.min(upTo, position());
    long commits = 0;
    Trimmed some;
    do {
      some = permit.apply(() -> database.call(TRIMS, tx -> trimSome(tx, end)));
      commits += some == null ? 0 : some.commits;
    } while (some != null && !some.isDone);
    return commits;
  }

  /** What a transaction has removed; it is done if nothing is left for another one. */
  private record Trimmed(long commits, boolean isDone) {}

  private Trimmed trimSome(Transaction tx, long end) {
    long trimmed = state.trimmed(tx);
    if (end <= trimmed) {
      return new Trimmed(0, /* isDone= */ true);
    }
    List<byte[]> positions = new ArrayList<>();
    List<byte[]> batches = new ArrayList<>();
    byte[] to = FeedRecord.number(end + 1);
    try (Cursor rows = tx.scan(state.commits(), FeedRecord.number(trimmed + 1), to)) {
      while (positions.size() < TRIMMED && rows.next()) {
        positions.add(rows.key());
        batches.add(rows.value());
      }
    }
    for (int i = 0; i < positions.size(); i++) {
      long batch = FeedRecord.number(batches.get(i));
      long _ = tx.deleteRange(state.changes(), FeedState.startOf(batch), FeedState.endOf(batch));
      boolean _ = tx.delete(state.commits(), positions.get(i));
    }
    boolean isDone = positions.size() < TRIMMED;
    tx.put(
        state.commits(),
        FeedRecord.number(0),
        isDone ? FeedRecord.number(end) : positions.getLast());
    return new Trimmed(positions.size(), isDone);
  }

  /**
   * Has commits removed when they have reached an age, whether readers have stored their positions
   * or not. A reader that is behind what is left receives {@link ChangesGoneException}, and never
   * passes over what is gone. Call it again after each open. Until then, nothing is removed by its
   * age; ages go on meanwhile. {@link #trim} works as well.
   *
   * <p>When this returns, nothing is removed any more by a retention that was declared before: a
   * removal that is running ends with the transaction that it is in, for which this call waits.
   *
   * @param retention how long commits stay; it replaces the one that was declared before, for all
   *     who have opened the feed
   * @return this feed
   */
  public ChangeFeed retain(FeedRetention retention) {
    FeedMarks marks = state.retain(retention.millis(), retention.clock());
    if (retention.hasTrimmer()) {
      Remover.start(database, "revenant-feed-trim-" + name(), () -> trimAndLookAhead(marks));
    }
    return this;
  }

  /**
   * Has no commits removed by their age any more, and forgets how old they are. A removal that is
   * running ends, as with {@link #retain}. If a retention is declared later, all commits begin to
   * age then.
   *
   * @return whether a retention was declared since the open. What a former life of the database has
   *     stored is forgotten in either case
   */
  public boolean retainAll() {
    return state.retainAll();
  }

  /**
   * Removes the commits that have reached the age. A thread in the background does that as well; a
   * call is only needed if {@link FeedRetention#withTrimmer} says that there is none. Call it more
   * often than once in a 64th of the age: a commit is as old as the first call behind it says.
   *
   * @return how many commits were removed; fewer than have reached the age if another retention is
   *     declared meanwhile
   * @throws IllegalStateException if no retention was declared since the open
   */
  public long trimOld() {
    FeedMarks marks = state.marks();
    if (marks == null) {
      throw new IllegalStateException(
          this + " has no retention that was declared since the open; call retain first");
    }
    FeedMarks.Pass pass = pass(marks);
    return pass == null ? 0 : trimOld(marks, pass.old());
  }

  private long trimAndLookAhead(FeedMarks marks) {
    FeedMarks.Pass pass = pass(marks);
    if (pass == null) {
      return Remover.OVER;
    }
    long _ = trimOld(marks, pass.old());
    return pass.next();
  }

  /** Brings the marks up to date; null if another retention was declared. */
  private FeedMarks.@Nullable Pass pass(FeedMarks marks) {
    return state.whileDeclared(marks, () -> database.call(TRIMS, tx -> state.pass(tx, marks)));
  }

  /** Trims up to a position, until another retention is declared. */
  private long trimOld(FeedMarks marks, long upTo) {
    return trim(upTo, some -> state.whileDeclared(marks, some));
  }

  /** Whether nobody can read any more. */
  boolean isOver() {
    return database.isClosed();
  }

  @Override
  public String toString() {
    return "ChangeFeed[" + name() + "]";
  }
}
