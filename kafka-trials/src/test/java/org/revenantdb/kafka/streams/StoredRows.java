package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;

/**
 * The rows of all stores of a dead application, beside their changelogs.
 *
 * <p>Threads: one.
 */
final class StoredRows {
  /** No row expires while a test runs. */
  static final long ALWAYS = Long.MAX_VALUE;

  /** What separates the name of a store from the number of a segment. */
  private static final char SEGMENT = '#';

  /** The shortest segment of Kafka Streams, in milliseconds. */
  private static final long SHORTEST_SEGMENT = 60_000;

  /**
   * What the rows of a store are.
   *
   * @param isTimestamped whether a value begins with the time of its record
   * @param times where the time of a key is; null if it has none
   * @param retention of the store in milliseconds, which is short, or {@link #ALWAYS}
   */
  record Rows(boolean isTimestamped, @Nullable TimedKeys times, long retention) {
    /** Keys and values. */
    static final Rows PLAIN = new Rows(/* isTimestamped= */ true, null, ALWAYS);

    private byte[] value(ConsumerRecord<byte[], byte[]> change) {
      byte[] value = change.value();
      return isTimestamped
          ? ByteBuffer.allocate(Long.BYTES + value.length)
              .putLong(change.timestamp())
              .put(value)
              .array()
          : value;
    }

    private long time(byte[] key) {
      return times == null ? 0 : times.time(key);
    }

    /** Whether the segment of a key is still there. */
    private boolean isThere(byte[] key, long streamTime) {
      return retention == ALWAYS
          || time(key) / SHORTEST_SEGMENT >= (streamTime - retention) / SHORTEST_SEGMENT;
    }
  }

  private final KilledLives lives;
  private final Path directory;
  private final Function<String, Rows> kinds;

  /**
   * Nothing is compared yet.
   *
   * @param state the directory of the state of an application
   * @param kinds what the rows of a store are, by its name
   */
  StoredRows(KilledLives lives, Path state, Function<String, Rows> kinds) {
    this.lives = lives;
    this.directory = state.resolve(SharedDatabase.DIRECTORY);
    this.kinds = kinds;
  }

  /**
   * Compares each store with its changelog up to the store's own offset, in a copy, so that the
   * application makes its own recovery. No store is behind what it had before.
   *
   * @param home for the copy
   * @return the offset of each store
   */
  Map<TopicPartition, Long> compareWithChangelogs(Path home) throws IOException {
    Map<TopicPartition, Long> stored = new HashMap<>();
    if (Files.exists(directory)) {
      compareWithChangelogs(home, stored);
    }
    lives.demandKept(stored);
    return stored;
  }

  private void compareWithChangelogs(Path home, Map<TopicPartition, Long> stored)
      throws IOException {
    Path copy = Files.createTempDirectory(home, "copy");
    FileTrees.copy(directory, copy);
    try (Database database = Database.open(copy);
        Transaction tx = database.begin()) {
      for (String name : database.tableNames()) {
        Table table = database.table(name);
        offsets(tx, table)
            .forEach((changelog, at) -> {
              compare(database, tx, table, changelog, at);
              if (at >= 0) {
                stored.put(changelog, at);
              }
            });
      }
    }
    FileTrees.delete(copy);
  }

  /** The changelogs end where the stores are: the application was closed in order. */
  void demandNothingBehind(Map<TopicPartition, Long> stored) {
    stored.forEach((changelog, at) ->
        assertEquals(lives.committed(changelog).getLast().offset(), at, changelog::toString));
  }

  private static Map<TopicPartition, Long> offsets(Transaction tx, Table table) {
    Map<TopicPartition, Long> offsets = new HashMap<>();
    try (Cursor rows = tx.scan(table, StoreKeys.OFFSETS_FROM, StoreKeys.OFFSETS_TO)) {
      while (rows.next()) {
        offsets.put(StoreKeys.partition(rows.key()), ByteBuffer.wrap(rows.value()).getLong());
      }
    }
    return offsets;
  }

  private void compare(
      Database database, Transaction tx, Table table, TopicPartition changelog, long at) {
    Rows kind = kinds.apply(store(table.name()));
    long streamTime = 0;
    Map<Key, Key> expected = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> change : lives.committed(changelog, at + 1)) {
      streamTime = Math.max(streamTime, kind.time(change.key()));
      if (change.value() == null) {
        expected.remove(new Key(change.key()));
      } else {
        expected.put(new Key(change.key()), new Key(kind.value(change)));
      }
    }
    long now = streamTime;
    expected.keySet().removeIf(key -> !kind.isThere(key.bytes, now));
    Map<Key, Key> found = new TreeMap<>();
    for (String name : database.tableNames()) {
      if (name.equals(table.name()) || name.startsWith(table.name() + SEGMENT)) {
        add(found, tx, database.table(name));
      }
    }
    assertEquals(expected, found, () -> table.name() + " at " + at);
    byte[] time = tx.get(table, StoreKeys.TIME);
    assertEquals(streamTime, time == null ? 0 : ByteBuffer.wrap(time).getLong(), table.name());
  }

  private static void add(Map<Key, Key> found, Transaction tx, Table table) {
    try (Cursor rows = tx.scan(table, null, null)) {
      while (rows.next()) {
        byte[] key = StoreKeys.key(rows.key());
        if (key != null) {
          found.put(new Key(key), new Key(rows.value()));
        }
      }
    }
  }

  /** Bytes that can be compared and printed. */
  private record Key(byte[] bytes) implements Comparable<Key> {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Key(byte[] of) && Arrays.equals(bytes, of);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }

    @Override
    public int compareTo(Key other) {
      return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public String toString() {
      return new String(bytes, StandardCharsets.ISO_8859_1)
          + Arrays.toString(Arrays.copyOf(bytes, Math.min(bytes.length, 32)));
    }
  }

  /** Tables are named {@code task/store}. */
  private static String store(String table) {
    return table.substring(table.indexOf('/') + 1);
  }

  /** The counts of a timestamped store, of all partitions; the application has closed it. */
  Map<String, Long> counts(String store) {
    Map<String, Long> found = new TreeMap<>();
    try (Database database = Database.open(directory);
        Transaction tx = database.begin()) {
      for (String name : database.tableNames()) {
        if (store(name).equals(store)) {
          Map<Key, Key> rows = new TreeMap<>();
          add(rows, tx, database.table(name));
          rows.forEach((key, value) ->
              found.put(
                  new String(key.bytes, StandardCharsets.UTF_8),
                  ByteBuffer.wrap(value.bytes).getLong(Long.BYTES)));
        }
      }
    }
    return found;
  }
}
