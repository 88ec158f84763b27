package org.revenantdb.suite.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/**
 * A bulk load that may be interrupted anywhere: small batches, each committed lazily, and one
 * {@link Database#sync} at the end. After a crash it reads from the table where to continue.
 * Nothing is loaded twice, and nothing is left out.
 *
 * <p>It needs no record of its progress: a prefix of the commits survives, so the last row that is
 * there is the end of the last batch that is there.
 *
 * <p>Source: the bulk load of "Lazy commit", §2.1.
 */
@Tag("slow")
@CrashTest(states = 120, seed = 20_261_122)
class BulkLoadTest implements CrashSubject<Database> {

  private static final int BATCH = 8;
  private static final int BATCHES = 40;

  @Override
  public Database open(Path dir) {
    return Database.open(dir.resolve("db"), Options.small());
  }

  @Override
  public void work(Database db, Promises promises) {
    Table rows = db.getOrCreateTable("rows");
    Table totals = db.getOrCreateTable("totals");
    int begun = whereToGoOn(db, rows);
    for (int first = begun; first < begun + BATCHES * BATCH; first += BATCH) {
      int from = first;
      Promises.Group said = promises.begin();
      db.run(
          TransactionOptions.lazy(),
          tx -> {
            for (int line = from; line < from + BATCH; line++) {
              String row = line(line) + ", loaded in life " + promises.seed();
              said.put("row/" + line, row);
              tx.put(rows, number(line), row.getBytes(UTF_8));
            }
            // An error of a load that processes its input twice would show here.
            tx.put(totals, number(0), number(total(tx, totals) + BATCH));
            said.committing();
          });
      said.lazy();
    }
    db.sync();
    promises.allDurable();
  }

  /** The end of the surviving prefix. */
  private static int whereToGoOn(Database db, Table rows) {
    try (Transaction tx = db.begin(TransactionOptions.lazy());
        Cursor backwards = tx.scanDescending(rows, null, null)) {
      return backwards.next() ? number(backwards.key()) + 1 : 0;
    }
  }

  @Override
  public void check(Database db, Recovered recovered) {
    Map<String, String> found = new LinkedHashMap<>();
    try (Transaction tx = db.begin();
        Cursor cursor = tx.scan(db.getOrCreateTable("rows"), null, null)) {
      while (cursor.next()) {
        int line = number(cursor.key());
        String row = new String(cursor.value(), UTF_8);
        recovered.demand(line == found.size(), "line " + found.size() + " is missing");
        recovered.demand(row.startsWith(line(line) + ","), "line " + line + " is " + row);
        found.put("row/" + line, row);
      }
      recovered.demand(found.size() % BATCH == 0, "half a batch: " + found.size() + " rows");
      recovered.demand(
          found.size() == total(tx, db.getOrCreateTable("totals")),
          "%d rows, and %d were counted"
              .formatted(found.size(), total(tx, db.getOrCreateTable("totals"))));
    }
    recovered.verifyAll(found);
  }

  /** A line of the input. */
  private static String line(int number) {
    return "line " + number + " of the input";
  }

  private static int total(Transaction tx, Table totals) {
    byte[] total = tx.get(totals, number(0));
    return total == null ? 0 : number(total);
  }

  /** Keys in the order of their numbers. */
  private static byte[] number(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  private static int number(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getInt();
  }

  /** Small files, so that a short run includes checkpoints. */
  static final class Options {

    private Options() {}

    static DatabaseOptions small() {
      return DatabaseOptions.defaults()
          .withPoolBytes(2L << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(4L << 20)
          .withCountersFile(false);
    }
  }
}
