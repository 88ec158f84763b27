package org.revenantdb.kafka.streams;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.VersionedRecord;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.engine.Transaction;

/**
 * A task with a store of each kind, for crash tests. The change of each store at an input offset is
 * known, so its rows can be compared with its own offset.
 *
 * <p>Input offset {@code n} writes {@code n} to key {@code n % KEYS}, at time {@code n * STEP}.
 */
final class ModelTask implements AutoCloseable {
  /** The stores have only what came since the last multiple of it: there they were new. */
  static final long LIFE = 1_000;

  private static final int KEYS = 3;
  private static final long STEP = 40;
  private static final long INTERVAL = 100;
  private static final long RETENTION = 150;

  /** The version that each so-manieth offset writes is a deletion. */
  private static final int DELETED = 5;

  private final String name;
  private final RevenantStore rows;
  private final SegmentedStore windows =
      new SegmentedStore("windows", TimedKeys.WINDOW, "plain", RETENTION, INTERVAL);
  private final SegmentedStore sessions =
      new SegmentedStore("sessions", TimedKeys.SESSION, "plain", RETENTION, INTERVAL);
  private final RevenantVersionedStore versions =
      new RevenantVersionedStore("versions", RETENTION, INTERVAL);
  private final List<TaskStore> stores;

  /** Its stores are open, and Kafka has looked at their offsets. */
  ModelTask(Path application, String name) {
    this(application, name, () -> {});
  }

  /**
   * The same.
   *
   * @param inCommit is run within each commit, before and behind the first offset
   */
  ModelTask(Path application, String name, Runnable inCommit) {
    this.name = name;
    rows =
        new RevenantStore("rows") {
          @Override
          void stage(Transaction tx, Map<TopicPartition, Long> changes) {
            inCommit.run();
            super.stage(tx, changes);
            inCommit.run();
          }
        };
    stores = List.of(rows, windows, sessions, versions);
    TaskContext context = new TaskContext(application, StreamsConfig.EXACTLY_ONCE_V2);
    List<TaskStore> open = new ArrayList<>();
    try {
      for (TaskStore store : stores) {
        store.open(context, application.resolve(name));
        open.add(store);
      }
      stores.forEach(this::tellChangelog);
    } catch (RuntimeException | Error failure) {
      open.forEach(TaskStore::close);
      throw failure;
    }
  }

  /** Kafka commits the offset that it was told. */
  private void tellChangelog(TaskStore store) {
    TopicPartition changelog = changelog(store);
    store.commit(Map.of(changelog, Objects.requireNonNull(store.committedOffset(changelog))));
  }

  private TopicPartition changelog(TaskStore store) {
    return new TopicPartition(name + "-" + store.name() + "-changelog", 0);
  }

  List<String> storeNames() {
    return stores.stream().map(TaskStore::name).toList();
  }

  /** The input offset that a store is at; -1 if it is new. */
  private long offset(TaskStore store) {
    Long offset = store.committedOffset(changelog(store));
    return offset == null || offset == TaskStore.OFFSET_UNKNOWN ? -1 : offset / stores.size();
  }

  /** Each changelog has offsets of its own. */
  private long changelogOffset(TaskStore store, long offset) {
    return offset * stores.size() + stores.indexOf(store);
  }

  /** The input offset that all of its stores are at; -1 if they are new. */
  long offset() {
    return offset(rows);
  }

  void write(long offset) {
    Bytes key = key(offset % KEYS);
    long time = offset * STEP;
    byte[] value = bytes(Long.toString(offset));
    rows.put(key, value);
    windows.put(Bytes.wrap(TimedKeys.window(key, time, 0)), value);
    sessions.put(Bytes.wrap(TimedKeys.session(key, time - STEP / 2, time)), value);
    versions.put(key, offset % DELETED == 0 ? null : value, time);
  }

  /** Kafka commits one store after the other. */
  void commit(long offset) {
    stores.forEach(store -> store.commit(Map.of(changelog(store), changelogOffset(store, offset))));
  }

  /** The offsets that the producer has sent up to an input offset; null for those of others. */
  Long sent(TopicPartition partition, long offset) {
    for (TaskStore store : stores) {
      if (changelog(store).equals(partition)) {
        return changelogOffset(store, offset);
      }
    }
    return null;
  }

  /** The commit that follows brings all of its stores to this offset, or none. */
  Promises.Group committing(Promises promises, long offset) {
    Promises.Group group = promises.begin();
    for (TaskStore store : stores) {
      group.put(key(name, store.name()), Long.toString(offset));
    }
    return group.committing();
  }

  /** The key of a store in promises; its value is the offset that the store is at. */
  static String key(String task, String store) {
    return task + "/" + store;
  }

  /** Adds what the promises must have said of its stores; nothing of a new one. */
  void addPromised(Map<String, String> promised) {
    for (TaskStore store : stores) {
      if (offset(store) >= 0) {
        promised.put(key(name, store.name()), Long.toString(offset(store)));
      }
    }
  }

  /** Compares each store with its offset, and the stores with each other. */
  void check(Recovered recovered) {
    for (TaskStore store : stores) {
      recovered.demand(
          offset(store) == offset(),
          "%s: %s is at %d, and %s at %d"
              .formatted(name, rows.name(), offset(), store.name(), offset(store)));
    }
    checkRows(recovered);
  }

  /** Compares each store with its offset. */
  void checkRows(Recovered recovered) {
    NavigableMap<String, String> newest = new TreeMap<>();
    for (long offset = first(offset(rows)); offset <= offset(rows); offset++) {
      newest.put(text(key(offset % KEYS).get()), Long.toString(offset));
    }
    NavigableMap<String, String> found = new TreeMap<>();
    try (KeyValueIterator<Bytes, byte[]> all = rows.all()) {
      all.forEachRemaining(row -> found.put(text(row.key.get()), text(row.value)));
    }
    demandEqual(recovered, rows, newest, found);
    check(recovered, windows, TimedKeys.WINDOW);
    check(recovered, sessions, TimedKeys.SESSION);
    checkVersions(recovered);
    checkSegments(recovered, windows);
    checkSegments(recovered, sessions);
    checkSegments(recovered, versions);
  }

  private static long first(long offset) {
    return offset / LIFE * LIFE;
  }

  private static long oldest(long offset) {
    return offset * STEP - RETENTION;
  }

  private void check(Recovered recovered, SegmentedStore store, TimedKeys keys) {
    long last = offset(store);
    NavigableMap<Long, String> expected = new TreeMap<>();
    for (long offset = first(last); offset <= last; offset++) {
      if (offset * STEP > oldest(last)) {
        expected.put(offset * STEP, Long.toString(offset));
      }
    }
    NavigableMap<Long, String> found = new TreeMap<>();
    try (KeyValueIterator<Bytes, byte[]> all =
        store.fetch(null, null, 0, Long.MAX_VALUE, false, true)) {
      all.forEachRemaining(row -> found.put(keys.time(row.key.get()), text(row.value)));
    }
    demandEqual(recovered, store, expected, found);
  }

  private void checkVersions(Recovered recovered) {
    long last = offset(versions);
    for (long time = Math.max(0, oldest(last)); time <= last * STEP; time += STEP / 2) {
      for (int key = 0; key < KEYS; key++) {
        long at = time / STEP;
        while (at >= 0 && at % KEYS != key) {
          at--;
        }
        boolean isNone = at < first(last) || at % DELETED == 0;
        VersionedRecord<byte[]> version = versions.get(key(key), time);
        demandEqual(
            recovered,
            versions,
            "key " + key + " at " + time + ": " + (isNone ? "none" : Long.toString(at)),
            "key "
                + key
                + " at "
                + time
                + ": "
                + (version == null ? "none" : text(version.value())));
      }
    }
    if (last < 0) {
      for (int key = 0; key < KEYS; key++) {
        recovered.demand(versions.get(key(key)) == null, name + ": a new store has versions");
      }
    }
  }

  private void checkSegments(Recovered recovered, ExpiringStore store) {
    long last = offset(store);
    NavigableMap<Long, ?> segments = store.segments(true);
    recovered.demand(
        segments.isEmpty()
            || (last >= 0 && segments.firstKey() >= Math.max(0, oldest(last)) / INTERVAL),
        name + ": " + store + " at " + last + " has segments that are over: " + segments);
  }

  private void demandEqual(Recovered recovered, TaskStore store, Object expected, Object found) {
    recovered.demand(
        expected.equals(found),
        "%s: %s is at %d: expected %s, found %s"
            .formatted(name, store.name(), offset(store), expected, found));
  }

  private static Bytes key(long number) {
    return Bytes.wrap(bytes("key" + number));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(Objects.requireNonNull(bytes), StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    stores.forEach(TaskStore::close);
  }
}
