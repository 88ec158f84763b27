package org.revenantdb.jmh.work;

import java.nio.file.Path;
import java.sql.SQLException;

/** A durable queue in a database. */
interface ItemQueue extends AutoCloseable {
  /** What a session does with it; for one thread. */
  interface Session extends AutoCloseable {
    /** Adds an item, durably. */
    void offer(String item) throws Exception;

    /** Takes the first free item and acknowledges it, durably. */
    void takeOne() throws Exception;

    @Override
    void close() throws SQLException;
  }

  /** Opens one. */
  static ItemQueue open(String engine, Path directory) throws SQLException {
    return switch (engine) {
      case "revenant" -> new RevenantItems(directory);
      case "sqlite" -> SqlItems.sqlite(directory);
      case "h2" -> SqlItems.h2(directory);
      default -> throw new IllegalArgumentException(engine);
    };
  }

  /** A session. */
  Session session() throws SQLException;

  @Override
  void close() throws SQLException;
}
