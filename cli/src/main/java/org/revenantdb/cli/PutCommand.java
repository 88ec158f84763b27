package org.revenantdb.cli;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code put DIR TABLE KEY VALUE}: stores a row. */
@Command(
    name = "put",
    description = "Stores a row, and returns when it is durable.",
    mixinStandardHelpOptions = true)
final class PutCommand extends Verb {
  @Parameters(index = "1", paramLabel = "TABLE", description = "the name of the table")
  private String table = "";

  @Parameters(index = "2", paramLabel = "KEY", description = "the key")
  private String key = "";

  @Parameters(
      index = "3",
      arity = "0..1",
      paramLabel = "VALUE",
      description = "the value, unless --input gives a file")
  private @Nullable String value;

  @Option(
      names = {"-i", "--input"},
      paramLabel = "FILE",
      description = "takes the bytes of the value from a file, of whatever size")
  private @Nullable Path input;

  @Option(names = "--create-table", description = "creates the table if there is none")
  private boolean createsTable;

  @Mixin private Notations notations = new Notations();

  PutCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    if ((value == null) == (input == null)) {
      throw new NotationException("give the value as the last argument or as a file by --input");
    }
    byte[] bytes = notations.key.read(key);
    return session.write(directory, db -> put(db, bytes));
  }

  private int put(Database db, byte[] bytes) throws Exception {
    Table to = createsTable ? db.getOrCreateTable(table) : db.table(table);
    String text = value;
    Path file = input;
    if (text != null) {
      byte[] stored = notations.value.read(text);
      db.run(tx -> tx.put(to, bytes, stored));
    } else if (file != null) {
      db.<Exception>runThrowing(tx -> {
        try (InputStream stream = Files.newInputStream(file)) {
          tx.put(to, bytes, stream);
        }
      });
    }
    db.sync(); // the database may be lazy
    return FINE;
  }
}
