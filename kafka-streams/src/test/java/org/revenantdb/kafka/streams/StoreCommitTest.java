package org.revenantdb.kafka.streams;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.TaskMigratedException;
import org.apache.kafka.streams.processor.internals.ChangelogRecordDeserializationHelper;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.internals.PositionSerde;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;

/** When rows and offsets of the stores of a task are committed, and who sees what before that. */
class StoreCommitTest {
  private static final TopicPartition FIRST = new TopicPartition("app-first-changelog", 0);
  private static final TopicPartition SECOND = new TopicPartition("app-second-changelog", 0);

  @TempDir Path home;

  /** A thread that keeps such a task could never commit again. */
  @AfterEach
  void no_task_without_stores_is_kept() {
    assertFalse(TaskTransaction.isKeptBy(Thread.currentThread()));
  }

  private TaskContext context(String guarantee) {
    return new TaskContext(home, guarantee);
  }

  private static RevenantStore open(TaskContext context, String name) {
    RevenantStore store = new RevenantStore(name);
    store.init(context, store);
    return store;
  }

  private RevenantStore open(String name) {
    return open(context(StreamsConfig.EXACTLY_ONCE_V2), name);
  }

  private static Bytes key(String key) {
    return Bytes.wrap(key.getBytes(UTF_8));
  }

  private static void put(RevenantStore store, String key, String value) {
    store.put(key(key), value == null ? null : value.getBytes(UTF_8));
  }

  private static Map<String, String> rows(KeyValueIterator<Bytes, byte[]> iterator) {
    Map<String, String> rows = new LinkedHashMap<>();
    try (iterator) {
      iterator.forEachRemaining(
          row -> rows.put(new String(row.key.get(), UTF_8), new String(row.value, UTF_8)));
    }
    return rows;
  }

  private static Map<String, String> outside(RevenantStore store) throws Exception {
    return elsewhere(() -> rows(store.all()));
  }

  /** Calls something on a thread that does not process tasks. */
  private static <T> T elsewhere(Callable<T> call) throws Exception {
    FutureTask<T> task = new FutureTask<>(call);
    Thread.ofPlatform().start(task).join();
    return task.get();
  }

  @Test
  void rows_and_offset_survive_together_and_what_was_not_committed_is_gone() {
    RevenantStore store = open("first");
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 5L));
    put(store, "a", "2");
    put(store, "b", "2");
    assertEquals(Map.of("a", "2", "b", "2"), rows(store.all()));
    assertEquals(5, store.committedOffset(FIRST));
    store.close(); // as after a failure of the task
    store = open("first");
    assertEquals(Map.of("a", "1"), rows(store.all()));
    assertEquals(5, store.committedOffset(FIRST));
    assertEquals(1, store.approximateNumEntries());
    store.close();
  }

  @Test
  void a_task_commits_with_the_last_of_its_stores_that_has_written() throws Exception {
    TaskContext context = context(StreamsConfig.EXACTLY_ONCE_V2);
    RevenantStore first = open(context, "first");
    RevenantStore second = open(context, "second");
    RevenantStore idle = open(context, "idle");
    put(first, "a", "1");
    put(second, "b", "1");
    first.commit(Map.of(FIRST, 1L));
    assertEquals(Map.of(), outside(first));
    assertEquals(TaskStore.OFFSET_UNKNOWN, first.committedOffset(FIRST));
    second.commit(Map.of(SECOND, 2L));
    assertEquals(Map.of("a", "1"), outside(first));
    assertEquals(Map.of("b", "1"), outside(second));
    assertEquals(1, first.committedOffset(FIRST));
    assertEquals(2, second.committedOffset(SECOND));
    idle.close();

    put(first, "a", "2");
    put(second, "b", "2");
    second.commit(Map.of(SECOND, 4L));
    put(second, "b", "3"); // its offset is no longer that of its rows
    first.commit(Map.of(FIRST, 3L));
    assertEquals(Map.of("b", "1"), outside(second));
    first.close();
    second.close();
    second = open("second");
    assertEquals(Map.of("b", "1"), rows(second.all()));
    assertEquals(2, second.committedOffset(SECOND));
    second.close();
  }

  /**
   * One store of a failed task is closed: what the others write until they are is not committed.
   */
  @Test
  void a_task_that_was_rolled_back_commits_nothing_more() {
    TaskContext context = context(StreamsConfig.EXACTLY_ONCE_V2);
    RevenantStore first = open(context, "first");
    RevenantStore second = open(context, "second");
    put(first, "a", "1");
    put(second, "b", "1");
    first.close();
    put(second, "c", "1");
    second.commit(Map.of(SECOND, 1L));
    TaskTransaction.producerHasCommitted((partition, isInput) -> 1L);
    second.close();
    second = open("second");
    assertEquals(Map.of(), rows(second.all()));
    assertEquals(TaskStore.OFFSET_UNKNOWN, second.committedOffset(SECOND));
    second.close();
  }

  @Test
  void others_see_what_is_committed_and_iterators_outlive_a_commit() throws Exception {
    RevenantStore store = open("first");
    for (String key : List.of("a", "b", "c", "d")) {
      put(store, key, "1");
    }
    store.commit(Map.of(FIRST, 1L));
    put(store, "b", null);
    put(store, "c", "2");
    assertEquals(Map.of("a", "1", "b", "1", "c", "1", "d", "1"), outside(store));
    assertEquals("1", elsewhere(() -> new String(store.get(key("c")), UTF_8)));
    assertEquals("2", new String(store.get(key("c")), UTF_8));
    assertEquals(4, elsewhere(store::approximateNumEntries));
    assertEquals(3, store.approximateNumEntries());
    KeyValueIterator<Bytes, byte[]> up = store.all();
    KeyValueIterator<Bytes, byte[]> down = store.reverseAll();
    KeyValueIterator<Bytes, byte[]> snapshot = elsewhere(store::all);
    assertEquals(key("a"), up.next().key);
    assertEquals(key("d"), down.next().key);
    store.commit(Map.of(FIRST, 2L));
    put(store, "c", "3");
    assertEquals(Map.of("c", "2", "d", "1"), rows(up));
    assertEquals(List.of("c", "a"), List.copyOf(rows(down).keySet()));
    assertEquals(Map.of("a", "1", "b", "1", "c", "1", "d", "1"), rows(snapshot));
    assertThrows(InvalidStateStoreException.class, up::hasNext);
    KeyValueIterator<Bytes, byte[]> forgotten = store.range(key("a"), null);
    store.close();
    assertThrows(InvalidStateStoreException.class, forgotten::hasNext);
    assertThrows(InvalidStateStoreException.class, () -> store.get(key("a")));
    store.close();
  }

  @Test
  void the_stores_of_a_thread_commit_with_its_producer() throws Exception {
    TaskContext context = context(StreamsConfig.EXACTLY_ONCE_V2);
    RevenantStore first = open(context, "first");
    RevenantStore second = open(context, "second");
    RevenantStore unlogged = open(context, "unlogged");
    TopicPartition source = new TopicPartition("table", 0);
    first.commit(Map.of(FIRST, TaskStore.OFFSET_UNKNOWN));
    second.commit(Map.of(source, TaskStore.OFFSET_UNKNOWN)); // its input is its changelog
    try (MockProducer<byte[], byte[]> mock = mockProducer();
        CommittingProducer producer = committing(mock)) {
      producer.beginTransaction();
      put(first, "a", "1");
      producer.send(new ProducerRecord<>(FIRST.topic(), 0, new byte[] {'a'}, new byte[] {'1'}));
      put(first, "a", "2");
      producer.send(new ProducerRecord<>(FIRST.topic(), 0, new byte[] {'a'}, new byte[] {'2'}));
      put(second, "b", "1");
      put(unlogged, "c", "1");
      producer.sendOffsetsToTransaction(Map.of(source, new OffsetAndMetadata(8)), group());
      assertEquals(Map.of(), outside(first));
      elsewhere(() -> {
        TaskTransaction.producerHasCommitted((partition, isInput) -> 99L); // of another thread
        return null;
      });
      assertEquals(Map.of(), outside(first));
      producer.commitTransaction();
      assertEquals(Map.of("a", "2"), outside(first));
      assertEquals(1, first.committedOffset(FIRST));
      assertEquals(Map.of("b", "1"), outside(second));
      assertEquals(7, second.committedOffset(source));
      assertEquals(Map.of("c", "1"), outside(unlogged));

      producer.beginTransaction();
      put(first, "a", "3");
      producer.send(new ProducerRecord<>(FIRST.topic(), 0, new byte[] {'a'}, new byte[] {'3'}));
      producer.abortTransaction();
    }
    for (RevenantStore store : List.of(first, second, unlogged)) {
      store.close();
    }
    first = open("first");
    assertEquals(Map.of("a", "2"), rows(first.all()));
    assertEquals(1, first.committedOffset(FIRST));
    first.close();
  }

  private static MockProducer<byte[], byte[]> mockProducer() {
    return new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private static CommittingProducer committing(MockProducer<byte[], byte[]> mock) {
    CommittingProducer producer = CommittingProducer.of(mock, "app-StreamThread-1-producer");
    producer.initTransactions();
    return producer;
  }

  @SuppressWarnings("removal") // nothing else can be made by a user
  private static ConsumerGroupMetadata group() {
    return new ConsumerGroupMetadata("app");
  }

  /** The producer has committed, so Kafka must not take its commit for failed. */
  @Test
  void a_store_that_cannot_commit_with_the_producer_tells_at_its_next_write() {
    RevenantStore store = open("first");
    store.commit(Map.of(FIRST, 1L));
    put(store, "a", "1");
    KeyValueIterator<Bytes, byte[]> begun = store.all();
    SharedDatabase shared = SharedDatabase.acquire(home, Map.of());
    shared.database().close();
    TaskTransaction.producerHasCommitted((partition, isInput) -> 2L);
    assertRefused(store);
    assertThrows(TaskMigratedException.class, begun::hasNext);
    assertEquals(1, store.committedOffset(FIRST));
    store.close();
    shared.release();
    RevenantStore next = open("first");
    assertEquals(Map.of(), rows(next.all()));
    assertEquals(1, next.committedOffset(FIRST));
    next.close();
  }

  /** What it would read is not what it has written. Kafka opens the task again. */
  private static void assertRefused(RevenantStore store) {
    for (Executable statement :
        List.<Executable>of(
            () -> put(store, "a", "2"), () -> store.get(key("a")), () -> store.all())) {
      assertThrows(TaskMigratedException.class, statement);
    }
  }

  /** Kafka aborts for one task of the thread; the records of the others are gone as well. */
  @Test
  void rows_of_an_aborted_transaction_are_not_committed_with_the_next_one() throws Exception {
    RevenantStore store = open("first");
    store.commit(Map.of(FIRST, TaskStore.OFFSET_UNKNOWN));
    try (MockProducer<byte[], byte[]> mock = mockProducer();
        CommittingProducer producer = committing(mock)) {
      producer.beginTransaction();
      put(store, "a", "1");
      producer.send(new ProducerRecord<>(FIRST.topic(), 0, new byte[] {'a'}, new byte[] {'1'}));
      producer.abortTransaction();
      producer.beginTransaction();
      assertRefused(store);
      // The topology may have sent records of this task meanwhile.
      producer.send(new ProducerRecord<>("output", 0, new byte[] {'a'}, new byte[] {'2'}));
      assertThrows(ProducerFencedException.class, producer::commitTransaction);
      assertEquals(0, mock.commitCount());
      assertEquals(Map.of(), outside(store));
      assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(FIRST));
      producer.abortTransaction();
      store.close();
      RevenantStore again = open("first");
      producer.beginTransaction();
      put(again, "b", "1");
      producer.send(new ProducerRecord<>(FIRST.topic(), 0, new byte[] {'b'}, new byte[] {'1'}));
      producer.commitTransaction();
      assertEquals(1, mock.commitCount());
      assertEquals(Map.of("b", "1"), outside(again));
      again.close();
    }
  }

  @Test
  void a_refused_task_that_is_declared_corrupted_is_cleared() {
    RevenantStore store = open("first");
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    put(store, "a", "2");
    TaskTransaction.producerHasAborted();
    assertRefused(store);
    store.commit(Map.of());
    assertNull(store.committedOffset(FIRST));
    store.close();
  }

  @Test
  void rows_of_a_producer_that_is_closed_before_its_commit_are_not_committed() throws Exception {
    RevenantStore store = open("first");
    MockProducer<byte[], byte[]> mock = mockProducer();
    CommittingProducer producer = committing(mock);
    producer.beginTransaction();
    put(store, "a", "1");
    producer.close();
    TaskTransaction.producerHasCommitted((partition, isInput) -> 1L);
    assertEquals(Map.of(), outside(store));
    assertRefused(store);
    store.close();
  }

  /** The store has what its task has read, and another task has written more to that topic. */
  @Test
  void the_offset_of_a_store_whose_changelog_is_its_input_is_that_of_what_the_task_has_read() {
    TopicPartition orders = new TopicPartition("orders-changelog", 0);
    RevenantStore reads = open("reads");
    reads.commit(Map.of(orders, TaskStore.OFFSET_UNKNOWN));
    try (MockProducer<byte[], byte[]> mock = mockProducer();
        CommittingProducer producer = committing(mock)) {
      producer.beginTransaction();
      for (int i = 0; i < 9; i++) {
        producer.send(new ProducerRecord<>(orders.topic(), 0, new byte[1], new byte[1]));
      }
      put(reads, "a", "1");
      producer.sendOffsetsToTransaction(Map.of(orders, new OffsetAndMetadata(4)), group());
      producer.commitTransaction();
    }
    assertEquals(3, reads.committedOffset(orders));
    reads.close();
  }

  /** A handler of Kafka may pass over the exception of the statement. */
  @Test
  void what_a_statement_has_written_before_it_failed_is_not_committed() throws Exception {
    RevenantStore store = open("first");
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    Database database = store.opened().shared().database();
    Table dropped = database.createTable("dropped");
    database.dropTable("dropped");
    assertThrows(
        ProcessorStateException.class,
        () ->
            store.write(tx -> {
              store.put(tx, store.table(), store.row(key("b")), new byte[1]);
              store.put(tx, dropped, store.row(key("b")), new byte[1]);
            }));
    assertRefused(store);
    assertThrows(TaskMigratedException.class, () -> store.commit(Map.of(FIRST, 2L)));
    TaskTransaction.producerHasCommitted((partition, isInput) -> 3L);
    assertEquals(Map.of("a", "1"), outside(store));
    assertEquals(1, store.committedOffset(FIRST));
    store.close();
    RevenantStore next = open("first");
    assertEquals(Map.of("a", "1"), rows(next.all()));
    next.close();
  }

  @Test
  void a_key_that_is_too_long_keeps_all_of_its_batch_out() {
    RevenantStore store = open("first");
    List<KeyValue<Bytes, byte[]>> batch =
        List.of(
            KeyValue.pair(key("a"), new byte[1]),
            KeyValue.pair(Bytes.wrap(new byte[Database.MAX_KEY_BYTES]), new byte[1]));
    assertThrows(ProcessorStateException.class, () -> store.putAll(batch));
    assertEquals(Map.of(), rows(store.all()));
    put(store, "b", "1");
    store.commit(Map.of(FIRST, 1L));
    assertEquals(Map.of("b", "1"), rows(store.all()));
    store.close();
  }

  /** Each row makes another one behind it. */
  @Test
  void a_loop_that_writes_a_row_for_each_row_comes_to_an_end() {
    RevenantStore store = open("first");
    put(store, "a", "1");
    put(store, "c", "1");
    List<String> seen = new ArrayList<>();
    try (KeyValueIterator<Bytes, byte[]> all = store.all();
        KeyValueIterator<Bytes, byte[]> reverse = store.reverseAll()) {
      all.forEachRemaining(row -> {
        String key = new String(row.key.get(), UTF_8);
        seen.add(key);
        put(store, key + "x", "2");
        put(store, key, "3"); // was there
      });
      store.commit(Map.of(FIRST, 1L)); // the other one goes on in a snapshot
      reverse.forEachRemaining(row -> seen.add(new String(row.key.get(), UTF_8)));
    }
    assertEquals(List.of("a", "c", "c", "a"), seen);
    assertEquals(Map.of("a", "3", "ax", "2", "c", "3", "cx", "2"), rows(store.all()));
    store.close();
  }

  /** It was there when the iterator was opened, and is there. */
  @Test
  void an_iterator_shows_a_row_that_is_deleted_and_comes_back() {
    RevenantStore store = open("first");
    put(store, "a", "1");
    put(store, "b", "1");
    try (KeyValueIterator<Bytes, byte[]> all = store.all()) {
      assertEquals(key("a"), all.next().key);
      put(store, "b", null);
      put(store, "c", "1");
      put(store, "b", "2");
      put(store, "c", null);
      put(store, "c", "2");
      assertEquals(List.of("b"), List.copyOf(rows(all).keySet()));
    }
    assertNull(store.opened().task().insertionsIfRead(), "no iterator is open");
    assertEquals(List.of("a", "b", "c"), List.copyOf(rows(store.all()).keySet()));
    store.close();
  }

  @Test
  void a_task_whose_rollback_has_failed_is_opened_again() throws Exception {
    RevenantStore stays = open(context(StreamsConfig.EXACTLY_ONCE_V2).ofTask("0_1"), "stays");
    RevenantStore fails =
        new RevenantStore("first") {
          @Override
          void rolledBack() {
            throw new IllegalStateException("a failure");
          }
        };
    fails.init(context(StreamsConfig.EXACTLY_ONCE_V2), fails);
    put(fails, "a", "1");
    assertThrows(IllegalStateException.class, fails::close);
    RevenantStore store = open("first");
    put(store, "b", "1");
    store.commit(Map.of(FIRST, 1L));
    assertEquals(Map.of("b", "1"), outside(store));
    store.close();
    stays.close();
  }

  @Test
  void a_store_without_changelog_commits_with_an_empty_map() {
    RevenantStore store = open("unlogged");
    put(store, "a", "1");
    store.commit(Map.of());
    store.close();
    store = open("unlogged");
    assertEquals(Map.of("a", "1"), rows(store.all()));
    store.close();
  }

  @Test
  void a_corrupted_store_loses_its_offsets_and_what_was_not_committed() {
    RevenantStore store = open("first");
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    put(store, "a", "2");
    store.commit(Map.of());
    assertNull(store.committedOffset(FIRST));
    assertEquals(Map.of("a", "1"), rows(store.all()));
    store.close();
    store = open("first");
    assertEquals(Map.of(), rows(store.all()), "they belong to no offset");
    assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(FIRST));
    store.commit(Map.of(FIRST, 3L));
    store.commit(Collections.singletonMap(FIRST, null));
    store.close();
    store = open("first");
    assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(FIRST));
    store.close();
    store = open(context(StreamsConfig.AT_LEAST_ONCE), "first");
    assertNull(store.committedOffset(FIRST));
    store.close();
  }

  @Test
  void a_corrupted_store_forgets_the_position_of_what_was_only_gathered() {
    TaskContext context =
        context(StreamsConfig.AT_LEAST_ONCE)
            .with(StreamsConfig.InternalConfig.IQ_CONSISTENCY_OFFSET_VECTOR_ENABLED, true);
    RevenantStore store = open(context, "first");
    context.at("in", 3);
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    Position committed = Position.emptyPosition().withComponent("in", 0, 3);
    context.restore.restoreBatch(List.of(at(change(2, "b", "1"), "in", 9)));
    store.commit(Map.of());
    assertEquals(committed, store.getPosition());
    QueryResult<byte[]> result =
        store.query(KeyQuery.withKey(key("a")), PositionBound.unbounded(), new QueryConfig(false));
    assertEquals(committed, result.getPosition());
    store.close();
  }

  /** A change whose headers say which input made it. */
  private static ConsumerRecord<byte[], byte[]> at(
      ConsumerRecord<byte[], byte[]> change, String topic, long offset) {
    Position position = Position.emptyPosition().withComponent(topic, 0, offset);
    change
        .headers()
        .add(ChangelogRecordDeserializationHelper.CHANGELOG_VERSION_HEADER_RECORD_CONSISTENCY);
    change
        .headers()
        .add(
            ChangelogRecordDeserializationHelper.CHANGELOG_POSITION_HEADER_KEY,
            PositionSerde.serialize(position).array());
    return change;
  }

  @Test
  void a_corrupted_store_takes_no_offset_of_others_without_their_rows() {
    RevenantStore first = open("first");
    RevenantStore second = open("second");
    put(second, "b", "1");
    put(first, "a", "0");
    first.commit(Map.of(FIRST, 1L));
    second.commit(Map.of(SECOND, 1L));
    put(first, "a", "1");
    put(second, "b", "2");
    first.commit(Map.of()); // rolls the write of the second one back as well
    second.commit(Map.of(SECOND, 2L));
    assertThrows(ProcessorStateException.class, () -> put(second, "b", "3"));
    first.close();
    second.close();
    RevenantStore next = open("second");
    assertEquals(1, next.committedOffset(SECOND));
    assertEquals(Map.of("b", "1"), rows(next.all()));
    next.close();
  }

  @Test
  void a_store_is_new_if_its_directory_or_the_database_was_deleted() throws Exception {
    RevenantStore store = open("first");
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    store.close();
    Files.delete(SharedDatabase.marker(home.resolve("0_0"), "first"));
    store = open("first");
    assertEquals(Map.of(), rows(store.all()));
    assertEquals(TaskStore.OFFSET_UNKNOWN, store.committedOffset(FIRST));
    put(store, "a", "2");
    store.commit(Map.of(FIRST, 1L));
    store.close();
    try (var files = Files.list(home.resolve(SharedDatabase.DIRECTORY))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (Files.isDirectory(file)) {
          try (var inner = Files.list(file)) {
            for (Path one : (Iterable<Path>) inner::iterator) {
              Files.delete(one);
            }
          }
        }
        Files.delete(file);
      }
    }
    store = open("first");
    assertEquals(Map.of(), rows(store.all()));
    store.close();
  }

  @Test
  void rows_of_another_format_are_not_used() {
    RevenantStore store = open("first");
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    store.close();
    RevenantStore other = new RevenantTimestampedStore("first");
    other.init(context(StreamsConfig.EXACTLY_ONCE_V2), other);
    assertEquals(Map.of(), rows(other.all()));
    assertEquals(TaskStore.OFFSET_UNKNOWN, other.committedOffset(FIRST));
    other.close();
  }

  @Test
  void queries_read_what_is_committed_up_to_a_position() {
    TaskContext context = context(StreamsConfig.AT_LEAST_ONCE);
    RevenantStore store = open(context, "first");
    context.at("in", 3);
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    context.at("in", 4);
    put(store, "a", "2");
    assertEquals("1", query(store, 3).getResult());
    assertEquals(FailureReason.NOT_UP_TO_BOUND, query(store, 4).getFailureReason());
    QueryResult<KeyValueIterator<Bytes, byte[]>> range =
        store.query(RangeQuery.withNoBounds(), PositionBound.unbounded(), new QueryConfig(false));
    assertEquals(Map.of("a", "1"), rows(range.getResult()));
    assertEquals(Position.emptyPosition().withComponent("in", 0, 4), store.getPosition());
    store.commit(Map.of(FIRST, 2L));
    assertEquals("2", query(store, 4).getResult());
    store.close();
    store = open(context, "first");
    assertEquals("2", query(store, 4).getResult());
    store.close();
  }

  private static QueryResult<String> query(RevenantStore store, long least) {
    QueryResult<byte[]> result =
        store.query(
            KeyQuery.withKey(key("a")),
            PositionBound.at(Position.emptyPosition().withComponent("in", 0, least)),
            new QueryConfig(false));
    return result.isSuccess()
        ? QueryResult.forResult(new String(result.getResult(), UTF_8))
        : QueryResult.forFailure(result.getFailureReason(), result.getFailureMessage());
  }

  @Test
  void a_restored_batch_leaves_the_last_change_of_each_key() throws Exception {
    TaskContext context = context(StreamsConfig.EXACTLY_ONCE_V2);
    RevenantStore store = open(context, "first");
    context.restore.restoreBatch(
        List.of(
            change(0, "b", "1"), change(1, "a", "1"), change(2, "b", null), change(3, "", "1")));
    context.restore.restoreBatch(List.of(change(4, "a", "2"), change(5, "c", "1")));
    store.commit(Map.of(FIRST, 5L));
    assertEquals(Map.of("", "1", "a", "2", "c", "1"), outside(store));
    assertEquals(5, store.committedOffset(FIRST));
    store.close();
  }

  private static ConsumerRecord<byte[], byte[]> change(long offset, String key, String value) {
    return new ConsumerRecord<>(
        FIRST.topic(),
        0,
        offset,
        key.getBytes(UTF_8),
        value == null ? null : value.getBytes(UTF_8));
  }

  @Test
  void a_key_that_is_too_long_is_refused_by_name() {
    RevenantStore store = open("first");
    Bytes fits = Bytes.wrap(new byte[1023]);
    store.put(fits, new byte[] {1});
    assertEquals(1, store.get(fits).length);
    ProcessorStateException refused =
        assertThrows(
            ProcessorStateException.class, () -> store.put(Bytes.wrap(new byte[1024]), fits.get()));
    assertTrue(refused.getMessage().contains("first"), refused.getMessage());
    assertFalse(rows(store.all()).isEmpty());
    store.close();
  }

  @Test
  void durable_stores_commit_durably() {
    TaskContext context =
        context(StreamsConfig.AT_LEAST_ONCE).with(RevenantConfig.DURABILITY, "durable");
    RevenantStore store = open(context, "first");
    put(store, "a", "1");
    store.commit(Map.of(FIRST, 1L));
    store.close();
    assertThrows(
        org.apache.kafka.common.config.ConfigException.class,
        () ->
            open(
                context(StreamsConfig.AT_LEAST_ONCE).with(RevenantConfig.DURABILITY, "often"),
                "first"));
  }
}
