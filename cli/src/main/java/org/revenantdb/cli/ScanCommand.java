package org.revenantdb.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.revenantdb.engine.admin.AdminRequest;
import org.revenantdb.engine.admin.DatabaseView;
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

  private int scan(DatabaseView view) throws IOException {
    view.scan(
        new AdminRequest.Scan(
            table, range.first(notations), range.end(notations), isReverse, isKeysOnly, limit),
        this::show);
    return FINE;
  }

  private void show(byte[] key, long valueBytes, InputStream bytes) throws IOException {
    byte[] value = valueBytes < 0 ? null : bytes.readAllBytes();
    String name = notations.key.show(key);
    if (json) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("key", name);
      if (value != null) {
        row.put("value", notations.value.show(value));
      }
      json(row);
    } else {
      line(value == null ? name : name + "\t" + notations.value.show(value));
    }
  }
}
