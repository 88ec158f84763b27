package org.revenantdb.chaos.examples;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** A table of two columns, through JDBC. */
abstract class SqlSubject extends PairSubject<Connection> {
  /** Creates the table if it is not there, and prepares the connection for transactions. */
  final Connection prepared(Connection connection, String create) throws SQLException {
    if (!create.isEmpty()) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(create);
      }
    }
    connection.setAutoCommit(false);
    return connection;
  }

  @Override
  void commit(Connection store, SortedMap<String, String> changes) throws SQLException {
    try (PreparedStatement delete = store.prepareStatement("DELETE FROM pairs WHERE k = ?");
        PreparedStatement insert = store.prepareStatement("INSERT INTO pairs VALUES (?, ?)")) {
      for (Map.Entry<String, String> change : changes.entrySet()) {
        delete.setString(1, change.getKey());
        delete.executeUpdate();
        insert.setString(1, change.getKey());
        insert.setString(2, change.getValue());
        insert.executeUpdate();
      }
    }
    store.commit();
  }

  @Override
  @Nullable String get(Connection store, String key) throws SQLException {
    try (PreparedStatement select = store.prepareStatement("SELECT v FROM pairs WHERE k = ?")) {
      select.setString(1, key);
      try (ResultSet rows = select.executeQuery()) {
        return rows.next() ? rows.getString(1) : null;
      }
    }
  }
}
