package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * SQLite with a write-ahead log. {@code synchronous=FULL}: "an additional sync operation of the WAL
 * file happens after each transaction commit".
 */
final class SqliteSubject extends SqlSubject {
  @Override
  public Connection open(Path dir) throws SQLException {
    Connection connection = DriverManager.getConnection("jdbc:sqlite:" + dir.resolve("pairs.db"));
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode=WAL");
      statement.execute("PRAGMA synchronous=FULL");
    }
    return prepared(connection, "CREATE TABLE IF NOT EXISTS pairs (k TEXT PRIMARY KEY, v TEXT)");
  }
}
