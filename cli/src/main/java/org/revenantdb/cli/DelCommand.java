package org.revenantdb.cli;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code del DIR TABLE KEY}: deletes a row, or a range. */
@Command(
    name = "del",
    description = "Deletes a row, or all rows of a range, and returns when that is durable.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:deleted", "1:there was nothing to delete", "2:wrong usage, or it failed"})
final class DelCommand extends Verb {
  @Parameters(index = "1", paramLabel = "TABLE", description = "the name of the table")
  private String table = "";

  @Parameters(index = "2", arity = "0..1", paramLabel = "KEY", description = "the key of the row")
  private @Nullable String key;

  @Mixin private Range range = new Range();

  @Mixin private Notations notations = new Notations();

  DelCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    boolean isRange = range.from != null || range.to != null || range.prefix != null;
    if ((key != null) == isRange) {
      throw new NotationException(
          "give a key, or a range by --from, --to or --prefix; --prefix '' is the whole table");
    }
    return session.write(directory, this::delete);
  }

  private int delete(Database db) {
    Table from = db.table(table);
    String one = key;
    long deleted =
        one != null
            ? db.call(tx -> tx.delete(from, notations.key.read(one)) ? 1L : 0L)
            : db.call(tx -> tx.deleteRange(from, range.first(notations), range.end(notations)));
    db.sync(); // the database may be lazy
    if (json) {
      json(Map.of("deleted", deleted));
    } else {
      line(deleted == 1 ? "1 row deleted" : "%,d rows deleted".formatted(deleted));
    }
    return deleted == 0 ? NOTHING : FINE;
  }
}
