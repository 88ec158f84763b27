package org.example.cache;

import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.revenantdb.engine.Database;

/** Asks a cache twice. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    try (Database db = Database.open(Path.of(arguments.length > 0 ? arguments[0] : "cache.db"))) {
      Cache cache = new Cache(db, Duration.ofMinutes(5), InstantSource.system());
      for (int i = 0; i < 2; i++) {
        System.out.println(
            cache.get(
                "question",
                key -> {
                  System.out.println("loading " + key);
                  return "answer";
                }));
      }
    }
  }
}
