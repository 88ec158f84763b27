package org.revenantdb.suite.demo;

import java.nio.file.Path;
import java.util.List;
import java.util.function.LongConsumer;
import org.revenantdb.chaos.crash.ChildPipe;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * The child of the demo: imports the first half in small durable transactions, then everything else
 * in one big transaction.
 *
 * <p>Its lines: {@code S n} the first n files are committed, {@code R n} n files are written in the
 * big transaction, {@code D} that transaction is committed. It never sleeps.
 */
public final class ImporterMain {

  static final String TABLE = "files";
  static final int FILES_A_TRANSACTION = 16;

  private ImporterMain() {}

  /**
   * Runs the child.
   *
   * @param arguments directory, pool bytes, limit of modules, scale
   */
  public static void main(String[] arguments) {
    ChildPipe pipe = ChildPipe.open();
    try {
      Path dir = Path.of(arguments[0]);
      long pool = Long.parseLong(arguments[1]);
      JdkFiles files = new JdkFiles(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
      try (Database db = Database.open(dir, DemoOptions.database(pool))) {
        Table table = db.getOrCreateTable(TABLE);
        importSmall(db, table, files.small(), pipe);
        importBig(db, table, files.big(), n -> pipe.say("R " + n));
        pipe.say("D");
      }
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(3);
    }
  }

  private static void importSmall(
      Database db, Table table, List<JdkFiles.Item> items, ChildPipe pipe) {
    for (int from = 0; from < items.size(); from += FILES_A_TRANSACTION) {
      int to = Math.min(items.size(), from + FILES_A_TRANSACTION);
      List<JdkFiles.Item> batch = items.subList(from, to);
      db.run(tx -> {
        for (JdkFiles.Item item : batch) {
          tx.put(table, item.key(), item.content());
        }
      });
      pipe.say("S " + to);
    }
  }

  /** Imports all of it or nothing. */
  static void importBig(Database db, Table table, List<JdkFiles.Item> items, LongConsumer written) {
    try (Transaction tx = db.begin()) {
      long n = 0;
      for (JdkFiles.Item item : items) {
        tx.put(table, item.key(), item.content());
        written.accept(++n);
      }
      tx.commit();
    }
  }
}
