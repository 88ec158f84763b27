package org.revenantdb.jmh.insert;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.WaitCounts;
import org.revenantdb.engine.Waits;

/** RevenantDB, in the four ways of the article. */
public final class RevenantInserts implements InsertStore {
  /** How the rows are spread. */
  public enum Way {
    /** Growing numbers, one tree: the problem. */
    CLUSTERED,
    /** Growing numbers, eight trees by the hash of the key. */
    HASH_PARTITIONED,
    /** Numbers from a sequence with their bits reversed, each logged by itself. */
    BIT_REVERSED,
    /** As before, from a sequence that is logged once in ten thousand numbers. */
    BIT_REVERSED_CACHED
  }

  private static final int PARTITIONS = 8;
  private static final int CACHE = 10_000;

  /** Waits for the latch of a page. */
  static final List<WaitClass> PAGE_LATCHES =
      List.of(
          WaitClass.LEAF_SHARED,
          WaitClass.LEAF_EXCLUSIVE,
          WaitClass.INNER_SHARED,
          WaitClass.INNER_EXCLUSIVE,
          WaitClass.OVERFLOW_SHARED,
          WaitClass.OVERFLOW_EXCLUSIVE,
          WaitClass.MAP_SHARED,
          WaitClass.MAP_EXCLUSIVE,
          WaitClass.OTHER_SHARED,
          WaitClass.OTHER_EXCLUSIVE);

  private final Database database;
  private final Table table;
  private final LongSupplier numbers;
  private final TransactionOptions options;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param way how the rows are spread
   * @param durability of each insert
   * @param cacheBytes memory for pages
   */
  public RevenantInserts(Path directory, Way way, Durability durability, long cacheBytes) {
    database = Database.open(directory, DatabaseOptions.defaults().withPoolBytes(cacheBytes));
    options = TransactionOptions.of(durability);
    table =
        way == Way.HASH_PARTITIONED
            ? database.getOrCreateTable("rows", TableOptions.hashPartitioned(PARTITIONS))
            : database.getOrCreateTable("rows");
    numbers =
        switch (way) {
          case CLUSTERED, HASH_PARTITIONED -> new AtomicLong()::getAndIncrement;
          case BIT_REVERSED -> reversed(1, durability);
          case BIT_REVERSED_CACHED -> reversed(CACHE, durability);
        };
  }

  private LongSupplier reversed(int cache, Durability durability) {
    var sequence =
        database.getOrCreateSequence(
            "ids",
            SequenceOptions.defaults().withCacheSize(cache).withOrder(SequenceOrder.BIT_REVERSED));
    return () -> sequence.next(durability);
  }

  @Override
  public void insert(byte[] value) {
    byte[] key = RowNumbers.key(numbers.getAsLong());
    database.run(options, writer -> writer.put(table, key, value));
  }

  /**
   * The waits so far.
   *
   * @return a snapshot
   */
  public Waits waits() {
    return database.waitStatistics();
  }

  /** All waits for latches of pages together: how many, nanoseconds, the longest. */
  static WaitCounts pageLatches(Waits waits) {
    long count = 0;
    long nanos = 0;
    long longest = 0;
    for (WaitClass latch : PAGE_LATCHES) {
      WaitCounts counts = waits.of(latch);
      count += counts.count();
      nanos += counts.totalNanos();
      longest = Math.max(longest, counts.maxNanos());
    }
    return new WaitCounts(WaitClass.LEAF_EXCLUSIVE, count, nanos, longest);
  }

  @Override
  public long rows() {
    return database.call(reader -> reader.count(table, null, null));
  }

  @Override
  public void close() {
    database.close();
  }
}
