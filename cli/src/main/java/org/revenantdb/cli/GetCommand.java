package org.revenantdb.cli;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code get DIR TABLE KEY}: a value. */
@Command(
    name = "get",
    description = "Shows the value of a key.",
    mixinStandardHelpOptions = true,
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:found", "1:there is no such row", "2:wrong usage, or it cannot be read"})
final class GetCommand extends Verb {
  @Parameters(index = "1", paramLabel = "TABLE", description = "the name of the table")
  private String table = "";

  @Parameters(index = "2", paramLabel = "KEY", description = "the key")
  private String key = "";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "writes the bytes of the value to a file, of whatever size they are")
  private @Nullable Path output;

  @Mixin private Notations notations = new Notations();

  GetCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    byte[] bytes = notations.key.read(key);
    return session.read(directory, db -> get(db, bytes));
  }

  private int get(Database db, byte[] bytes) throws Exception {
    Table from = db.table(table);
    return db.<Integer, Exception>readThrowing(tx -> {
      if (!tx.exists(from, bytes)) {
        session.err().println("table " + table + " has no row " + notations.key.show(bytes));
        return NOTHING;
      }
      Path file = output;
      if (file != null) {
        try (InputStream value = tx.open(from, bytes);
            OutputStream to = Files.newOutputStream(file)) {
          Objects.requireNonNull(value).transferTo(to);
        }
        return FINE;
      }
      String value = notations.value.show(Objects.requireNonNull(tx.get(from, bytes)));
      if (json) {
        json(Map.of("value", value));
      } else {
        line(value);
      }
      return FINE;
    });
  }
}
