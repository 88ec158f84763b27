package org.revenantdb.suite.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionOptions;

/**
 * Broken on purpose: it looks like one transaction, but first commits the table steps and then,
 * separately, the rows. Until the commit it is a correct transaction, which is then rolled back and
 * repeated in two parts. So without a crash and without other transactions the flaw is not visible.
 */
final class TwoTransactions extends SchemaTransaction {

  private record Write(String table, Consumer<SchemaTransaction> write) {}

  private final Database db;
  private final TransactionOptions options;
  private final List<Consumer<SchemaTransaction>> tableSteps = new ArrayList<>();
  private final List<Write> writes = new ArrayList<>();

  TwoTransactions(Database db, TransactionOptions options) {
    super(db, options);
    this.db = db;
    this.options = options;
  }

  @Override
  Table create(String name, TableOptions how) {
    Table made = super.create(name, how);
    tableSteps.add(tx -> tx.create(name, how));
    return made;
  }

  @Override
  void drop(Table table) {
    super.drop(table);
    String name = table.name();
    tableSteps.add(tx -> tx.drop(now(tx, name)));
    forgetWrites(name);
  }

  @Override
  void truncate(Table table) {
    super.truncate(table);
    String name = table.name();
    tableSteps.add(tx -> tx.truncate(now(tx, name)));
    forgetWrites(name);
  }

  @Override
  void put(Table table, byte[] key, byte[] value) {
    super.put(table, key, value);
    String name = table.name();
    writes.add(new Write(name, tx -> tx.put(now(tx, name), key, value)));
  }

  @Override
  void delete(Table table, byte[] key) {
    super.delete(table, key);
    String name = table.name();
    writes.add(new Write(name, tx -> tx.delete(now(tx, name), key)));
  }

  private static Table now(SchemaTransaction tx, String name) {
    return Objects.requireNonNull(tx.find(name), name);
  }

  /** They are made after all table steps, and must not follow one that removes them. */
  private void forgetWrites(String name) {
    writes.removeIf(write -> write.table.equals(name));
  }

  @Override
  void commit() {
    super.close();
    commit(tableSteps);
    commit(writes.stream().map(Write::write).toList());
  }

  private void commit(List<Consumer<SchemaTransaction>> part) {
    try (SchemaTransaction tx = new SchemaTransaction(db, options)) {
      part.forEach(step -> step.accept(tx));
      tx.commit();
    }
  }
}
