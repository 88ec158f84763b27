package org.example.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.collections.FeedSubscription;
import org.revenantdb.engine.Database;

class EventStoreTest {
  @Test
  void the_state_is_snapshot_and_events_and_the_projection_follows(@TempDir Path folder)
      throws Exception {
    for (int life = 1; life <= 2; life++) {
      try (Database db = Database.open(folder.resolve("db"))) {
        EventStore store = new EventStore(db);
        try (FeedSubscription projection = store.startProjection()) {
          for (int i = 0; i < 17; i++) {
            store.append("Ada", new Event("paid in", 2));
            store.append("Bob", new Event("paid in", 1));
          }
          assertThrows(
              IllegalArgumentException.class,
              () -> store.append("Bob", new Event("paid out", 1_000)));
          assertEquals(new Snapshot(17 * life, 34 * life), store.state("Ada"));
          while (projection.position() < store.position()) {
            Thread.yield();
          }
        }
        assertEquals(51 * life, store.total());
      }
    }
  }
}
