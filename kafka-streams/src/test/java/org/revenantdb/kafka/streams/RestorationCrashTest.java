package org.revenantdb.kafka.streams;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
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
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Transaction;

/**
 * Power cuts while two stores of a task are restored, and another task of the instance writes and
 * commits beside them. The rows of each store are exactly those that its changelog has up to its
 * offset: rows of keys and values whether they were loaded into the empty table with runs, loaded
 * between other rows, or put because of deletions; rows of windows batch by batch. At the end the
 * directory of the task is deleted, as Kafka does with a corrupted one, and the restoration begins
 * anew in other tables.
 */
@Tag("slow")
@CrashTest(
    profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST},
    states = 60,
    seed = 20_261_128)
class RestorationCrashTest implements CrashSubject<RestorationCrashTest.Restored> {
  private static final TopicPartition CHANGELOG = new TopicPartition("store-changelog", 0);
  private static final TopicPartition WINDOW_LOG = new TopicPartition("windows-changelog", 0);

  /** The changelogs of a new incarnation of the task begin at a multiple of it. */
  private static final long LIFE = 1_000_000;

  private static final int KEYS = 3_001;
  private static final int DELETED = 7;

  /** From then on in each life there are no deletions. */
  private static final int PUT_ONLY = 28_500;

  /** More than the quarter of the pool that is gathered at most. */
  private static final int MUCH = 8_000;

  private static final int LITTLE = 100;
  private static final long STEP = 10;
  private static final long INTERVAL = 500;
  private static final long RETENTION = 1_000;

  @Override
  public Restored open(Path directory) throws Exception {
    return new Restored(directory);
  }

  @Override
  public void work(Restored restored, Promises promises) throws IOException {
    boolean isEmpty = restored.beginIfNew(promises); // not in a life behind a crash that left rows
    restored.restore(MUCH, promises); // a run
    restored.restoreWindows(LITTLE, promises);
    restored.restore(MUCH, promises); // another one
    restored.besideCommits(promises);
    restored.restore(LITTLE, promises);
    restored.restoreWindows(LITTLE, promises);
    restored.demandRuns(isEmpty);
    restored.commit(promises); // into the empty table
    restored.demandRuns(false);
    for (int commit = 0; commit < 3; commit++) {
      restored.restore(LITTLE, promises);
      restored.besideCommits(promises);
      restored.commit(promises);
    }
    restored.restore(MUCH, promises); // put at once, because there are deletions
    restored.isDurable(promises);
    restored.restore((int) Math.max(1, PUT_ONLY - restored.next % LIFE), promises);
    restored.commit(promises);
    restored.restore(MUCH, promises); // loaded between other rows
    restored.isDurable(promises);
    restored.besideCommits(promises);
    resume(restored, promises);
    restored.loseAll(promises);
    restored.restore(MUCH, promises); // a run of the next life
    restored.restoreWindows(LITTLE, promises);
    restored.besideCommits(promises);
    restored.demandRuns(true);
    restored.commit(promises); // beside the table that was dropped
    resume(restored, promises);
  }

  @Override
  public void resume(Restored restored, Promises promises) {
    restored.beginIfNew(promises);
    restored.restore(2 * LITTLE, promises);
    restored.restoreWindows(LITTLE, promises);
    restored.commit(promises);
    restored.demandRuns(false);
    restored.restore(LITTLE, promises); // not committed
    restored.restoreWindows(LITTLE / 2, promises);
  }

  @Override
  public void check(Restored restored, Recovered recovered) {
    Map<String, String> offsets = new TreeMap<>();
    restored.beside.addPromised(offsets);
    long last = offset(restored.store, CHANGELOG);
    long lastWindow = offset(restored.windows, WINDOW_LOG);
    if (last >= 0) {
      offsets.put(CHANGELOG.topic(), Long.toString(last));
    }
    if (lastWindow >= 0) {
      offsets.put(WINDOW_LOG.topic(), Long.toString(lastWindow));
    }
    recovered.verify(offsets::get);
    restored.beside.check(recovered);
    Map<Long, Long> expected = new TreeMap<>();
    for (long change = last / LIFE * LIFE; change <= last; change++) {
      if (isDeletion(change)) {
        expected.remove(change % KEYS);
      } else {
        expected.put(change % KEYS, change);
      }
    }
    demandRows(recovered, last, expected, restored.store.all());
    Map<Long, Long> windows = new TreeMap<>();
    for (long change = lastWindow / LIFE * LIFE; change <= lastWindow; change++) {
      if (change * STEP > lastWindow * STEP - RETENTION) {
        windows.put(change % KEYS, change);
      }
    }
    demandRows(
        recovered,
        lastWindow,
        windows,
        restored.windows.fetch(null, null, 0, Long.MAX_VALUE, false, true));
  }

  private static void demandRows(
      Recovered recovered,
      long last,
      Map<Long, Long> expected,
      KeyValueIterator<Bytes, byte[]> of) {
    Map<Long, Long> found = new TreeMap<>();
    try (of) {
      of.forEachRemaining(row ->
          found.put(
              ByteBuffer.wrap(row.key.get()).getLong(), ByteBuffer.wrap(row.value).getLong()));
    }
    recovered.demand(
        expected.equals(found),
        "at offset " + last + ": " + expected.size() + " rows expected, found " + found.size());
  }

  private static boolean isDeletion(long offset) {
    return offset % LIFE < PUT_ONLY && offset % DELETED == 0;
  }

  private static long offset(TaskStore store, TopicPartition changelog) {
    Long offset = store.committedOffset(changelog);
    return offset == null || offset == TaskStore.OFFSET_UNKNOWN ? -1 : offset;
  }

  /** A task that is restored, and another one, whose database has the files of the framework. */
  static final class Restored implements AutoCloseable {
    final SharedDatabase shared;
    final RevenantStore store = new RevenantStore("store");

    /**
     * The log is forced behind its rows, and again behind its offset, so cuts fall between them.
     */
    final SegmentedStore windows =
        new SegmentedStore("windows", TimedKeys.WINDOW, "plain", RETENTION, INTERVAL) {
          @Override
          void stage(Transaction tx, Map<TopicPartition, Long> changes) {
            shared.database().sync();
            super.stage(tx, changes);
            shared.database().sync();
          }
        };

    final ModelTask beside;
    private final TaskContext context;
    private final Path directory;
    private long next;
    private long nextWindow;

    Restored(Path home) throws Exception {
      directory = home.resolve("0_0");
      context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
      shared = TaskContext.smallDatabase(home, Durability.DURABLE);
      beside = new ModelTask(home, "1_0");
      comes();
    }

    private void comes() {
      store.open(context, directory);
      windows.open(context, directory);
      next = offset(store, CHANGELOG) + 1;
      nextWindow = offset(windows, WINDOW_LOG) + 1;
    }

    private void leaves() {
      store.close();
      windows.close();
    }

    /**
     * Where the changelogs of a new task begin: not where those of an earlier one were, because the
     * other task has committed since. Returns whether the store of keys and values is new.
     */
    boolean beginIfNew(Promises promises) {
      besideCommits(promises);
      boolean isNew = next == 0;
      next = isNew ? beside.offset() * LIFE : next;
      nextWindow = nextWindow == 0 ? beside.offset() * LIFE : nextWindow;
      return isNew;
    }

    /** Records from the next offset on. */
    void restore(int count, Promises promises) {
      List<ConsumerRecord<byte[], byte[]>> batch = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        long offset = next++;
        byte[] value = isDeletion(offset) ? null : bytes(offset, 80);
        batch.add(
            new ConsumerRecord<>(
                CHANGELOG.topic(), 0, offset, bytes(offset % KEYS, Long.BYTES), value));
      }
      promises.attempt(CHANGELOG.topic(), Long.toString(next - 1));
      store.restore(batch);
    }

    /** They are a transaction of their own while the other store gathers, and it is lazy. */
    void restoreWindows(int count, Promises promises) {
      List<ConsumerRecord<byte[], byte[]>> batch = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        long offset = nextWindow++;
        Bytes key = Bytes.wrap(bytes(offset % KEYS, Long.BYTES));
        batch.add(
            new ConsumerRecord<>(
                WINDOW_LOG.topic(),
                0,
                offset,
                TimedKeys.window(key, offset * STEP, 0),
                bytes(offset, 40)));
      }
      promises.attempt(WINDOW_LOG.topic(), Long.toString(nextWindow - 1));
      windows.restore(batch);
    }

    void besideCommits(Promises promises) {
      long offset = beside.offset() + 1;
      beside.write(offset);
      Promises.Group group = beside.committing(promises, offset);
      beside.commit(offset);
      group.durable();
    }

    /** This test is of no use if the paths are others than it says. */
    void demandRuns(boolean areThere) {
      if (Files.exists(SharedDatabase.directory(directory, "store").resolve("restoring"))
          != areThere) {
        throw new AssertionError("there should be " + (areThere ? "" : "no ") + "runs");
      }
    }

    void commit(Promises promises) {
      store.commit(Map.of(CHANGELOG, next - 1));
      windows.commit(Map.of(WINDOW_LOG, nextWindow - 1));
      isDurable(promises);
      promises.durable(WINDOW_LOG.topic(), Long.toString(nextWindow - 1));
    }

    /** All that was restored of keys and values. */
    void isDurable(Promises promises) {
      promises.durable(CHANGELOG.topic(), Long.toString(next - 1));
    }

    /** Kafka deletes the directory of a task that is corrupted, and the task comes anew. */
    void loseAll(Promises promises) throws IOException {
      leaves();
      for (TaskStore each : List.of(store, windows)) {
        String key = each == store ? CHANGELOG.topic() : WINDOW_LOG.topic();
        promises.attempt(key, null);
        Files.delete(SharedDatabase.marker(directory, each.name()));
        Files.delete(SharedDatabase.directory(directory, each.name()));
      }
      Files.delete(SharedDatabase.directory(directory));
      Files.delete(directory);
      comes();
      promises.durable(CHANGELOG.topic(), null);
      promises.durable(WINDOW_LOG.topic(), null);
      beginIfNew(promises);
    }

    private static byte[] bytes(long number, int length) {
      return ByteBuffer.allocate(length).putLong(number).array();
    }

    @Override
    public void close() {
      leaves();
      beside.close();
      shared.release();
    }
  }
}
