package org.revenantdb.jmh.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.revenantdb.jmh.backup.CopiedFiles;
import org.revenantdb.jmh.backup.CopiedStore;
import org.sqlite.SQLiteConnection;
import org.sqlite.core.Codes;

/**
 * SQLite with a write-ahead log, as in {@link SqliteRestart}: its online backup, {@code
 * sqlite3_backup_step} with the number of pages that the driver's command {@code backup to} uses.
 * The new file is forced afterwards, also if SQLite has done that.
 */
public final class SqliteCopies extends SqliteRestart implements CopiedStore {
  /** The name that an open of a copy expects. */
  private static final String FILE = "rows.db";

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @throws SQLException if it cannot
   */
  public SqliteCopies(Path directory) throws SQLException {
    super(directory);
  }

  @Override
  public AutoCloseable copyTo(Path target) throws Exception {
    Files.createDirectory(target);
    int code =
        connection()
            .unwrap(SQLiteConnection.class)
            .getDatabase()
            .backup("main", target.resolve(FILE).toString(), null);
    if (code != Codes.SQLITE_OK && code != Codes.SQLITE_DONE) {
      throw new SQLException("backup: code " + code);
    }
    CopiedFiles.force(target);
    return () -> {};
  }

  @Override
  public byte[] readCopy(Path target, long key) throws Exception {
    try (SqliteRestart copy = new SqliteRestart(target)) {
      return copy.read(key);
    }
  }
}
