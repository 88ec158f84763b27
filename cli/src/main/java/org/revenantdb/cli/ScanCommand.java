package org.revenantdb.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code scan DIR TABLE}: rows in the order of their keys. */
@Command(
    name = "scan",
    description = "Shows the rows of a table, or of a range of its keys, as of one moment.",
    mixinStandardHelpOptions = true)
final class ScanCommand extends Verb {
  @Parameters(index = "1", paramLabel = "TABLE", description = "the name of the table")
  private String table = "";

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "ROWS",
      description = "shows at most this many rows")
  private long limit = Long.MAX_VALUE;

  @Option(
      names = {"-r", "--reverse"},
      description = "begins with the last key")
  private boolean isReverse;

  @Option(names = "--keys", description = "shows keys alone")
  private boolean isKeysOnly;

  @Mixin private Range range = new Range();

  @Mixin private Notations notations = new Notations();

  ScanCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    if (limit < 1) {
      throw new NotationException("--limit must be at least 1");
    }
    return session.read(directory, this::scan);
  }

  private int scan(Database db) {
    Table from = db.table(table);
    byte[] first = range.first(notations);
    byte[] end = range.end(notations);
    db.read(tx -> {
      try (Cursor cursor = cursor(tx, from, first, end)) {
        for (long rows = 0; rows < limit && cursor.next(); rows++) {
          show(cursor);
        }
      }
      return true;
    });
    return FINE;
  }

  private Cursor cursor(
      Transaction tx, Table from, byte @Nullable [] first, byte @Nullable [] end) {
    return isReverse ? tx.scanDescending(from, first, end) : tx.scan(from, first, end);
  }

  private void show(Cursor cursor) {
    String key = notations.key.show(cursor.key());
    if (json) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("key", key);
      if (!isKeysOnly) {
        row.put("value", notations.value.show(cursor.value()));
      }
      json(row);
    } else {
      line(isKeysOnly ? key : key + "\t" + notations.value.show(cursor.value()));
    }
  }
}
