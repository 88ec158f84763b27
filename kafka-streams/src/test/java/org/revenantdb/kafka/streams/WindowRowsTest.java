package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;

/** Rows of a store of windows and those of its changelog; readers of a store that is closed. */
class WindowRowsTest {
  private static final Bytes KEY = Bytes.wrap(new byte[] {1});

  @TempDir Path home;

  private WindowStore<Bytes, byte[]> open(TaskContext context, boolean duplicates) {
    WindowStore<Bytes, byte[]> store =
        RevenantStores.windowStore(
                "windows", Duration.ofHours(1), Duration.ofMinutes(1), duplicates)
            .get();
    store.init(context, store);
    return store;
  }

  /**
   * Kafka gives each record of the changelog a number, also one without a value, and none to one
   * that the store refuses.
   */
  @Test
  void a_duplicate_behind_a_null_value_has_the_key_of_its_changelog_record() {
    TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
    WindowStore<Bytes, byte[]> store = open(context, /* duplicates= */ true);
    store.put(KEY, null, 0);
    Bytes tooLong = Bytes.wrap(new byte[Database.MAX_KEY_BYTES]);
    assertThrows(ProcessorStateException.class, () -> store.put(tooLong, new byte[1], 0));
    store.put(KEY, new byte[] {7}, 0);
    byte[] ofChangelog = WindowKeySchema.toStoreKeyBinary(KEY, 0, /* seqnum= */ 2).get();
    context.restore.restoreBatch(
        List.of(new ConsumerRecord<>("app-windows-changelog", 0, 1, ofChangelog, null)));
    try (WindowStoreIterator<byte[]> left = store.fetch(KEY, 0, 0)) {
      assertFalse(left.hasNext());
    }
    store.close();
  }

  /** Else it would take a part of the rows for all of them. */
  @Test
  void a_reader_from_outside_is_told_that_the_store_was_closed() throws Exception {
    TaskContext context = new TaskContext(home, StreamsConfig.EXACTLY_ONCE_V2);
    WindowStore<Bytes, byte[]> store = open(context, /* duplicates= */ false);
    for (int time = 0; time < 100; time++) {
      store.put(KEY, new byte[] {7}, time);
    }
    TaskTransaction.producerHasCommitted((partition, isInput) -> 1L);
    FutureTask<KeyValueIterator<Windowed<Bytes>, byte[]>> begun = new FutureTask<>(store::all);
    Thread.ofPlatform().start(begun).join();
    KeyValueIterator<Windowed<Bytes>, byte[]> rows = begun.get();
    assertTrue(rows.hasNext());
    rows.next();
    store.close();
    assertThrows(InvalidStateStoreException.class, rows::hasNext);
  }
}
