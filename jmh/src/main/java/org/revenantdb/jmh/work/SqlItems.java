package org.revenantdb.jmh.work;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A table as a queue, as applications write it in SQL.
 *
 * <p>SQLite has a write-ahead log and {@code synchronous = FULL}. Its sessions wait for each other
 * in {@code BEGIN IMMEDIATE}. H2 does not force commits by itself: behind each there is {@code
 * CHECKPOINT SYNC}, which does. Its sessions skip rows that others have locked.
 */
final class SqlItems implements ItemQueue {
  private final String url;
  private final String begin;
  private final String take;

  /** Keeps an embedded database open while there are no sessions. */
  private final Connection first;

  private SqlItems(String url, String create, String begin, String take) throws SQLException {
    this.url = url;
    this.begin = begin;
    this.take = take;
    this.first = DriverManager.getConnection(url);
    execute(first, create);
  }

  static SqlItems sqlite(Path directory) throws SQLException {
    return new SqlItems(
        "jdbc:sqlite:"
            + directory.resolve("items.db")
            + "?journal_mode=WAL&synchronous=FULL&busy_timeout=60000&cache_size=-131072",
        "CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, item TEXT NOT NULL)",
        "BEGIN IMMEDIATE",
        "SELECT id, item FROM items ORDER BY id LIMIT 1");
  }

  static SqlItems h2(Path directory) throws SQLException {
    return new SqlItems(
        "jdbc:h2:" + directory.resolve("items").toAbsolutePath() + ";WRITE_DELAY=0",
        "CREATE TABLE items (id BIGINT AUTO_INCREMENT PRIMARY KEY, item VARCHAR NOT NULL)",
        "",
        "SELECT id, item FROM items ORDER BY id FETCH FIRST 1 ROW ONLY FOR UPDATE SKIP LOCKED");
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    if (!sql.isEmpty()) {
      try (Statement statement = connection.createStatement()) {
        boolean _ = statement.execute(sql);
      }
    }
  }

  @Override
  public Session session() throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    boolean isByStatement = !begin.isEmpty(); // the driver would begin another kind
    connection.setAutoCommit(isByStatement);
    return new Session() {
      @Override
      public void offer(String item) throws SQLException {
        execute(connection, begin);
        try (PreparedStatement insert =
            connection.prepareStatement("INSERT INTO items (item) VALUES (?)")) {
          insert.setString(1, item);
          int _ = insert.executeUpdate();
        }
        end();
      }

      @Override
      @SuppressWarnings("ThreadPriorityCheck") // another session has to put one
      public void takeOne() throws SQLException {
        while (!tryTake()) {
          Thread.yield();
        }
      }

      private boolean tryTake() throws SQLException {
        execute(connection, begin);
        long id;
        try (PreparedStatement select = connection.prepareStatement(take);
            ResultSet rows = select.executeQuery()) {
          if (!rows.next()) {
            end();
            return false;
          }
          id = rows.getLong(1);
        }
        try (PreparedStatement delete =
            connection.prepareStatement("DELETE FROM items WHERE id = ?")) {
          delete.setLong(1, id);
          int _ = delete.executeUpdate();
        }
        end();
        return true;
      }

      private void end() throws SQLException {
        if (isByStatement) {
          execute(connection, "COMMIT");
        } else {
          connection.commit();
          execute(connection, "CHECKPOINT SYNC");
        }
      }

      @Override
      public void close() throws SQLException {
        connection.close();
      }
    };
  }

  @Override
  public void close() throws SQLException {
    first.close();
  }
}
