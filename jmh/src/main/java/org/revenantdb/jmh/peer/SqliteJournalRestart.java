package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.sql.SQLException;
import org.sqlite.SQLiteConfig;

/**
 * SQLite with a rollback journal, its default: a transaction changes pages in place and keeps their
 * former content; the next opening of the database restores it.
 */
public final class SqliteJournalRestart extends SqliteRestart {
  /**
   * Opens a database.
   *
   * @param directory empty, or of a database
   * @throws SQLException if it cannot
   */
  public SqliteJournalRestart(Path directory) throws SQLException {
    super(directory, SQLiteConfig.JournalMode.DELETE);
  }
}
