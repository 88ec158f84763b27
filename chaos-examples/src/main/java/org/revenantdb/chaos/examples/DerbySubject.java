package org.revenantdb.chaos.examples;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/**
 * Apache Derby, embedded. Its documents on {@code derby.system.durability}: by default "the
 * transaction log is synced to disk at commit".
 */
final class DerbySubject extends SqlSubject {
  @Override
  public Connection open(Path dir) throws Exception {
    System.setProperty("derby.stream.error.file", "/dev/null");
    Path home = dir.resolve("db");
    String url = "jdbc:derby:" + home;
    boolean isNew = !Files.exists(home);
    Connection connection =
        DriverManager.getConnection(isNew ? url + ";create=true" : url);
    boolean hasTable =
        connection.getMetaData().getTables(null, null, "PAIRS", null).next();
    return prepared(
        connection,
        hasTable ? "" : "CREATE TABLE pairs (k VARCHAR(20) PRIMARY KEY, v VARCHAR(4000))");
  }

  @Override
  public void close(Connection store) throws SQLException {
    String url = store.getMetaData().getURL();
    store.rollback();
    store.close();
    try {
      DriverManager.getConnection(url + ";shutdown=true").close();
    } catch (SQLException closed) {
      // Derby reports the orderly end of a database as an exception of the state 08006.
      if (!"08006".equals(closed.getSQLState())) {
        throw closed;
      }
    }
  }
}
