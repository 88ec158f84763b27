package org.revenantdb.jmh.peer;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.work.IndexedItem;
import org.revenantdb.jmh.work.IndexedItems;

/**
 * SQLite with a write-ahead log and {@code synchronous = NORMAL}: a commit writes the log and does
 * not force it. The kill of the process loses nothing, a power cut all since the last checkpoint.
 *
 * <p>The database is opened for this process alone, as ours is, which saves its locks. The driver
 * does not ask for the key of an inserted row. Statements are prepared once. A single row is a
 * transaction by itself; around several there are {@code BEGIN} and {@code COMMIT}.
 */
public final class SqliteItems implements IndexedItems {
  private final Connection connection;
  private final PreparedStatement begin;
  private final PreparedStatement insert;
  private final PreparedStatement commit;

  /**
   * Creates a database.
   *
   * @param directory an empty one
   * @param cacheBytes of its cache
   * @throws SQLException if it cannot
   */
  public SqliteItems(Path directory, long cacheBytes) throws SQLException {
    connection =
        DriverManager.getConnection(
            "jdbc:sqlite:"
                + directory.resolve("items.db")
                + "?journal_mode=WAL&synchronous=NORMAL&locking_mode=EXCLUSIVE"
                + "&jdbc.get_generated_keys=false&cache_size=-"
                + (cacheBytes >> 10));
    try (Statement statement = connection.createStatement()) {
      boolean _ =
          statement.execute(
              "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
                  + " number INTEGER NOT NULL, note TEXT NOT NULL)");
      boolean _ = statement.execute("CREATE UNIQUE INDEX by_name ON items (name)");
      boolean _ = statement.execute("CREATE INDEX by_number ON items (number)");
    }
    begin = connection.prepareStatement("BEGIN IMMEDIATE");
    insert =
        connection.prepareStatement(
            "INSERT INTO items (id, name, number, note) VALUES (?, ?, ?, ?)");
    commit = connection.prepareStatement("COMMIT");
  }

  @Override
  public void insert(long first, List<IndexedItem> items) throws SQLException {
    boolean isAlone = items.size() == 1;
    if (!isAlone) {
      boolean _ = begin.execute();
    }
    for (int i = 0; i < items.size(); i++) {
      IndexedItem item = items.get(i);
      insert.setLong(1, first + i);
      insert.setString(2, item.name());
      insert.setInt(3, item.number());
      insert.setString(4, item.note());
      try {
        int _ = insert.executeUpdate();
      } catch (SQLException refused) {
        throw new IllegalStateException("row " + (first + i), refused);
      }
    }
    if (!isAlone) {
      boolean _ = commit.execute();
    }
  }

  @Override
  public @Nullable IndexedItem named(String name) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT name, number, note FROM items INDEXED BY by_name WHERE name = ?")) {
      select.setString(1, name);
      try (ResultSet rows = select.executeQuery()) {
        return rows.next()
            ? new IndexedItem(rows.getString(1), rows.getInt(2), rows.getString(3))
            : null;
      }
    }
  }

  @Override
  public List<Long> numbered(int number) throws SQLException {
    List<Long> keys = new ArrayList<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT id FROM items INDEXED BY by_number WHERE number = ? ORDER BY id")) {
      select.setInt(1, number);
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          keys.add(rows.getLong(1));
        }
      }
    }
    return keys;
  }

  @Override
  public Counts counts() throws SQLException {
    return new Counts(
        count("items NOT INDEXED"),
        count("items INDEXED BY by_name WHERE name >= ''"),
        count("items INDEXED BY by_number WHERE number >= 0"));
  }

  private long count(String what) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT count(*) FROM " + what)) {
      return rows.next() ? rows.getLong(1) : 0;
    }
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }
}
