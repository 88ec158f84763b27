package org.revenantdb.jmh.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** A reader reads all rows of one moment, and detects when they are not. */
class ChReaderTest {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();
  private static final TpccScale SCALE = TpccScale.of(1, 0.01);

  @TempDir private Path folder;

  private Database database;
  private TpccTables tables;

  @BeforeEach
  void load() {
    database = Database.open(folder);
    tables = TpccTables.of(database);
    TpccLoader.load(database, tables, SCALE, 1);
  }

  @AfterEach
  void close() {
    database.close();
  }

  private ChQuery.Answer answer(ChQuery query) {
    try (Transaction transaction = database.begin(LAZY)) {
      return query.run(transaction, tables);
    }
  }

  private long count(Table table) {
    try (Transaction transaction = database.begin(LAZY)) {
      return transaction.count(table, null, null);
    }
  }

  @ParameterizedTest
  @EnumSource
  void query_readsAllRows_andSeesTransactions(ChQuery query) throws InterruptedException {
    long rows =
        switch (query) {
          case PRICING_SUMMARY, TOP_SUPPLIER -> count(tables.orderLine());
          case IMPORTANT_STOCK -> count(tables.stock());
          case SHIPPING -> count(tables.order()) + count(tables.orderLine());
          case CUSTOMERS -> count(tables.customer());
        };
    ChQuery.Answer before = answer(query);
    assertEquals(rows, before.rows());
    assertEquals(before, answer(query));
    new TpccDriver(database, tables, SCALE, LAZY, 1, 1).runEach(200);
    assertNotEquals(before.digest(), answer(query).digest());
  }

  @Test
  void a_held_snapshot_gives_the_same_answers_beside_transactions() throws InterruptedException {
    int queries = ChQuery.values().length;
    try (ChReader held = new ChReader(database, tables, /* holds= */ true, 0);
        ChReader each = new ChReader(database, tables, /* holds= */ false, 0)) {
      long before = count(tables.order());
      for (int i = 0; i < 3 * queries; i++) {
        held.step();
        each.step();
        new TpccDriver(database, tables, SCALE, LAZY, 1, i).runEach(50);
      }
      assertTrue(count(tables.order()) > before);
      assertTrue(held.rows() < each.rows());
    }
  }

  @Test
  void an_order_without_one_of_its_lines_is_detected() {
    byte[] line;
    try (Transaction transaction = database.begin(LAZY);
        Cursor cursor = transaction.scan(tables.orderLine(), null, null)) {
      assertTrue(cursor.next());
      line = cursor.key();
    }
    database.run(LAZY, transaction -> transaction.delete(tables.orderLine(), line));
    IllegalStateException refusal =
        assertThrows(IllegalStateException.class, () -> answer(ChQuery.SHIPPING));
    assertTrue(String.valueOf(refusal.getMessage()).contains("of an order of"));
  }

  @Test
  void a_line_without_its_order_is_detected() {
    database.run(
        LAZY,
        transaction ->
            transaction.put(
                tables.orderLine(), TpccKeys.line(9, 1, 1, 1), new byte[TpccRows.OrderLine.BYTES]));
    IllegalStateException refusal =
        assertThrows(IllegalStateException.class, () -> answer(ChQuery.SHIPPING));
    assertTrue(String.valueOf(refusal.getMessage()).contains("without its order"));
  }
}
