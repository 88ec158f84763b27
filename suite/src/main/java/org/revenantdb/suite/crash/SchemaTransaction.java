package org.revenantdb.suite.crash;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** A transaction of table steps and writes. Subclasses override a part of it to break it. */
class SchemaTransaction implements AutoCloseable {

  /** Begins a transaction. */
  @FunctionalInterface
  interface Beginner {
    /** Like {@link Database#begin(TransactionOptions)}. */
    SchemaTransaction begin(Database db, TransactionOptions options);
  }

  private final Transaction tx;

  SchemaTransaction(Database db, TransactionOptions options) {
    tx = db.begin(options);
  }

  @Nullable Table find(String name) {
    return tx.findTable(name);
  }

  Cursor scan(Table table) {
    return tx.scan(table, null, null);
  }

  boolean exists(Table table, byte[] key) {
    return tx.exists(table, key);
  }

  Table create(String name, TableOptions options) {
    return tx.createTable(name, options);
  }

  void drop(Table table) {
    tx.dropTable(table);
  }

  void truncate(Table table) {
    tx.truncate(table);
  }

  void put(Table table, byte[] key, byte[] value) {
    tx.put(table, key, value);
  }

  void delete(Table table, byte[] key) {
    tx.delete(table, key);
  }

  void commit() {
    tx.commit();
  }

  @Override
  public void close() {
    tx.close();
  }
}
