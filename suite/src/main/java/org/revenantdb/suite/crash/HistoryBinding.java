package org.revenantdb.suite.crash;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Isolation;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.history.Access;
import org.revenantdb.history.IsolationLevel;

/**
 * RevenantDB at one isolation level, for the history workload: a row for each list and each
 * register. An append reads the row and writes it. At read committed it first locks the list
 * through a separate row, because the list itself may not exist yet. A range is read with a cursor,
 * alternately forwards and backwards.
 */
public final class HistoryBinding implements HistoryStore {

  private final Database db;
  private final Isolation isolation;
  private final Table lists;
  private final Table locks;
  private final Table registers;

  private HistoryBinding(Database db, Isolation isolation) {
    this.db = db;
    this.isolation = isolation;
    this.lists = db.getOrCreateTable("lists");
    this.locks = db.getOrCreateTable("locks");
    this.registers = db.getOrCreateTable("registers");
  }

  /**
   * Returns a database as a store, for transactions of one level.
   *
   * @param db the open database; closing the store closes it
   * @param level of the transactions
   * @return the store
   */
  public static HistoryBinding on(Database db, IsolationLevel level) {
    return new HistoryBinding(db, Opener.of(level).isolation);
  }

  /** Opens RevenantDB with the options of the crash suite, for transactions of one level. */
  public abstract static class Opener implements HistoryStore.Opener {
    private final Isolation isolation;

    private Opener(Isolation isolation) {
      this.isolation = isolation;
    }

    /** The opener for a level. */
    static Opener of(IsolationLevel level) {
      return switch (level) {
        case READ_COMMITTED -> new ReadCommitted();
        case SNAPSHOT -> new Snapshots();
        case SERIALIZABLE -> new Serializable();
      };
    }

    @Override
    public HistoryStore open(Path directory) {
      return new HistoryBinding(
          Database.open(directory.resolve("db"), RevenantSubject.options()), isolation);
    }
  }

  /** Read committed. */
  public static final class ReadCommitted extends Opener {
    /** Creates the opener. */
    public ReadCommitted() {
      super(Isolation.READ_COMMITTED);
    }
  }

  /** Snapshot isolation. */
  public static final class Snapshots extends Opener {
    /** Creates the opener. */
    public Snapshots() {
      super(Isolation.SNAPSHOT);
    }
  }

  /** Serializable. */
  public static final class Serializable extends Opener {
    /** Creates the opener. */
    public Serializable() {
      super(Isolation.SERIALIZABLE);
    }
  }

  @Override
  public HistoryStore.Tx begin(boolean lazy) {
    return new Tx(db.begin(options(lazy)));
  }

  @Override
  public HistoryStore.Tx beginToRead(boolean lazy) {
    return new Tx(db.begin(options(lazy).withReadOnly(true)));
  }

  private TransactionOptions options(boolean lazy) {
    TransactionOptions options = lazy ? TransactionOptions.lazy() : TransactionOptions.durable();
    return options.withIsolation(isolation);
  }

  @Override
  public void sync() {
    db.sync();
  }

  @Override
  public void housekeeping() {
    db.cleanNow();
    db.checkpoint();
  }

  @Override
  public void close() {
    db.close();
  }

  private static byte[] bytes(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  private static int number(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getInt();
  }

  private static int[] numbers(byte[] row) {
    int[] numbers = new int[row.length / Integer.BYTES];
    ByteBuffer.wrap(row).asIntBuffer().get(numbers);
    return numbers;
  }

  private final class Tx implements HistoryStore.Tx {

    private final Transaction tx;
    private boolean backwards;

    Tx(Transaction tx) {
      this.tx = tx;
    }

    @Override
    public int[] readList(int key) {
      byte[] row = tx.get(lists, bytes(key));
      return row == null ? new int[0] : numbers(row);
    }

    @Override
    public int readRegister(int key) {
      byte[] row = tx.get(registers, bytes(key));
      return row == null ? Access.NIL : number(row);
    }

    @Override
    public SortedMap<Integer, int[]> readLists(int from, int to) {
      return range(lists, from, to, HistoryBinding::numbers);
    }

    @Override
    public SortedMap<Integer, Integer> readRegisters(int from, int to) {
      return range(registers, from, to, HistoryBinding::number);
    }

    private <V> SortedMap<Integer, V> range(
        Table table, int from, int to, Function<byte[], V> value) {
      SortedMap<Integer, V> found = new TreeMap<>();
      backwards = !backwards;
      try (Cursor rows =
          backwards
              ? tx.scanDescending(table, bytes(from), bytes(to))
              : tx.scan(table, bytes(from), bytes(to))) {
        while (rows.next()) {
          found.put(number(rows.key()), value.apply(rows.value()));
        }
      }
      return found;
    }

    @Override
    public void append(int key, int value) {
      if (isolation == Isolation.READ_COMMITTED) {
        put(locks, key, new byte[0]);
      }
      int[] before = readList(key);
      ByteBuffer row = ByteBuffer.allocate((before.length + 1) * Integer.BYTES);
      row.asIntBuffer().put(before).put(value);
      put(lists, key, row.array());
    }

    @Override
    public void write(int key, int value) {
      put(registers, key, bytes(value));
    }

    private void put(Table table, int key, byte[] row) {
      try {
        tx.put(table, bytes(key), row);
      } catch (ConflictException e) {
        throw new HistoryStore.RefusedException(e);
      }
    }

    @Override
    public void commit() {
      try {
        tx.commit();
      } catch (ConflictException e) {
        throw new HistoryStore.RefusedException(e);
      }
    }

    @Override
    public void close() {
      tx.close();
    }
  }
}
