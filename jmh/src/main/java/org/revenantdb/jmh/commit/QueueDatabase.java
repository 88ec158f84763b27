package org.revenantdb.jmh.commit;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Random;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** The workload of {@link Queue} on RevenantDB: one table of accounts, one that is the queue. */
final class QueueDatabase implements AutoCloseable {
  private final Database database;
  private final Table accounts;
  private final Table entries;
  private long head;

  /** Creates it, and fills it. */
  QueueDatabase(Path directory, DatabaseOptions options) {
    database = Database.open(directory, options);
    accounts = database.getOrCreateTable("accounts");
    entries = database.getOrCreateTable("queue");
    Random random = new Random(0);
    database.run(transaction -> {
      for (int account = 0; account < Queue.ACCOUNTS; account++) {
        transaction.put(accounts, Rows.key(account), new byte[Queue.ACCOUNT]);
      }
      for (long entry = 0; entry < Queue.LENGTH; entry++) {
        putEntry(transaction, entry, random);
      }
    });
  }

  private void putEntry(Transaction transaction, long entry, Random random) {
    byte[] value =
        ByteBuffer.allocate(Integer.BYTES + Long.BYTES)
            .putInt(Queue.updated(random))
            .putLong(random.nextInt(100) - 50)
            .array();
    transaction.put(entries, Rows.key(entry), value);
  }

  /** Begins a transaction. */
  Transaction begin(TransactionOptions options) {
    return database.begin(options);
  }

  /** Takes the first entry out of the queue and applies it; one thread at a time. */
  void process(Transaction transaction, Random random) {
    byte[] key = Rows.key(head);
    ByteBuffer entry = ByteBuffer.wrap(Objects.requireNonNull(transaction.get(entries, key)));
    transaction.delete(entries, key);
    byte[] account = Rows.key(entry.getInt());
    byte[] row = Objects.requireNonNull(transaction.get(accounts, account));
    ByteBuffer balance = ByteBuffer.wrap(row);
    balance.putLong(0, balance.getLong(0) + entry.getLong());
    transaction.put(accounts, account, row);
    putEntry(transaction, head + Queue.LENGTH, random);
    head++;
  }

  /** Processes one entry in a separate transaction. */
  void processOne(TransactionOptions options, Random random) {
    try (Transaction transaction = begin(options)) {
      process(transaction, random);
      transaction.commit();
    }
  }

  /** Reads the balance of an account in a separate transaction. */
  long balance(TransactionOptions options, int account) {
    try (Transaction transaction = begin(options)) {
      byte[] row = Objects.requireNonNull(transaction.get(accounts, Rows.key(account)));
      transaction.commit();
      return ByteBuffer.wrap(row).getLong(0);
    }
  }

  void sync() {
    database.sync();
  }

  DatabaseStatistics statistics() {
    return database.statistics();
  }

  @Override
  public void close() {
    database.close();
  }
}
