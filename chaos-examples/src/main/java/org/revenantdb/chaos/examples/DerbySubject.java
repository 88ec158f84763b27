package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * Apache Derby, embedded, with its defaults. Its documents on {@code derby.system.durability} list
 * what the value {@code test} no longer forces, the log at a commit among it. A creation that was
 * interrupted must be repeated by the application, so it happens under another name.
 */
final class DerbySubject extends SqlSubject {
  @Override
  public Connection open(Path dir) throws Exception {
    System.setProperty("derby.stream.error.file", "/dev/null");
    Path home = dir.resolve("db");
    if (!Files.exists(home)) {
      create(dir, home);
    }
    return prepared(DriverManager.getConnection("jdbc:derby:" + home), /* create= */ "");
  }

  private void create(Path dir, Path home) throws Exception {
    Path begun = dir.resolve("begun");
    delete(begun);
    Connection connection = DriverManager.getConnection("jdbc:derby:" + begun + ";create=true");
    close(prepared(connection, "CREATE TABLE pairs (k VARCHAR(20) PRIMARY KEY, v VARCHAR(4000))"));
    Files.move(begun, home);
    try (FileChannel names = FileChannel.open(dir)) {
      names.force(true); // the new name is ours to force
    }
  }

  private static void delete(Path tree) throws IOException {
    if (Files.exists(tree)) {
      try (Stream<Path> files = Files.walk(tree)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
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
