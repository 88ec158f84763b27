package org.revenantdb.kafka.streams;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.junit.jupiter.api.Tag;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/**
 * Power cuts while two stores of a task write and commit: the rows of each store are exactly those
 * that its offset says, both stores are at the same commit, and a durable commit stays.
 */
@Tag("slow")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 100,
    seed = 20_261_127)
class StoreCrashTest implements CrashSubject<StoreCrashTest.Task> {
  private static final int KEYS = 7;
  private static final int COMMITS = 8;

  @Override
  public Task open(Path directory) throws Exception {
    return new Task(directory);
  }

  @Override
  public void work(Task task, Promises promises) {
    for (int commit = 0; commit < COMMITS; commit++) {
      long offset = task.offset();
      for (int i = 0; i < 3; i++) {
        task.first.write(++offset);
        task.second.write(2 * offset);
        task.second.write(2 * offset + 1);
      }
      promises.attempt("offset", Long.toString(offset));
      task.first.commit(offset);
      task.second.commit(2 * offset + 1);
      promises.durable("offset", Long.toString(offset));
    }
    task.first.write(task.offset() + 1); // not committed
  }

  @Override
  public void check(Task task, Recovered recovered) {
    long offset = task.offset();
    recovered.verify(key -> offset < 0 ? null : Long.toString(offset));
    recovered.demand(
        task.second.offset() == (offset < 0 ? offset : 2 * offset + 1),
        "the stores are at different commits: " + offset + " and " + task.second.offset());
    task.first.check(recovered);
    task.second.check(recovered);
  }

  /** A task with two stores, whose database has the files of the framework. */
  static final class Task implements AutoCloseable {
    final SharedDatabase shared;
    final Store first;
    final Store second;

    Task(Path home) throws Exception {
      TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
      shared = TaskContext.smallDatabase(home);
      first = new Store(context, home.resolve("0_0"), "first");
      second = new Store(context, home.resolve("0_0"), "second");
    }

    long offset() {
      return first.offset();
    }

    @Override
    public void close() {
      first.store.close();
      second.store.close();
      shared.release();
    }
  }

  /** A store whose change at an offset is known: key {@code offset % KEYS} gets that offset. */
  static final class Store {
    final RevenantStore store;
    final TopicPartition changelog;

    Store(TaskContext context, Path directory, String name) {
      store = new RevenantStore(name);
      store.open(context, directory);
      changelog = new TopicPartition(name + "-changelog", 0);
    }

    long offset() {
      Long offset = store.committedOffset(changelog);
      return offset == null || offset == TaskStore.OFFSET_UNKNOWN ? -1 : offset;
    }

    void write(long offset) {
      store.put(Bytes.wrap(bytes("key" + offset % KEYS)), bytes(Long.toString(offset)));
    }

    void commit(long offset) {
      store.commit(Map.of(changelog, offset));
    }

    void check(Recovered recovered) {
      Map<String, String> expected = new TreeMap<>();
      for (long offset = 0; offset <= offset(); offset++) {
        expected.put("key" + offset % KEYS, Long.toString(offset));
      }
      Map<String, String> found = new TreeMap<>();
      try (KeyValueIterator<Bytes, byte[]> rows = store.all()) {
        rows.forEachRemaining(row ->
            found.put(
                new String(row.key.get(), StandardCharsets.UTF_8),
                new String(row.value, StandardCharsets.UTF_8)));
      }
      recovered.demand(
          expected.equals(found),
          store + " is at " + offset() + ": expected " + expected + ", found " + found);
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
  }
}
