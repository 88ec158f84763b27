package org.revenantdb.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.admin.DatabaseView;
import org.revenantdb.engine.admin.OpenView;
import org.revenantdb.engine.cli.CommandOptions;

/**
 * Where the verbs get their database and write to. A single command opens the database and closes
 * it; in a shell it stays open between the commands.
 *
 * <p>Threads: one.
 */
final class Session implements AutoCloseable {
  /** Work that changes a database. */
  interface Work {
    int on(Database db) throws Exception;
  }

  /** Work that reads a database. */
  interface Look {
    int on(DatabaseView view) throws Exception;
  }

  private final PrintWriter out;
  private final PrintWriter err;
  private @Nullable Database kept;

  Session(PrintWriter out, PrintWriter err) {
    this.out = out;
    this.err = err;
  }

  PrintWriter out() {
    return out;
  }

  PrintWriter err() {
    return err;
  }

  /** Keeps a database open until the session is closed. */
  void keep(Database db) {
    kept = db;
  }

  /** The database that stays open; null if each command opens its own. */
  @Nullable Database kept() {
    return kept;
  }

  /**
   * Calls work that changes nothing. The database is opened read-only, also after a crash. If a
   * process has it open, that process reads for the work, through its socket.
   */
  int read(Path directory, Look look) throws Exception {
    Database open = kept(directory);
    try (DatabaseView view =
        open == null
            ? DatabaseView.open(directory, options(/* create= */ false).withReadOnly(true))
            : new OpenView(open)) {
      return look.on(view);
    }
  }

  /** Calls work that changes a database that exists. */
  int write(Path directory, Work work) throws Exception {
    return with(directory, /* create= */ false, work);
  }

  /** Calls work that changes a database, which is created if the directory has none. */
  int create(Path directory, Work work) throws Exception {
    return with(directory, /* create= */ true, work);
  }

  private int with(Path directory, boolean create, Work work) throws Exception {
    Database open = kept(directory);
    if (open != null) {
      return work.on(open);
    }
    try (Database db = Database.open(directory, options(create))) {
      return work.on(db);
    }
  }

  private static DatabaseOptions options(boolean create) {
    return CommandOptions.existing().withCreate(create).withCountersFile(false);
  }

  /** The database that stays open, if this is its directory. */
  private @Nullable Database kept(Path directory) throws IOException {
    Database open = kept;
    return open != null && Files.exists(directory) && Files.isSameFile(open.directory(), directory)
        ? open
        : null;
  }

  @Override
  public void close() {
    Database open = kept;
    if (open != null) {
      kept = null;
      open.close();
    }
  }
}
