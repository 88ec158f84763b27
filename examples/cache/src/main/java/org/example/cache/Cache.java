package org.example.cache;

import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Function;
import org.revenantdb.collections.Codecs;
import org.revenantdb.collections.Expiry;
import org.revenantdb.collections.Keys;
import org.revenantdb.collections.Timed;
import org.revenantdb.collections.TypedTable;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.TransactionOptions;

/**
 * A cache of texts that survives restarts. Entries expire, and are removed in the background.
 * Commits are lazy: a power cut may undo the last moments, which a cache can bear.
 */
public final class Cache {
  private static final TransactionOptions LAZY =
      TransactionOptions.defaults().withDurability(Durability.LAZY);

  private final Database db;
  private final InstantSource clock;
  private final Duration life;
  private final TypedTable<String, Timed<String>> entries;

  public Cache(Database db, Duration life, InstantSource clock) {
    this.db = db;
    this.clock = clock;
    this.life = life;
    this.entries =
        TypedTable.open(db, "cache", Keys.strings(), Timed.codec(Codecs.strings()))
            .expire(Expiry.<Timed<String>>at(Timed::until).withClock(clock));
  }

  /** The entry of a key. If there is none, the loader is called, outside of a transaction. */
  public String get(String key, Function<String, String> loader) {
    Timed<String> found = db.read(LAZY, tx -> entries.get(tx, key));
    if (found != null) {
      return found.value();
    }
    String loaded = loader.apply(key);
    db.run(LAZY, tx -> entries.put(tx, key, Timed.of(loaded, life, clock)));
    return loaded;
  }

  public void remove(String key) {
    db.run(LAZY, tx -> entries.delete(tx, key));
  }

  public long size() {
    return db.read(LAZY, tx -> entries.scan(tx).count());
  }

  /** Removes at once what has expired. */
  public long clean() {
    return entries.removeExpired();
  }

  TypedTable<String, Timed<String>> entries() {
    return entries;
  }
}
