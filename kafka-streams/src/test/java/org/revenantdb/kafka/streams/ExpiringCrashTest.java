package org.revenantdb.kafka.streams;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.VersionedRecord;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/**
 * Power cuts while a store of windows and a versioned store create, fill and drop segments: the
 * rows of each are exactly those that its offset says, no segment is there that is over, and both
 * are at the same commit.
 */
@Tag("slow")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 60,
    seed = 20_261_127)
class ExpiringCrashTest implements CrashSubject<ExpiringCrashTest.Task> {
  private static final int KEYS = 3;
  private static final int COMMITS = 6;
  private static final long STEP = 40;
  private static final long INTERVAL = 100;
  private static final long RETENTION = 150;

  @Override
  public Task open(Path directory) throws Exception {
    return new Task(directory);
  }

  @Override
  public void work(Task task, Promises promises) {
    for (int commit = 0; commit < COMMITS; commit++) {
      long offset = task.offset();
      for (int i = 0; i < 3; i++) {
        task.write(++offset);
      }
      promises.attempt("offset", Long.toString(offset));
      task.commit(offset);
      promises.durable("offset", Long.toString(offset));
    }
    task.write(task.offset() + 1); // not committed
  }

  @Override
  public void check(Task task, Recovered recovered) {
    long offset = task.offset();
    recovered.verify(key -> offset < 0 ? null : Long.toString(offset));
    recovered.demand(
        offset(task.versions, task.versionLog) == offset, "the stores are at different commits");
    task.check(recovered);
  }

  private static long offset(TaskStore store, TopicPartition changelog) {
    Long offset = store.committedOffset(changelog);
    return offset == null || offset == TaskStore.OFFSET_UNKNOWN ? -1 : offset;
  }

  /** Offset {@code n} writes key {@code n % KEYS} at time {@code n * STEP}. */
  static final class Task implements AutoCloseable {
    final SharedDatabase shared;
    final SegmentedStore windows = new SegmentedStore("w", TimedKeys.WINDOW, "plain", 150, 100);
    final RevenantVersionedStore versions = new RevenantVersionedStore("v", RETENTION, INTERVAL);
    final TopicPartition windowLog = new TopicPartition("w-changelog", 0);
    final TopicPartition versionLog = new TopicPartition("v-changelog", 0);

    Task(Path home) throws Exception {
      TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
      shared = TaskContext.smallDatabase(home);
      windows.open(context, home.resolve("0_0"));
      versions.open(context, home.resolve("0_0"));
    }

    long offset() {
      return ExpiringCrashTest.offset(windows, windowLog);
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Bytes key(long offset) {
      return Bytes.wrap(bytes("key" + offset % KEYS));
    }

    void write(long offset) {
      byte[] value = bytes(Long.toString(offset));
      windows.put(Bytes.wrap(TimedKeys.window(key(offset), offset * STEP, 0)), value);
      versions.put(key(offset), offset % 5 == 0 ? null : value, offset * STEP);
    }

    void commit(long offset) {
      windows.commit(Map.of(windowLog, offset));
      versions.commit(Map.of(versionLog, offset));
    }

    void check(Recovered recovered) {
      long last = offset();
      long oldest = last * STEP - RETENTION;
      NavigableMap<Long, String> expected = new TreeMap<>();
      for (long offset = 0; offset <= last; offset++) {
        if (offset * STEP > oldest) {
          expected.put(offset * STEP, Long.toString(offset));
        }
      }
      NavigableMap<Long, String> found = new TreeMap<>();
      try (KeyValueIterator<Bytes, byte[]> rows =
          windows.fetch(null, null, 0, Long.MAX_VALUE, false, true)) {
        rows.forEachRemaining(
            row -> found.put(TimedKeys.WINDOW.time(row.key.get()), text(row.value)));
      }
      recovered.demand(
          expected.equals(found), "offset " + last + ": expected " + expected + ", found " + found);
      for (ExpiringStore store : new ExpiringStore[] {windows, versions}) {
        recovered.demand(
            store.segments(true).isEmpty()
                || store.segments(true).firstKey() >= Math.max(0, oldest) / INTERVAL,
            store + " has segments that are over: " + store.segments(true));
      }
      for (long time = Math.max(0, oldest); time <= last * STEP; time += STEP / 2) {
        for (int key = 0; key < KEYS; key++) {
          long at = time / STEP;
          while (at >= 0 && at % KEYS != key) {
            at--;
          }
          String value = at < 0 || at % 5 == 0 ? "none" : Long.toString(at);
          VersionedRecord<byte[]> version = versions.get(key(key), time);
          String is = version == null ? "none" : text(version.value());
          recovered.demand(
              value.equals(is),
              "offset %d, key %d at %d: expected %s, found %s"
                  .formatted(last, key, time, value, is));
        }
      }
    }

    private static String text(byte[] value) {
      return new String(Objects.requireNonNull(value), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
      windows.close();
      versions.close();
      shared.release();
    }
  }
}
