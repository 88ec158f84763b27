package org.revenantdb.suite.crash;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.BulkLoad;
import org.revenantdb.engine.BulkLoadOptions;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Savepoint;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * A session that reports its transactions exactly: every write before it is made, the commit before
 * it is requested, the promise after it was given.
 *
 * <p>Threads: one.
 */
final class Worker {

  private final Database db;
  private final Promises promises;
  private final long seed;
  private final Map<String, Table> tables = new HashMap<>();
  private long values;

  /** Creates a session whose values differ from those of every other seed and number. */
  Worker(Database db, Promises promises, long seed, int number) {
    this.db = db;
    this.promises = promises;
    this.seed = Seeds.of(seed, number);
  }

  private Table table(String name) {
    Table known = tables.get(name);
    if (known == null) {
      known = db.getOrCreateTable(name);
      tables.put(name, known);
    }
    return known;
  }

  /** Runs and commits a transaction; returns false after a conflict. */
  boolean commit(Consumer<Writes> body) {
    return commit(TransactionOptions.durable(), body);
  }

  /**
   * Like {@link #commit(Consumer)}, but lazily: the result is kept only as long as the process
   * lives.
   */
  boolean commitLazily(Consumer<Writes> body) {
    return commit(TransactionOptions.lazy(), body);
  }

  private boolean commit(TransactionOptions options, Consumer<Writes> body) {
    Promises.Group group = promises.begin();
    try (Transaction tx = db.begin(options)) {
      body.accept(new Writes(tx, group));
      group.committing();
      tx.commit();
      switch (Objects.requireNonNull(options.durability())) {
        case DURABLE -> group.durable();
        case LAZY -> group.lazy();
      }
      return true;
    } catch (ConflictException conflict) {
      group.rolledBack();
      return false;
    }
  }

  /**
   * Prepares a transaction; returns false after a conflict. From then on its outcome is a promise,
   * although the database does not know it yet.
   */
  boolean prepare(String name, boolean commits, Consumer<Writes> body) {
    Promises.Group group = promises.begin();
    try (Transaction tx = db.begin()) {
      body.accept(new Writes(tx, group));
      if (commits) {
        group.committing();
      }
      tx.prepare(name.getBytes(StandardCharsets.UTF_8));
      if (commits) {
        group.durable();
      } else {
        group.rolledBack();
      }
      return true;
    } catch (ConflictException conflict) {
      group.rolledBack();
      return false;
    }
  }

  /**
   * A durable transaction whose session does not wait for its commit: it counts as lazy until it is
   * known to be durable.
   */
  void commitAsync(Consumer<Writes> body) {
    Promises.Group group = promises.begin();
    try (Transaction tx = db.begin(TransactionOptions.durable())) {
      body.accept(new Writes(tx, group));
      group.committing();
      CompletionStage<@Nullable Void> durable = tx.commitAsync();
      group.lazy();
      durable.toCompletableFuture().join();
      group.durable();
    } catch (ConflictException conflict) {
      group.rolledBack();
    }
  }

  /**
   * Runs a bulk load; returns false after a conflict.
   *
   * @param keys in ascending order
   * @param length of each value, by its key
   */
  boolean load(String table, List<byte[]> keys, ToIntFunction<byte[]> length) {
    Promises.Group group = promises.begin();
    try (BulkLoad load = db.bulkLoad(table(table))) {
      add(load::add, group, table, keys, length);
      group.committing();
      load.finish();
      group.durable();
      return true;
    } catch (ConflictException conflict) {
      group.rolledBack();
      return false;
    }
  }

  /** A bulk load that is cancelled, or left open. */
  @SuppressWarnings("MustBeClosed") // left open on purpose
  void giveUpLoad(String table, List<byte[]> keys, ToIntFunction<byte[]> length, boolean close) {
    Promises.Group group = promises.begin();
    BulkLoad load = db.bulkLoad(table(table));
    try {
      add(load::add, group, table, keys, length);
    } catch (ConflictException conflict) {
      // cancelled in any case
    }
    if (close) {
      load.close();
      group.rolledBack();
    }
  }

  /**
   * Runs a bulk load of unsorted rows; returns false after a conflict.
   *
   * @param keys in any order; a key may come again
   * @param length of each value, by its key
   */
  boolean loadUnsorted(
      String table, List<byte[]> keys, ToIntFunction<byte[]> length, BulkLoadOptions options) {
    Promises.Group group = promises.begin();
    try (BulkLoad load = db.bulkLoad(table(table), TransactionOptions.durable(), options)) {
      add(load::addUnsorted, group, table, keys, length);
      group.committing();
      load.finish();
      group.durable();
      return true;
    } catch (ConflictException conflict) {
      group.rolledBack();
      return false;
    }
  }

  /** A bulk load of unsorted rows that is cancelled, or left open. */
  @SuppressWarnings("MustBeClosed") // left open on purpose
  void giveUpUnsorted(
      String table,
      List<byte[]> keys,
      ToIntFunction<byte[]> length,
      BulkLoadOptions options,
      boolean close) {
    Promises.Group group = promises.begin();
    BulkLoad load = db.bulkLoad(table(table), TransactionOptions.durable(), options);
    add(load::addUnsorted, group, table, keys, length);
    if (close) {
      load.close();
      group.rolledBack();
    }
  }

  private void add(
      BiConsumer<byte[], byte[]> rows,
      Promises.Group group,
      String table,
      List<byte[]> keys,
      ToIntFunction<byte[]> length) {
    for (byte[] key : keys) {
      byte[] value = Cell.value(Seeds.of(seed, values++), length.applyAsInt(key));
      group.put(Cell.key(table, key), Cell.promised(value));
      rows.accept(key, value);
    }
  }

  /** Drops a table that no other session writes: all its rows go together. */
  void drop(String table) {
    Promises.Group group = promises.begin();
    try (Transaction tx = db.begin();
        Cursor rows = tx.scan(table(table), null, null)) {
      while (rows.next()) {
        group.put(Cell.key(table, rows.key()), null);
      }
    }
    group.committing();
    if (!db.dropTable(table)) {
      throw new IllegalStateException("table " + table + " was not there to be dropped");
    }
    group.durable();
    tables.remove(table);
  }

  /** Makes lazy commits durable. */
  void sync() {
    db.sync();
    promises.allDurable();
  }

  /** A durable reader for this session, in its thread. */
  DurableReader reader() {
    return new DurableReader(db, promises, this::table);
  }

  /** Runs a transaction and rolls it back. */
  void rollBack(Consumer<Writes> body) {
    Promises.Group group = promises.begin();
    try (Transaction tx = db.begin()) {
      body.accept(new Writes(tx, group));
    } catch (ConflictException conflict) {
      // rolled back in any case
    }
    group.rolledBack();
  }

  /** How a transaction with savepoints ends. */
  enum Ending {
    COMMIT,
    ROLL_BACK,
    LEFT_OPEN
  }

  /**
   * A transaction that goes back to savepoints. Its writes are reported just before the commit,
   * because a promise cannot be undone back to an earlier one.
   */
  void revise(Ending ending, Consumer<Revisions> body) {
    Transaction tx = db.begin();
    try {
      Revisions revisions = new Revisions(tx);
      body.accept(revisions);
      switch (ending) {
        case COMMIT -> {
          Promises.Group group = promises.begin();
          revisions.announce(group);
          group.committing();
          tx.commit();
          group.durable();
        }
        case ROLL_BACK -> tx.rollback();
        case LEFT_OPEN -> {}
      }
    } catch (ConflictException conflict) {
      tx.rollback();
    }
  }

  /** A transaction that is left open: none of its writes may survive. */
  void leaveOpen(Consumer<Writes> body) {
    Transaction tx = db.begin();
    try {
      body.accept(new Writes(tx, promises.begin()));
    } catch (ConflictException conflict) {
      // its earlier writes stay
    }
  }

  /** Reads rows in one snapshot and reports that they were seen: they are durable then. */
  void witness(String table, List<byte[]> keys) {
    reader().get(table, keys);
  }

  /** The writes of one transaction, each reported and then made. */
  final class Writes {

    private final Transaction tx;
    private final Promises.Group group;

    private Writes(Transaction tx, Promises.Group group) {
      this.tx = tx;
      this.group = group;
    }

    /** Stores a new value; returns its form in promises. */
    byte[] put(String table, byte[] key, int length) {
      byte[] value = Cell.value(Seeds.of(seed, values++), length);
      byte[] promised = Cell.promised(value);
      group.put(Cell.key(table, key), promised);
      tx.put(table(table), key, value);
      return promised;
    }

    /** Deletes a row if it exists. A delete that finds nothing is not a write and not reported. */
    void delete(String table, byte[] key) {
      if (tx.exists(table(table), key)) {
        group.put(Cell.key(table, key), null);
        tx.delete(table(table), key);
      }
    }
  }

  /** The writes of a transaction that may go back to a savepoint. */
  final class Revisions {

    /** The form of each written row in promises, null if it is deleted. */
    private final Map<Row, byte @Nullable []> written = new HashMap<>();

    private final Transaction tx;

    private Revisions(Transaction tx) {
      this.tx = tx;
    }

    /** Stores a new value. */
    void put(String table, byte[] key, int length) {
      byte[] value = Cell.value(Seeds.of(seed, values++), length);
      tx.put(table(table), key, value);
      written.put(Row.of(table, key), Cell.promised(value));
    }

    /** Deletes a row if there is one. */
    void delete(String table, byte[] key) {
      if (tx.delete(table(table), key)) {
        written.put(Row.of(table, key), null);
      }
    }

    Mark mark() {
      return new Mark(tx.savepoint(), new HashMap<>(written));
    }

    /** Goes back, and checks that each row that it ever wrote has its former value. */
    void goBackTo(Mark mark) {
      Set<Row> rows = Set.copyOf(written.keySet());
      tx.rollbackTo(mark.savepoint);
      written.clear();
      written.putAll(mark.written);
      for (Row row : rows) {
        byte[] expected = written.get(row);
        byte[] found = tx.get(table(row.table), row.bytes());
        if (written.containsKey(row)
            && !Arrays.equals(expected, found == null ? null : Cell.promised(found))) {
          throw new IllegalStateException("a row is not what it was at the savepoint: " + row);
        }
      }
    }

    private void announce(Promises.Group group) {
      written.forEach((row, promised) -> group.put(Cell.key(row.table, row.bytes()), promised));
    }
  }

  /** A row; each byte of its key is a character. */
  private record Row(String table, String key) {
    static Row of(String table, byte[] key) {
      return new Row(table, new String(key, StandardCharsets.ISO_8859_1));
    }

    byte[] bytes() {
      return key.getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  /** A savepoint, and what had been written until then. */
  record Mark(Savepoint savepoint, Map<Row, byte @Nullable []> written) {}
}
