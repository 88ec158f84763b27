package org.revenantdb.jmh.recovery;

import java.nio.file.Path;
import java.util.Locale;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.CheckedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM that counts the bytes of former versions while a transaction is open that has inserted,
 * updated or deleted all rows of a table (Table 1 of the paper). They are only in the rows: values
 * of 200 bytes need no other pages.
 *
 * <p>Arguments: directory, rows.
 */
public final class VersionsFork {
  private VersionsFork() {}

  /**
   * Prints {@code = pvs_bytes_insert} and so on: bytes for each row.
   *
   * @param arguments see the class
   */
  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]).resolve("database");
    int rows = Integer.parseInt(arguments[1]);
    try (Database database = Database.open(directory)) {
      tell(database, BigRows.Operation.INSERT, rows);
      BigRows.load(database, database.getOrCreateTable("big"), rows, 0);
    }
    for (BigRows.Operation operation :
        new BigRows.Operation[] {BigRows.Operation.UPDATE, BigRows.Operation.DELETE}) {
      // Opened anew, so that the rows belong to a transaction that no longer needs to be looked up.
      try (Database database = Database.open(directory)) {
        tell(database, operation, rows);
      }
    }
  }

  private static void tell(Database database, BigRows.Operation operation, int rows) {
    Table table = database.getOrCreateTable("big");
    try (Transaction tx = database.begin()) {
      for (long key = 0; key < rows; key++) {
        operation.apply(tx, table, key, 1);
      }
      CheckReport report = database.check();
      if (!report.isSound()) {
        throw new IllegalStateException(report.problems().toString());
      }
      long bytes = report.contents().stream().mapToLong(CheckedTable::versionBytes).sum();
      Told.tell("pvs_bytes_" + operation.name().toLowerCase(Locale.ROOT), (double) bytes / rows);
    }
    database.cleanNow();
  }
}
