package org.revenantdb.jmh.work;

import java.nio.file.Path;
import java.util.Objects;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.WorkQueue;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;

/** Ours. */
final class RevenantItems implements ItemQueue {
  private final Database database;
  private final WorkQueue<String> queue;

  RevenantItems(Path directory) {
    database =
        Database.open(
            directory.resolve("database"), DatabaseOptions.defaults().withPoolBytes(128L << 20));
    queue = WorkQueue.open(database, "items", Codecs.strings());
  }

  @Override
  public Session session() {
    return new Session() {
      @Override
      public void offer(String item) {
        long _ = queue.offer(item);
      }

      @Override
      public void takeOne() throws Exception {
        Objects.requireNonNull(queue.take()).acknowledge();
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    queue.close();
    database.close();
  }
}
