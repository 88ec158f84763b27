package org.revenantdb.chaos.revenant.suite;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.revenantdb.chaos.history.Access;
import org.revenantdb.chaos.history.HistoryStore;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * RevenantDB as the history workload sees it: a row for each list and each register. An append
 * reads the row and writes it, so it is as atomic as snapshot isolation makes it.
 */
public final class HistoryBinding implements HistoryStore {

  private final Database db;
  private final Table lists;
  private final Table registers;

  private HistoryBinding(Database db) {
    this.db = db;
    this.lists = db.table("lists");
    this.registers = db.table("registers");
  }

  /** Opens RevenantDB with the options of the crash suite. */
  public static final class Opener implements HistoryStore.Opener {
    /** Creates the opener. */
    public Opener() {}

    @Override
    public HistoryStore open(Path directory) {
      return new HistoryBinding(Database.open(directory.resolve("db"), RevenantSubject.options()));
    }
  }

  @Override
  public HistoryStore.Tx begin(boolean lazy) {
    return new Tx(db.begin(lazy ? TransactionOptions.lazy() : TransactionOptions.durable()));
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

  private final class Tx implements HistoryStore.Tx {

    private final Transaction tx;

    Tx(Transaction tx) {
      this.tx = tx;
    }

    @Override
    public int[] readList(int key) {
      byte[] row = tx.get(lists, bytes(key));
      int[] values = new int[row == null ? 0 : row.length / Integer.BYTES];
      if (row != null) {
        ByteBuffer.wrap(row).asIntBuffer().get(values);
      }
      return values;
    }

    @Override
    public int readRegister(int key) {
      byte[] row = tx.get(registers, bytes(key));
      return row == null ? Access.NIL : ByteBuffer.wrap(row).getInt();
    }

    @Override
    public void append(int key, int value) {
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
      tx.commit();
    }

    @Override
    public void close() {
      tx.close();
    }
  }
}
