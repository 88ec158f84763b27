package org.example.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;

class CacheTest {
  @Test
  void an_entry_is_loaded_once_until_it_expires(@TempDir Path folder) {
    AtomicLong millis = new AtomicLong();
    AtomicInteger loads = new AtomicInteger();
    try (Database db = Database.open(folder.resolve("db"))) {
      Cache cache =
          new Cache(db, Duration.ofMillis(100), () -> Instant.ofEpochMilli(millis.get()));
      for (int i = 0; i < 3; i++) {
        assertEquals("1", cache.get("a", key -> "" + loads.incrementAndGet()));
      }
      millis.set(100);
      assertEquals(0, cache.size());
      assertEquals("2", cache.get("a", key -> "" + loads.incrementAndGet()));
      assertEquals(1, cache.size());
      cache.remove("a");
      assertEquals(0, cache.size());
    }
  }
}
