package org.revenantdb.collections.feed;

import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.collections.index.Kept;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * One feed of a database, for all who have opened it.
 *
 * <p>Threads: {@code next} belongs to the transaction that is in its last step, of which there is
 * one at a time ({@link Transaction#beforeCommit}). The rest is thread-safe.
 */
public final class FeedState {
  /*
   * Protocol    §53, with the crash table.
   *
   * Position    taken in the last step, so it is in the order of the commits: who sees a position sees all smaller ones
   *             that there will ever be. A position whose transaction is not committed after all is never used.
   *
   * Retention   marks change with the lock of the retention, and each transaction of a removal by age looks at them and
   *             commits with it. So a removal ends with the transaction that it is in. The lock is fair, or a removal of
   *             many transactions could keep it to its end.
   */
  private static final Map<Database, Map<String, FeedState>> ALL = new HashMap<>();

  private final Database database;
  private final String name;
  private final Table commits;
  private final Table changes;
  private final Sequence batches;
  private final Arrivals arrivals = new Arrivals();

  /** Taken before a transaction is begun, never by one that is in its last step. */
  private final ReentrantLock retention = new ReentrantLock(/* fair= */ true);

  /** Null if nothing is removed by its age. Changed with the lock of the retention. */
  private volatile @Nullable FeedMarks marks;

  private long next;

  /** What a transaction has of a feed. */
  private static final class Part {
    private final long batch;
    private long count;

    /** 0 if it has none yet. */
    private long position;

    Part(long batch) {
      this.batch = batch;
    }
  }

  private FeedState(Database database, String name) {
    this.database = database;
    this.name = name;
    this.commits = database.getOrCreateTable(tableOf(name));
    this.changes = database.getOrCreateTable(tableOf(name) + "/changes");
    this.batches = database.getOrCreateSequence(tableOf(name));
    this.next = 1 + database.<Long>read(this::last);
  }

  private static String tableOf(String name) {
    return "revenant.feeds/" + name;
  }

  /** That of a name. */
  public static FeedState of(Database database, String name) {
    FeedState found;
    synchronized (ALL) {
      found = ALL.getOrDefault(database, Map.of()).get(name);
    }
    if (found == null) { // so nobody can record; and nothing is read while others wait here
      FeedState made = new FeedState(database, name);
      synchronized (ALL) {
        ALL.keySet().removeIf(Database::isClosed);
        found = ALL.computeIfAbsent(database, _ -> new HashMap<>()).putIfAbsent(name, made);
      }
      return found == null ? made : found;
    }
    return found;
  }

  /** Its name. */
  public String name() {
    return name;
  }

  /** The commits, by position. */
  public Table commits() {
    return commits;
  }

  /** The changes, by batch. */
  public Table changes() {
    return changes;
  }

  /** Those who wait for it. */
  public Arrivals arrivals() {
    return arrivals;
  }

  private String tableOfMarks() {
    return "revenant.feed-marks/" + name;
  }

  /**
   * Has commits removed by their age, instead of what was declared before.
   *
   * @param age in milliseconds
   */
  public FeedMarks retain(long age, InstantSource clock) {
    retention.lock();
    try {
      FeedMarks made = new FeedMarks(database.getOrCreateTable(tableOfMarks()), age, clock);
      marks = made;
      return made;
    } finally {
      retention.unlock();
    }
  }

  /**
   * Has nothing removed by its age any more, and deletes all marks. If a crash undoes that, they
   * are as true as before.
   *
   * @return whether it was
   */
  public boolean retainAll() {
    retention.lock();
    try {
      boolean wasDeclared = marks != null;
      marks = null;
      Table stored = database.findTable(tableOfMarks());
      if (stored != null) {
        database.run(
            TransactionOptions.lazy(),
            tx -> {
              long _ = tx.deleteRange(stored, null, null);
            });
      }
      return wasDeclared;
    } finally {
      retention.unlock();
    }
  }

  /**
   * Does a part of a removal by age, unless another retention was declared.
   *
   * @param of that of the removal
   * @param part a transaction
   * @return what the part returns; null if the removal is over
   */
  public <T> @Nullable T whileDeclared(FeedMarks of, Supplier<T> part) {
    retention.lock();
    try {
      return of.equals(marks) ? part.get() : null;
    } finally {
      retention.unlock();
    }
  }

  /** What says how old commits are; null if nothing is removed by its age. */
  public @Nullable FeedMarks marks() {
    return marks;
  }

  /** Brings marks up to date, in a transaction that may be repeated. */
  public FeedMarks.Pass pass(Transaction tx, FeedMarks of) {
    return of.pass(tx, trimmed(tx), last(tx));
  }

  /** The last position that a transaction sees; that to which it was trimmed if it is empty. */
  public long last(Transaction tx) {
    try (Cursor cursor = tx.scanDescending(commits, FeedRecord.number(1), null)) {
      return cursor.next() ? FeedRecord.number(cursor.key()) : trimmed(tx);
    }
  }

  /** The last position that was trimmed; 0 if there is none. */
  public long trimmed(Transaction tx) {
    byte[] stored = tx.get(commits, FeedRecord.number(0));
    return stored == null ? 0 : FeedRecord.number(stored);
  }

  /** The first key of a batch. */
  public static byte[] startOf(long batch) {
    return FeedRecord.changeKey(batch, 0);
  }

  /** The first key behind a batch. */
  public static byte[] endOf(long batch) {
    return FeedRecord.changeKey(batch + 1, 0);
  }

  /**
   * What the writes of a table keep for this feed.
   *
   * @param as the name under which they keep it
   */
  public <V> Kept<V> recordOf(String table, String as) {
    return new Kept<>() {
      @Override
      public String name() {
        return as;
      }

      @Override
      public Change change(@Nullable V before, @Nullable V after) {
        return new Change() {
          @Override
          public void demandUnique(Transaction transaction, byte[] key, Expired expired) {}

          @Override
          public void write(Transaction transaction, byte[] key, byte @Nullable [] stored) {
            record(transaction, table, key, stored);
          }
        };
      }
    };
  }

  private void record(Transaction tx, String table, byte[] key, byte @Nullable [] stored) {
    Part part = tx.attachment(this, () -> begin(tx));
    tx.put(
        changes,
        FeedRecord.changeKey(part.batch, part.count++),
        FeedRecord.change(table, key, stored));
  }

  private Part begin(Transaction tx) {
    // Lazy is enough for keys of rows, and a force would keep others waiting for the lock of the
    // order if this is the last step of the transaction.
    Part part = new Part(batches.next(Durability.LAZY));
    tx.beforeCommit(() -> number(tx, part));
    tx.afterCommit(arrivals::arrived);
    return part;
  }

  /** The last step of a transaction. */
  private void number(Transaction tx, Part part) {
    if (part.position != 0) { // a commit that was refused has run it before
      boolean _ = tx.delete(commits, FeedRecord.number(part.position));
    }
    long position = next++;
    part.position = position;
    tx.put(commits, FeedRecord.number(position), FeedRecord.number(part.batch));
  }
}
