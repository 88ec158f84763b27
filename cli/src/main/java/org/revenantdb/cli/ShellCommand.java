package org.revenantdb.cli;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.admin.AdminClient;
import org.revenantdb.engine.cli.CommandOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code shell DIR}: the verbs at a prompt, with the database open between them. */
@Command(
    name = "shell",
    description = {
      "Opens a database and reads verbs from a prompt, without DIR: 'ls', 'scan orders --limit 5'.",
      "The tab key completes verbs, options and tables; the arrows go through the history."
    },
    mixinStandardHelpOptions = true)
final class ShellCommand implements Callable<Integer> {
  private final Session session;

  @Parameters(index = "0", paramLabel = "DIR", description = "the directory of the database")
  private Path directory = Path.of("");

  @Option(names = "--read-only", description = "opens it read-only: no verb can change it")
  private boolean isReadOnly;

  ShellCommand(Session session) {
    this.session = session;
  }

  @Override
  public Integer call() throws Exception {
    DatabaseOptions options = CommandOptions.existing().withReadOnly(isReadOnly);
    try {
      session.keep(Database.open(directory, options));
    } catch (StorageException refused) {
      AdminClient.beside(directory, refused).close(); // each verb connects for itself
    }
    return new Shell(session, directory).run();
  }
}
