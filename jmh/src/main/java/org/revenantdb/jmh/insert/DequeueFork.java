package org.revenantdb.jmh.insert;

import java.nio.file.Files;
import java.nio.file.Path;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM in which one session takes entries from the left edge of a table that is a queue, each in a
 * separate transaction: the first row is found by a scan and deleted. Deleted rows lie in front of
 * the next row until they are removed.
 *
 * <p>Arguments: directory, entries, bytes of the cache.
 */
public final class DequeueFork {
  private static final int PARTS = 10;
  private static final byte[] ENTRY = new byte[50];
  private static final int LOADED_AT_ONCE = 1_000;

  private DequeueFork() {}

  /**
   * Prints {@code = dequeues_first}, {@code = dequeues_last}: entries a second in the first and in
   * the last tenth; {@code = dequeue_ratio}, the last divided by the first.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    int entries = Integer.parseInt(arguments[1]);
    long cache = Long.parseLong(arguments[2]);
    rates(directory.resolve("warm"), entries, cache); // to have the code compiled
    double[] rates = rates(directory.resolve("measured"), entries, cache);
    Told.tell("dequeues_first", rates[0]);
    Told.tell("dequeues_last", rates[PARTS - 1]);
    Told.tell("dequeue_ratio", rates[PARTS - 1] / rates[0]);
  }

  /** Entries a second in each tenth of a queue. */
  static double[] rates(Path directory, int entries, long cache) throws Exception {
    DatabaseOptions options = DatabaseOptions.defaults().withPoolBytes(cache);
    double[] rates = new double[PARTS];
    try (Database database = Database.open(Files.createDirectories(directory), options)) {
      Table queue = database.getOrCreateTable("queue");
      load(database, queue, entries);
      database.cleanNow();
      TransactionOptions lazily = TransactionOptions.of(Durability.LAZY);
      int each = entries / PARTS;
      for (int part = 0; part < PARTS; part++) {
        long start = System.nanoTime();
        for (int i = 0; i < each; i++) {
          dequeue(database, queue, lazily, (long) part * each + i);
        }
        rates[part] = each * 1e9 / (System.nanoTime() - start);
      }
    }
    return rates;
  }

  private static void load(Database database, Table queue, int entries) {
    for (int from = 0; from < entries; from += LOADED_AT_ONCE) {
      int begin = from;
      int end = Math.min(entries, from + LOADED_AT_ONCE);
      database.run(tx -> {
        for (int i = begin; i < end; i++) {
          tx.put(queue, RowNumbers.key(i), ENTRY);
        }
      });
    }
  }

  private static void dequeue(
      Database database, Table queue, TransactionOptions options, long expected) {
    try (Transaction tx = database.begin(options)) {
      byte[] key;
      try (Cursor cursor = tx.scan(queue, null, null)) {
        if (!cursor.next()) {
          throw new IllegalStateException("the queue is empty before entry " + expected);
        }
        key = cursor.key();
      }
      if (number(key) != expected) {
        throw new IllegalStateException("entry " + number(key) + " came, not " + expected);
      }
      tx.delete(queue, key);
      tx.commit();
    }
  }

  private static long number(byte[] key) {
    return java.nio.ByteBuffer.wrap(key).getLong();
  }
}
