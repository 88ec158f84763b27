package org.revenantdb.jmh.work;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * A table as a queue, as applications write it in SQL.
 *
 * <p>SQLite has a write-ahead log and {@code synchronous = FULL}. Its sessions wait for each other
 * in {@code BEGIN IMMEDIATE}. The driver does not ask for the key of an inserted row. H2 does not
 * force commits by itself: behind each there is {@code CHECKPOINT SYNC}, which does. Its sessions
 * skip rows that others have locked. A session prepares its statements once.
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
    try (Statement statement = first.createStatement()) {
      boolean _ = statement.execute(create);
    }
  }

  static SqlItems sqlite(Path directory) throws SQLException {
    return new SqlItems(
        "jdbc:sqlite:"
            + directory.resolve("items.db")
            + "?journal_mode=WAL&synchronous=FULL&busy_timeout=60000&cache_size=-131072"
            + "&jdbc.get_generated_keys=false",
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

  @Override
  public Session session() throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    boolean isByStatement = !begin.isEmpty(); // the driver would begin another kind
    connection.setAutoCommit(isByStatement);
    return new SqlSession(
        connection,
        isByStatement ? connection.prepareStatement(begin) : null,
        connection.prepareStatement("INSERT INTO items (item) VALUES (?)"),
        connection.prepareStatement(take),
        connection.prepareStatement("DELETE FROM items WHERE id = ?"),
        connection.prepareStatement(isByStatement ? "COMMIT" : "CHECKPOINT SYNC"));
  }

  /**
   * Statements that are prepared once, as an application keeps them.
   *
   * @param begin null if the connection begins transactions by itself
   * @param end commits, or makes durable what the connection has committed
   */
  private record SqlSession(
      Connection connection,
      @Nullable PreparedStatement begin,
      PreparedStatement insert,
      PreparedStatement select,
      PreparedStatement delete,
      PreparedStatement end)
      implements Session {
    @Override
    public void offer(String item) throws SQLException {
      begun();
      insert.setString(1, item);
      int _ = insert.executeUpdate();
      ended();
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // another session has to put one
    public void takeOne() throws SQLException {
      while (!tryTake()) {
        Thread.yield();
      }
    }

    private boolean tryTake() throws SQLException {
      begun();
      long id = 0;
      boolean isThere;
      try (ResultSet rows = select.executeQuery()) {
        isThere = rows.next();
        if (isThere) {
          id = rows.getLong(1);
        }
      }
      if (isThere) {
        delete.setLong(1, id);
        int _ = delete.executeUpdate();
      }
      ended();
      return isThere;
    }

    private void begun() throws SQLException {
      if (begin != null) {
        boolean _ = begin.execute();
      }
    }

    private void ended() throws SQLException {
      if (begin == null) {
        connection.commit();
      }
      boolean _ = end.execute();
    }

    @Override
    public void close() throws SQLException {
      connection.close();
    }
  }

  @Override
  public void close() throws SQLException {
    first.close();
  }
}
