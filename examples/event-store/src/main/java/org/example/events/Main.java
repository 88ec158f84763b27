package org.example.events;

import java.nio.file.Path;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.engine.Database;

/** Pays something in and out, and prints the state. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    try (Database db = Database.open(Path.of(arguments.length > 0 ? arguments[0] : "events.db"))) {
      EventStore store = new EventStore(db);
      try (FeedSubscription projection = store.startProjection()) {
        for (int i = 1; i <= 25; i++) {
          store.append("Ada", new Event("paid in", i));
        }
        store.append("Ada", new Event("paid out", 5));
        System.out.println(store.state("Ada") + ", projection at " + projection.position());
      }
    }
  }
}
