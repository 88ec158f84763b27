package org.revenantdb.jmh.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.revenantdb.jmh.recovery.BigRows;
import org.revenantdb.jmh.recovery.RestartStore;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteJDBCLoader;

/**
 * SQLite with a write-ahead log: whole pages that a transaction changed are written there when the
 * cache is full, and at its commit. Opening reads that log and applies committed transactions.
 *
 * <p>A commit is {@code synchronous = FULL}, which forces the log; the cache has the size of ours.
 * One table, the key of a row is its {@code INTEGER PRIMARY KEY}.
 */
public class SqliteRestart implements RestartStore {
  /** Negative: in KiB. */
  private static final int CACHE = -128 << 10;

  private final Connection connection;

  static {
    try {
      SQLiteJDBCLoader.initialize();
    } catch (Exception e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Opens a database.
   *
   * @param directory empty, or of a database
   * @throws SQLException if it cannot
   */
  public SqliteRestart(Path directory) throws SQLException {
    this(directory, SQLiteConfig.JournalMode.WAL);
  }

  SqliteRestart(Path directory, SQLiteConfig.JournalMode journal) throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.setJournalMode(journal);
    config.setSynchronous(SQLiteConfig.SynchronousMode.FULL);
    config.setCacheSize(CACHE);
    connection = config.createConnection("jdbc:sqlite:" + directory.resolve("rows.db"));
    try (PreparedStatement create =
        connection.prepareStatement(
            "CREATE TABLE IF NOT EXISTS rows (key INTEGER PRIMARY KEY, value BLOB NOT NULL)")) {
      create.execute();
    }
    connection.setAutoCommit(false);
  }

  /**
   * Returns the connection to the database.
   *
   * @return the open connection
   */
  protected final Connection connection() {
    return connection;
  }

  @Override
  public void insert(long first, long count) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO rows (key, value) VALUES (?, ?)")) {
      for (long key = first; key < first + count; key++) {
        insert.setLong(1, key);
        insert.setBytes(2, BigRows.row(key, 0));
        insert.executeUpdate();
      }
    }
    connection.commit();
  }

  @Override
  public void updateAll(long rows) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE rows SET value = ? WHERE key = ?")) {
      for (long key = 0; key < rows; key++) {
        update.setBytes(1, BigRows.row(key, 1));
        update.setLong(2, key);
        update.executeUpdate();
      }
    }
  }

  @Override
  public byte[] read(long key) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT value FROM rows WHERE key = ?")) {
      select.setLong(1, key);
      try (ResultSet found = select.executeQuery()) {
        if (!found.next()) {
          throw new IllegalStateException("row " + key + " is missing");
        }
        return found.getBytes(1);
      }
    }
  }

  @Override
  public void close() throws IOException {
    try {
      connection.rollback();
      connection.close();
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }
}
