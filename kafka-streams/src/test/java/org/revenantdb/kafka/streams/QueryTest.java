package org.revenantdb.kafka.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.internals.ProcessorRecordContext;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.KeyQuery;
import org.apache.kafka.streams.query.MultiVersionedKeyQuery;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.RangeQuery;
import org.apache.kafka.streams.query.TimestampedKeyQuery;
import org.apache.kafka.streams.query.TimestampedRangeQuery;
import org.apache.kafka.streams.query.VersionedKeyQuery;
import org.apache.kafka.streams.query.WindowKeyQuery;
import org.apache.kafka.streams.query.WindowRangeQuery;
import org.apache.kafka.streams.state.AggregationWithHeaders;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.SessionBytesStoreSupplier;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.ValueAndTimestamp;
import org.apache.kafka.streams.state.ValueTimestampHeaders;
import org.apache.kafka.streams.state.VersionedBytesStoreSupplier;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.WindowBytesStoreSupplier;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.WrappedStateStore;
import org.apache.kafka.test.InternalMockProcessorContext;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Interactive queries of each kind of store, beside Kafka's own stores in RocksDB: what is
 * committed has the same answers, by the interfaces of the stores and by queries, from the typed
 * store and from the store of bytes in it. What is not committed is seen by the task alone.
 *
 * <p>Repeat a run with {@code -Drevenant.query.seed}.
 */
@Tag("slow")
class QueryTest {
  private static final int ROUNDS = Boolean.getBoolean("revenant.long") ? 400 : 25;

  /** Long enough for two segments of Kafka's windows, of which the first one goes. */
  private static final long RETENTION = 120_000;

  private static final long WINDOW = 1_000;
  private static final String TOPIC = "in";

  /** Some are the beginning of others. */
  private static final List<String> KEYS = List.of("a", "aa", "ab", "b", "ba", "c", "\0", "~");

  @TempDir Path home;

  private enum Shape {
    ROWS,
    VERSIONS,
    WINDOWS,
    SESSIONS
  }

  /** What a value of the store is, of a text and a time. */
  private interface Values {
    Object of(String text, long time);
  }

  private enum Kind {
    ROWS(
        Shape.ROWS,
        Kind::plain,
        of(Kind::rows, RevenantStores::keyValueStore, Stores::persistentKeyValueStore)),
    TIMESTAMPED(
        Shape.ROWS,
        ValueAndTimestamp::make,
        of(
            Kind::timestamped,
            RevenantStores::timestampedKeyValueStore,
            Stores::persistentTimestampedKeyValueStore)),
    HEADERS(
        Shape.ROWS,
        Kind::headers,
        of(
            Kind::headers,
            RevenantStores::timestampedKeyValueStoreWithHeaders,
            Stores::persistentTimestampedKeyValueStoreWithHeaders)),
    VERSIONS(
        Shape.VERSIONS,
        Kind::plain,
        of(
            Kind::versions,
            name -> RevenantStores.versionedKeyValueStore(name, Duration.ofMillis(RETENTION)),
            name -> Stores.persistentVersionedKeyValueStore(name, Duration.ofMillis(RETENTION)))),
    WINDOWS(
        Shape.WINDOWS,
        Kind::plain,
        of(
            Kind::windows,
            windows(RevenantStores::windowStore, false),
            windows(Stores::persistentWindowStore, false))),
    WINDOWS_WITH_DUPLICATES(
        Shape.WINDOWS,
        Kind::plain,
        of(
            Kind::windows,
            windows(RevenantStores::windowStore, true),
            windows(Stores::persistentWindowStore, true))),
    TIMESTAMPED_WINDOWS(
        Shape.WINDOWS,
        ValueAndTimestamp::make,
        of(
            Kind::timestampedWindows,
            windows(RevenantStores::timestampedWindowStore, false),
            windows(Stores::persistentTimestampedWindowStore, false))),
    WINDOWS_WITH_HEADERS(
        Shape.WINDOWS,
        Kind::headers,
        of(
            Kind::windowsWithHeaders,
            windows(RevenantStores::timestampedWindowStoreWithHeaders, false),
            windows(Stores::persistentTimestampedWindowStoreWithHeaders, false))),
    SESSIONS(
        Shape.SESSIONS,
        Kind::plain,
        of(
            Kind::sessions,
            name -> RevenantStores.sessionStore(name, Duration.ofMillis(RETENTION)),
            name -> Stores.persistentSessionStore(name, Duration.ofMillis(RETENTION)))),
    SESSIONS_WITH_HEADERS(
        Shape.SESSIONS,
        (text, time) -> AggregationWithHeaders.make(text, headersOf(time)),
        of(
            Kind::sessionsWithHeaders,
            name -> RevenantStores.sessionStoreWithHeaders(name, Duration.ofMillis(RETENTION)),
            name -> Stores.persistentSessionStoreWithHeaders(name, Duration.ofMillis(RETENTION))));

    private final Shape shape;
    private final Values values;
    private final Builders builders;

    Kind(Shape shape, Values values, Builders builders) {
      this.shape = shape;
      this.values = values;
      this.builders = builders;
    }

    private interface Builders {
      StoreBuilder<?> of(boolean ours);
    }

    private interface Windows {
      WindowBytesStoreSupplier of(
          String name, Duration retention, Duration size, boolean retainDuplicates);
    }

    private static <S> Builders of(
        Function<S, StoreBuilder<?>> builder,
        Function<String, S> ours,
        Function<String, S> theirs) {
      return isOurs -> builder.apply((isOurs ? ours : theirs).apply("store"));
    }

    private static Function<String, WindowBytesStoreSupplier> windows(
        Windows windows, boolean retainDuplicates) {
      return name ->
          windows.of(
              name, Duration.ofMillis(RETENTION), Duration.ofMillis(WINDOW), retainDuplicates);
    }

    private static StoreBuilder<?> rows(KeyValueBytesStoreSupplier of) {
      return Stores.keyValueStoreBuilder(of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> timestamped(KeyValueBytesStoreSupplier of) {
      return Stores.timestampedKeyValueStoreBuilder(of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> headers(KeyValueBytesStoreSupplier of) {
      return Stores.timestampedKeyValueStoreWithHeadersBuilder(
          of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> versions(VersionedBytesStoreSupplier of) {
      return Stores.versionedKeyValueStoreBuilder(of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> windows(WindowBytesStoreSupplier of) {
      return Stores.windowStoreBuilder(of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> timestampedWindows(WindowBytesStoreSupplier of) {
      return Stores.timestampedWindowStoreBuilder(of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> windowsWithHeaders(WindowBytesStoreSupplier of) {
      return Stores.timestampedWindowStoreWithHeadersBuilder(of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> sessions(SessionBytesStoreSupplier of) {
      return Stores.sessionStoreBuilder(of, Serdes.String(), Serdes.String());
    }

    private static StoreBuilder<?> sessionsWithHeaders(SessionBytesStoreSupplier of) {
      return Stores.sessionStoreWithHeadersBuilder(of, Serdes.String(), Serdes.String());
    }

    private static Object plain(String text, long time) {
      return text;
    }

    private static Object headers(String text, long time) {
      return ValueTimestampHeaders.make(text, time, headersOf(time));
    }

    private static Headers headersOf(long time) {
      return new RecordHeaders().add("time", Long.toString(time).getBytes());
    }

    /**
     * The same without headers: Kafka's own stores of 4.3 answer no query of stores with headers.
     */
    Kind withoutHeaders() {
      return switch (this) {
        case HEADERS -> TIMESTAMPED;
        case WINDOWS_WITH_HEADERS -> TIMESTAMPED_WINDOWS;
        case SESSIONS_WITH_HEADERS -> SESSIONS;
        default -> this;
      };
    }

    /**
     * Without its task, Kafka's own store forgets the latest time when it is closed, and segments
     * of versions.
     */
    boolean canBeReopened() {
      return shape == Shape.ROWS;
    }
  }

  /** A store and its context; the thread that makes it is that of the task. */
  private final class Side {
    private final Kind kind;
    private final String directory;
    private final boolean ours;
    private InternalMockProcessorContext<?, ?> context;
    private StateStore store;

    Side(Kind kind, boolean ours) {
      this.kind = kind;
      this.directory = (ours ? "ours-" : "theirs-") + kind;
      this.ours = ours;
      open();
    }

    void open() {
      Properties properties = new Properties();
      properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
      properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
      properties.put(RevenantConfig.POOL_BYTES, 4L << 20);
      Path task = home.resolve(directory).resolve("0_0");
      try {
        Files.createDirectories(task);
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
      context =
          new InternalMockProcessorContext<>(
              task.toFile(), Serdes.String(), Serdes.String(), new StreamsConfig(properties));
      store = kind.builders.of(ours).withLoggingDisabled().withCachingDisabled().build();
      store.init(context, store);
    }

    void at(long offset) {
      context.setRecordContext(
          new ProcessorRecordContext(0, offset, 0, TOPIC, new RecordHeaders()));
    }

    @SuppressWarnings("unchecked") // the kind says what the store is
    void write(String key, String text, long time, long length) {
      Object value = text == null ? null : kind.values.of(text, time);
      switch (kind.shape) {
        case ROWS -> ((KeyValueStore<String, Object>) store).put(key, value);
        case VERSIONS -> ((VersionedKeyValueStore<String, Object>) store).put(key, value, time);
        case WINDOWS -> ((WindowStore<String, Object>) store).put(key, value, time);
        case SESSIONS -> {
          Windowed<String> session = new Windowed<>(key, new SessionWindow(time, time + length));
          if (value == null) {
            ((SessionStore<String, Object>) store).remove(session);
          } else {
            ((SessionStore<String, Object>) store).put(session, value);
          }
        }
      }
    }

    void commit(long offset) {
      store.commit(Map.of(new TopicPartition("changelog", 0), offset));
    }

    /** The store of bytes. */
    StateStore inner() {
      return ((WrappedStateStore<?, ?, ?>) store).wrapped();
    }

    /** Everything that the store has, as the calling thread sees it. */
    @SuppressWarnings("unchecked")
    List<String> all() {
      return switch (kind.shape) {
        case ROWS -> told(((KeyValueStore<String, Object>) store).all());
        case WINDOWS -> told(((WindowStore<String, Object>) store).all());
        case SESSIONS ->
            told(
                ((SessionStore<String, Object>) store).findSessions(null, null, 0, Long.MAX_VALUE));
        case VERSIONS -> {
          List<String> all = new ArrayList<>();
          for (String key : KEYS) {
            VersionedRecord<Object> latest =
                ((VersionedKeyValueStore<String, Object>) store).get(key);
            if (latest != null) {
              all.add(key + "=" + latest);
            }
          }
          yield all;
        }
      };
    }

    /** The query that has the most of it. */
    Query<?> most() {
      return switch (kind.shape) {
        case ROWS -> RangeQuery.withNoBounds();
        case WINDOWS ->
            WindowRangeQuery.withWindowStartRange(Instant.EPOCH, Instant.ofEpochMilli(1L << 40));
        case SESSIONS -> WindowRangeQuery.withKey("a");
        case VERSIONS -> MultiVersionedKeyQuery.withKey("a");
      };
    }
  }

  // --- what stores tell

  private static List<String> told(Iterator<?> rows) {
    List<String> told = new ArrayList<>();
    try {
      rows.forEachRemaining(row -> told.add(text(row)));
    } finally {
      if (rows instanceof AutoCloseable open) {
        try {
          open.close();
        } catch (Exception failure) {
          throw new AssertionError(failure);
        }
      }
    }
    return told;
  }

  private static String text(Object answer) {
    return switch (answer) {
      case null -> "null";
      case byte[] bytes -> Bytes.wrap(bytes).toString();
      case KeyValue<?, ?> row -> text(row.key) + "=" + text(row.value);
      case VersionedRecord<?> version ->
          text(version.value()) + "@" + version.timestamp() + "-" + version.validTo();
      case Iterator<?> rows -> told(rows).toString();
      default -> answer.toString();
    };
  }

  /** All that a caller learns; a failure of a store has the stack of its classes, which differ. */
  private record Answer(
      String rows, FailureReason reason, String message, Position position, int infos) {}

  private static Object answer(
      StateStore store, Query<?> query, PositionBound bound, boolean info) {
    QueryResult<?> result;
    try {
      result = store.query(query, bound, new QueryConfig(info));
    } catch (UnsupportedOperationException | IllegalArgumentException refused) {
      return refused.toString();
    }
    for (String line : result.getExecutionInfo()) {
      assertTrue(line.startsWith("Handled in class "), line);
    }
    FailureReason reason = result.isSuccess() ? null : result.getFailureReason();
    return new Answer(
        reason == null ? text(result.getResult()) : null,
        reason,
        reason == null || reason == FailureReason.STORE_EXCEPTION
            ? null
            : result.getFailureMessage().replaceAll("class [a-zA-Z.$_]+", "class"),
        result.getPosition() == null ? null : result.getPosition().copy(),
        result.getExecutionInfo().size());
  }

  private static <T> T outside(Callable<T> read) throws Exception {
    FutureTask<T> task = new FutureTask<>(read);
    Thread.ofPlatform().start(task).join();
    return task.get();
  }

  private static Position at(long offset) {
    return Position.emptyPosition().withComponent(TOPIC, 0, offset);
  }

  /** A query of a user, which no store knows. */
  private record OwnQuery() implements Query<String> {}

  // --- the same answers

  private static String key(Random random) {
    return KEYS.get(random.nextInt(KEYS.size()));
  }

  /** In order: of others all stores write a warning to the log. */
  private static List<String> range(Random random) {
    return Stream.of(key(random), key(random)).sorted().toList();
  }

  /** Of every type, with and without bounds; a store knows some, and refuses the others. */
  private static List<Query<?>> queries(
      Kind kind, Random random, long now, Function<String, ?> keys) {
    List<String> range = range(random);
    Object first = keys.apply(range.getFirst());
    Object last = keys.apply(range.getLast());
    long from = Math.max(0, now - random.nextLong(RETENTION));
    long to = from + random.nextLong(RETENTION / 2);
    Instant begin = Instant.ofEpochMilli(from);
    Instant end = Instant.ofEpochMilli(to);
    List<Query<?>> queries =
        new ArrayList<>(
            List.of(
                new OwnQuery(),
                KeyQuery.withKey(first),
                KeyQuery.withKey(first).skipCache(),
                RangeQuery.withRange(first, last),
                RangeQuery.withRange(first, last).withDescendingKeys(),
                RangeQuery.withRange(first, last).withAscendingKeys(),
                RangeQuery.withLowerBound(first).withDescendingKeys(),
                RangeQuery.withUpperBound(last),
                RangeQuery.withNoBounds(),
                RangeQuery.withNoBounds().withDescendingKeys(),
                VersionedKeyQuery.withKey(first),
                VersionedKeyQuery.withKey(first).asOf(begin),
                WindowKeyQuery.withKeyAndWindowStartRange(first, begin, end),
                WindowRangeQuery.withKey(first),
                WindowRangeQuery.withWindowStartRange(begin, end),
                WindowRangeQuery.withWindowStartRange(end, begin),
                TimestampedKeyQuery.withKey(first),
                TimestampedRangeQuery.withRange(first, last),
                TimestampedRangeQuery.withNoBounds().withDescendingKeys(),
                TimestampedRangeQuery.withLowerBound(first).withAscendingKeys()));
    if (kind.shape != Shape.VERSIONS) { // theirs leaves out versions, see below
      queries.add(MultiVersionedKeyQuery.withKey(first));
    }
    return queries;
  }

  /** The reads of the interface of a store, by their names. */
  @SuppressWarnings("unchecked")
  private static List<String> reads(Side side, Random random, long now) {
    List<String> range = range(random);
    String first = range.getFirst();
    String last = range.getLast();
    long from = Math.max(0, now - random.nextLong(RETENTION));
    long to = from + random.nextLong(RETENTION / 2);
    Instant begin = Instant.ofEpochMilli(from);
    Instant end = Instant.ofEpochMilli(to);
    List<Object> read = new ArrayList<>();
    switch (side.kind.shape) {
      case ROWS -> {
        ReadOnlyKeyValueStore<String, Object> rows =
            (ReadOnlyKeyValueStore<String, Object>) side.store;
        read.add(rows.get(first));
        read.add(rows.range(first, last));
        read.add(rows.range(null, last));
        read.add(rows.range(first, null));
        read.add(rows.reverseRange(first, last));
        read.add(rows.reverseRange(null, last));
        read.add(rows.all());
        read.add(rows.reverseAll());
        read.add(rows.prefixScan(first, new StringSerializer()));
      }
      case VERSIONS -> {
        VersionedKeyValueStore<String, Object> rows =
            (VersionedKeyValueStore<String, Object>) side.store;
        read.add(rows.get(first));
        read.add(rows.get(first, from));
        read.add(rows.get(first, now));
      }
      case WINDOWS -> {
        ReadOnlyWindowStore<String, Object> rows = (ReadOnlyWindowStore<String, Object>) side.store;
        read.add(rows.fetch(first, from / WINDOW * WINDOW));
        read.add(rows.fetch(first, begin, end));
        read.add(rows.backwardFetch(first, begin, end));
        read.add(rows.fetch(first, last, begin, end));
        read.add(rows.backwardFetch(first, last, begin, end));
        read.add(rows.fetch(null, last, begin, end));
        read.add(rows.fetch(first, null, begin, end));
        read.add(rows.fetchAll(begin, end));
        read.add(rows.backwardFetchAll(begin, end));
        read.add(rows.all());
        read.add(rows.backwardAll());
      }
      case SESSIONS -> {
        ReadOnlySessionStore<String, Object> rows =
            (ReadOnlySessionStore<String, Object>) side.store;
        read.add(rows.fetchSession(first, begin, end));
        read.add(rows.findSessions(first, begin, end));
        read.add(rows.backwardFindSessions(first, begin, end));
        read.add(rows.findSessions(first, last, begin, end));
        read.add(rows.backwardFindSessions(first, last, begin, end));
        read.add(rows.findSessions(null, last, begin, end));
        read.add(rows.fetch(first));
        read.add(rows.backwardFetch(first));
        read.add(rows.fetch(first, last));
        read.add(rows.backwardFetch(first, last));
      }
    }
    return read.stream().map(QueryTest::text).toList();
  }

  private static List<PositionBound> bounds(long offset) {
    return List.of(
        PositionBound.unbounded(),
        PositionBound.at(at(offset)),
        PositionBound.at(at(offset - 1)),
        PositionBound.at(at(offset + 1)),
        PositionBound.at(Position.emptyPosition().withComponent(TOPIC, 1, offset + 1)),
        PositionBound.at(at(offset).withComponent("other", 0, 0)));
  }

  @ParameterizedTest
  @EnumSource
  void queries_have_the_answers_of_kafkas_own_store(Kind kind) throws Exception {
    long seed = Long.getLong("revenant.query.seed", new Random().nextLong());
    System.out.println("QueryTest: repeat with -Drevenant.query.seed=" + seed);
    Random random = new Random(seed);
    Side ours = new Side(kind, true);
    Side theirs = new Side(kind, false);
    boolean hasHeaders = kind != kind.withoutHeaders();
    Side asked = hasHeaders ? new Side(kind.withoutHeaders(), false) : theirs;
    List<Side> sides = hasHeaders ? List.of(ours, theirs, asked) : List.of(ours, theirs);
    Set<String> written = new HashSet<>();
    long now = 1_000_000;
    long offset = 0;
    for (int round = 0; round < ROUNDS; round++) {
      if (kind.canBeReopened() && random.nextInt(5) == 0) {
        for (Side side : sides) {
          side.store.close();
          side.open();
        }
      }
      for (int i = random.nextInt(12); i >= 0; i--) {
        now += WINDOW + random.nextLong(5 * WINDOW);
        // The last one counts: theirs has no position of a write that comes too late.
        boolean isLate = i > 0 && random.nextBoolean();
        long late = now - (isLate ? random.nextLong(RETENTION + RETENTION / 4) : 0);
        long time = late / WINDOW * WINDOW;
        String key = key(random);
        String text = i > 0 && random.nextInt(4) == 0 ? null : "v" + random.nextInt(1_000);
        if (kind.shape == Shape.VERSIONS && !written.add(key + time)) {
          continue; // theirs forgets a deletion at the very time of a value
        }
        offset++;
        long length = random.nextInt(20) * WINDOW;
        for (Side side : sides) {
          side.at(offset);
          side.write(key, text, time, length);
        }
      }
      for (Side side : sides) {
        side.commit(round);
      }
      assertEquals(theirs.store.getPosition(), ours.store.getPosition());
      long reads = random.nextLong();
      String where = kind + ", round " + round + " of seed " + seed;
      long at = now;
      List<String> expected = reads(theirs, new Random(reads), at);
      assertEquals(expected, reads(ours, new Random(reads), at), where);
      assertEquals(expected, outside(() -> reads(ours, new Random(reads), at)), where);
      List<PositionBound> bounds = bounds(offset);
      PositionBound bound = bounds.get(random.nextInt(bounds.size()));
      boolean info = random.nextBoolean();
      for (boolean typed : hasHeaders ? new boolean[] {true} : new boolean[] {true, false}) {
        StateStore our = typed ? ours.store : ours.inner();
        StateStore their = typed ? asked.store : asked.inner();
        for (Query<?> query :
            queries(kind, random, now, typed ? key -> key : key -> Bytes.wrap(key.getBytes()))) {
          for (PositionBound one : List.of(PositionBound.unbounded(), bound)) {
            String what = where + ", typed " + typed + ", bound " + one + ", query " + query;
            Object answer = answer(their, query, one, info);
            assertEquals(answer, answer(our, query, one, info), what);
            assertEquals(answer, outside(() -> answer(our, query, one, info)), what);
          }
        }
      }
      if (kind == Kind.VERSIONS) {
        compareVersions(ours, theirs, random, now);
      }
    }
    for (Side side : sides) {
      side.store.close();
    }
  }

  /**
   * Theirs leaves out versions that end in a segment behind the range, so it is asked without an
   * end, and the range is cut out here.
   */
  @SuppressWarnings("unchecked")
  private static void compareVersions(Side ours, Side theirs, Random random, long now) {
    MultiVersionedKeyQuery<String, String> all = MultiVersionedKeyQuery.withKey(key(random));
    long from = Math.max(0, now - random.nextLong(RETENTION / 2));
    long to = from + random.nextLong(RETENTION / 2);
    List<VersionedRecord<String>> versions = new ArrayList<>();
    theirs
        .store
        .query(all.withAscendingTimestamps(), PositionBound.unbounded(), new QueryConfig(false))
        .getResult()
        .forEachRemaining(versions::add);
    versions.removeIf(version ->
        version.timestamp() > to
            || version.validTo().isPresent() && version.validTo().get() <= from);
    MultiVersionedKeyQuery<String, String> range =
        all.fromTime(Instant.ofEpochMilli(from)).toTime(Instant.ofEpochMilli(to));
    String expected = versions.stream().map(QueryTest::text).toList().toString();
    assertEquals(expected, rows(ours.store, range.withAscendingTimestamps()));
    Collections.reverse(versions);
    expected = versions.stream().map(QueryTest::text).toList().toString();
    assertEquals(expected, rows(ours.store, range.withDescendingTimestamps()));
    assertEquals(expected, rows(ours.store, range));
  }

  private static String rows(StateStore store, Query<?> query) {
    return ((Answer) answer(store, query, PositionBound.unbounded(), false)).rows;
  }

  // --- isolation

  @ParameterizedTest
  @EnumSource
  void others_see_the_committed_state_and_its_position_and_the_task_its_own_writes(Kind kind)
      throws Exception {
    Side side = new Side(kind, true);
    side.at(1);
    side.write("a", "one", 1_000_000, 0);
    side.commit(1);
    List<String> first = side.all();
    side.at(2);
    side.write("a", "two", kind.shape == Shape.ROWS ? 2_000_000 : 1_001_000, 1_000);
    side.write("b", "two", 1_001_000, 1_000);
    List<String> second = side.all();
    assertNotEquals(first, second);
    assertEquals(first, outside(side::all));
    assertEquals(at(2), side.store.getPosition());
    assertEquals(at(1), outside(side.store::getPosition));

    Query<?> most = side.most();
    Answer before = (Answer) answer(side.store, most, PositionBound.at(at(1)), true);
    assertEquals(at(1), before.position);
    assertTrue(before.rows.contains("one"), before.rows);
    assertTrue(!before.rows.contains("two"), before.rows);
    assertEquals(before, outside(() -> answer(side.store, most, PositionBound.at(at(0)), true)));
    Answer ahead = (Answer) answer(side.store, most, PositionBound.at(at(2)), false);
    assertEquals(FailureReason.NOT_UP_TO_BOUND, ahead.reason);
    assertEquals(at(1), ahead.position);
    Object begun =
        side.store.query(most, PositionBound.unbounded(), new QueryConfig(false)).getResult();
    side.commit(2);
    assertEquals(before.rows, text(begun), "a query has the state that it began with");

    assertEquals(second, outside(side::all));
    Answer after = (Answer) answer(side.store, most, PositionBound.at(at(2)), false);
    assertEquals(at(2), after.position);
    assertTrue(after.rows.contains("two"), after.rows);

    side.at(3);
    side.write("b", "three", 1_002_000, 2_000);
    assertEquals(at(3), side.store.getPosition());
    side.store.close(); // rolls back
    side.open();
    assertEquals(second, side.all());
    assertEquals(at(2), side.store.getPosition());
    assertEquals(after, answer(side.store, most, PositionBound.at(at(2)), false));
    side.store.close();
  }

  /**
   * A rebalance closes stores under the queries of other threads, which go to all partitions. With
   * Kafka's own stores such a query fails as well, or finds no rows.
   */
  @ParameterizedTest
  @EnumSource
  void a_query_of_a_closed_store_fails_and_throws_nothing(Kind kind) throws Exception {
    Side side = new Side(kind, true);
    side.at(1);
    side.write("a", "one", 1_000_000, 0);
    side.commit(1);
    side.store.close();
    for (boolean info : new boolean[] {true, false}) {
      Query<?> most = side.most();
      Callable<Object> closed = () -> answer(side.store, most, PositionBound.at(at(1)), info);
      assertEquals(FailureReason.STORE_EXCEPTION, ((Answer) outside(closed)).reason);
      assertEquals(at(1), ((Answer) outside(closed)).position);
      Callable<Object> ahead = () -> answer(side.store, most, PositionBound.at(at(2)), info);
      assertEquals(FailureReason.NOT_UP_TO_BOUND, ((Answer) outside(ahead)).reason);
      Callable<Object> unknown =
          () -> answer(side.store, new OwnQuery(), PositionBound.unbounded(), info);
      assertEquals(FailureReason.UNKNOWN_QUERY_TYPE, ((Answer) outside(unknown)).reason);
    }
  }
}
