package org.revenantdb.cli;

import java.io.IOException;
import java.util.Map;
import org.revenantdb.engine.admin.DatabaseView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code count DIR TABLE}: the number of rows. */
@Command(
    name = "count",
    description = "Counts the rows of a table, or of a range of its keys, as of one moment.",
    mixinStandardHelpOptions = true)
final class CountCommand extends Verb {
  @Parameters(index = "1", paramLabel = "TABLE", description = "the name of the table")
  private String table = "";

  @Mixin private Range range = new Range();

  @Mixin private Notations notations = new Notations();

  CountCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    return session.read(directory, this::count);
  }

  private int count(DatabaseView view) throws IOException {
    long rows = view.count(table, range.first(notations), range.end(notations));
    if (json) {
      json(Map.of("rows", rows));
    } else {
      line(Long.toString(rows));
    }
    return FINE;
  }
}
