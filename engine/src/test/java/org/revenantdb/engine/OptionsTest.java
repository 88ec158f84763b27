package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Refusals.assertRefused;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.revenantdb.engine.buffer.BufferPoolOptions;
import org.revenantdb.engine.lifecycle.DirectoryState;
import org.revenantdb.engine.testing.Samples;

/**
 * Every illegal value of every option, and every combination of options that contradict each other.
 * The setters are found by reflection: one without a row fails {@link #every_setter_has_a_row}.
 */
class OptionsTest {
  private static final int MIB = 1 << 20;

  private static final DatabaseOptions DATABASE = DatabaseOptions.defaults();
  private static final TransactionOptions TRANSACTION = TransactionOptions.durable();
  private static final SequenceOptions SEQUENCE = SequenceOptions.defaults();
  private static final BackupOptions BACKUP = BackupOptions.defaults();
  private static final BulkLoadOptions LOAD = BulkLoadOptions.defaults();
  private static final ArchiveOptions ARCHIVE = ArchiveOptions.to(Path.of("archive"));
  private static final FollowerOptions FOLLOWER = FollowerOptions.defaults();
  private static final TableOptions TABLE = TableOptions.defaults();

  private static final Duration NEGATIVE = Duration.ofNanos(-1);
  private static final Duration OVER_A_YEAR = Duration.ofDays(365).plusNanos(1);
  private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
  private static final String LISTENER = "a listener";
  private static final String TO_A_YEAR = "from PT0S to PT8760H";

  /** Setters whose names are not the names of their options. */
  private static final Map<String, String> OTHER_NAMES =
      Map.of("of", "durability", "hashPartitioned", "partitions", "to", "directory");

  @TempDir private Path folder;

  /**
   * An option with its illegal values. What is missing is illegal for each option that is no
   * number, and is not listed.
   *
   * @param base the other options, as they are set before
   */
  private record Row(Record base, String option, String range, List<Object> illegal) {
    @Override
    public String toString() {
      return base.getClass().getSimpleName() + "." + option + ", " + range;
    }
  }

  private static Row row(Record base, String option, String range, Object... illegal) {
    return new Row(base, option, range, List.of(illegal));
  }

  static Stream<Row> rows() {
    long segments = DATABASE.withLogSegmentBytes(8 * MIB).logBytes(8 * MIB);
    return Stream.of(
        row(
            DATABASE,
            "poolBytes",
            "from 2097152 to 8796093022208",
            -1L,
            0L,
            2L * MIB - 1,
            (8L << 40) + 1,
            Long.MIN_VALUE,
            Long.MAX_VALUE),
        row(
            DATABASE,
            "maxRecoveryLog",
            "from 16777216 to 2305843009213693951",
            -1L,
            0L,
            16L * MIB - 1,
            Long.MAX_VALUE / 4 + 1,
            Long.MIN_VALUE,
            Long.MAX_VALUE),
        row(
            DATABASE.withLogSegmentBytes(8 * MIB),
            "maxRecoveryLog",
            "from 33554432 to 2305843009213693951",
            16L * MIB,
            32L * MIB - 1),
        row(
            DATABASE.withMaxLogSize(512L * MIB),
            "maxLogSize",
            "0, or from ",
            -1L,
            1L,
            128L * MIB,
            Long.MIN_VALUE),
        row(
            DATABASE.withLogSegmentBytes(8 * MIB).withMaxLogSize(segments),
            "maxLogSize",
            "0, or from ",
            128L * MIB),
        row(DATABASE, "maxRecoveryPages", "from 256 to 2147483647", -1, 0, 255, Integer.MIN_VALUE),
        row(
            DATABASE,
            "logSegmentBytes",
            "a power of two from 1048576 to 1073741824",
            -1,
            0,
            1,
            MIB - 1,
            MIB / 2,
            MIB + 1,
            3 * MIB,
            Integer.MIN_VALUE,
            Integer.MAX_VALUE),
        row(DATABASE, "maxAttempts", "from 1 to 2147483647", -1, 0, Integer.MIN_VALUE),
        row(DATABASE, "durability", "one of [DURABLE, LAZY]"),
        row(
            DATABASE,
            "maxLazyDelay",
            TO_A_YEAR + ", or NEVER",
            NEGATIVE,
            OVER_A_YEAR,
            LONGEST.minusNanos(1_000_000_000)),
        row(DATABASE, "leakListener", LISTENER),
        row(
            DATABASE,
            "shortTransactionRows",
            "from 0 to 65536",
            -1,
            65_537,
            Integer.MIN_VALUE,
            Integer.MAX_VALUE),
        row(
            DATABASE,
            "versionMemory",
            "from 1048576 to 9007199254740992",
            -1L,
            0L,
            MIB - 1L,
            (1L << 53) + 1,
            Long.MIN_VALUE,
            Long.MAX_VALUE),
        row(DATABASE, "lockTimeout", TO_A_YEAR, NEGATIVE, OVER_A_YEAR, LONGEST),
        row(
            DATABASE,
            "cleanerThreads",
            "from 1 to 16",
            -1,
            0,
            17,
            Integer.MIN_VALUE,
            Integer.MAX_VALUE),
        row(DATABASE, "restartListener", LISTENER),
        row(
            DATABASE,
            "maxBackoff",
            "from PT0S to PT1M",
            NEGATIVE,
            Duration.ofMinutes(1).plusNanos(1),
            LONGEST),
        row(DATABASE, "retryTimeout", TO_A_YEAR, NEGATIVE, OVER_A_YEAR, LONGEST),
        row(DATABASE, "archive", "a directory, or options"),
        row(ARCHIVE, "directory", "a path"),
        row(
            ARCHIVE,
            "interval",
            "from PT0.001S to PT8760H",
            NEGATIVE,
            Duration.ZERO,
            Duration.ofMillis(1).minusNanos(1),
            OVER_A_YEAR,
            LONGEST),
        row(
            ARCHIVE,
            "stopAfter",
            TO_A_YEAR + ", or NEVER",
            NEGATIVE,
            OVER_A_YEAR,
            LONGEST.minusNanos(1_000_000_000)),
        row(
            ARCHIVE,
            "baseEvery",
            TO_A_YEAR + ", or NEVER",
            NEGATIVE,
            OVER_A_YEAR,
            LONGEST.minusNanos(1_000_000_000)),
        row(ARCHIVE, "policy", "a policy"),
        row(ARCHIVE, "listener", LISTENER),
        row(FOLLOWER, "database", "options"),
        row(
            FOLLOWER,
            "interval",
            "from PT0.001S to PT24H",
            NEGATIVE,
            Duration.ZERO,
            Duration.ofMillis(1).minusNanos(1),
            Duration.ofDays(1).plusNanos(1),
            LONGEST),
        row(FOLLOWER, "foldBytes", "from 1048576 to 9223372036854775807", -1L, 0L, (1L << 20) - 1),
        row(TRANSACTION, "durability", "one of [DURABLE, LAZY]"),
        row(TRANSACTION, "lockTimeout", TO_A_YEAR, NEGATIVE, OVER_A_YEAR, LONGEST),
        row(TRANSACTION, "isolation", "one of [READ_COMMITTED, SNAPSHOT, SERIALIZABLE]"),
        row(
            TRANSACTION,
            "name",
            "from 1 to 100 characters, not blank, without control characters",
            "",
            " ",
            "n".repeat(101),
            "two\nlines",
            "half \ud83d"),
        row(TRANSACTION, "retryTimeout", TO_A_YEAR, NEGATIVE, OVER_A_YEAR, LONGEST),
        row(
            SEQUENCE.withOrder(SequenceOrder.BIT_REVERSED),
            "start",
            "from 1 to 9223372036854775807",
            -1L,
            0L,
            Long.MIN_VALUE),
        row(
            SEQUENCE,
            "increment",
            "from -9223372036854775808 to 9223372036854775807, except 0",
            0L),
        row(SEQUENCE, "cacheSize", "from 0 to 2147483647", -1, Integer.MIN_VALUE),
        row(SEQUENCE, "order", "one of [PLAIN, BIT_REVERSED]"),
        row(BACKUP, "bytesPerSecond", "from 0 to 9223372036854775807", -1L, Long.MIN_VALUE),
        row(BACKUP, "listener", LISTENER),
        row(
            LOAD,
            "sortMemory",
            "from 1048576 to 9007199254740992",
            -1L,
            0L,
            MIB - 1L,
            (1L << 53) + 1,
            Long.MIN_VALUE,
            Long.MAX_VALUE),
        row(LOAD, "listener", LISTENER),
        row(
            BACKUP,
            "since",
            "the id of a backup, 32 hexadecimal digits",
            "",
            "0".repeat(31),
            "g".repeat(32),
            "0".repeat(33),
            "two\nlines"),
        row(
            TABLE,
            "partitions",
            "from 1 to " + TableOptions.MAX_PARTITIONS,
            -1,
            0,
            TableOptions.MAX_PARTITIONS + 1,
            Integer.MIN_VALUE,
            Integer.MAX_VALUE));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void an_illegal_value_is_refused_with_option_value_and_range(Row row) throws Exception {
    List<Method> setters = setters(row.base.getClass(), row.option);
    assertFalse(setters.isEmpty(), "no setter of " + row);
    for (Method setter : setters) {
      for (Object value : row.illegal) {
        refused(row, value, () -> setter.invoke(row.base, value));
      }
      if (!setter.getParameterTypes()[0].isPrimitive()) {
        refused(row, null, () -> setter.invoke(row.base, (Object) null));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void the_constructor_refuses_what_the_setter_refuses(Row row) throws Exception {
    RecordComponent[] components = row.base.getClass().getRecordComponents();
    Object[] values = new Object[components.length];
    int at = -1;
    for (int i = 0; i < components.length; i++) {
      values[i] = components[i].getAccessor().invoke(row.base);
      at = components[i].getName().equals(row.option) ? i : at;
    }
    assertTrue(at >= 0, row + " is no component");
    Constructor<?> constructor =
        row.base
            .getClass()
            .getConstructor(
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
    for (Object value : row.illegal) {
      values[at] = value;
      refused(row, value, () -> constructor.newInstance(values));
    }
    boolean mayBeMissing =
        components[at].getAnnotatedType().isAnnotationPresent(Nullable.class)
            || components[at].getType().isPrimitive();
    if (!mayBeMissing) {
      values[at] = null;
      refused(row, null, () -> constructor.newInstance(values));
    }
  }

  private interface Call {
    void make() throws ReflectiveOperationException;
  }

  private static void refused(Row row, @Nullable Object value, Call call) {
    Throwable refusal =
        assertThrows(InvocationTargetException.class, call::make, row + " takes " + value)
            .getCause();
    assertEquals(
        value == null ? NullPointerException.class : IllegalArgumentException.class,
        refusal.getClass(),
        row + " with " + value);
    String message = refusal.getMessage();
    assertTrue(message.startsWith(row.option + " must be " + row.range), message);
    String shown = value instanceof String ? "\"" : String.valueOf(value);
    assertTrue(message.contains(", not " + shown), message);
    assertFalse(message.chars().anyMatch(Character::isISOControl), message);
  }

  /** A method that returns other options, or an option's name. */
  private static List<Method> setters(Class<?> type, String option) {
    return setters(type).filter(setter -> option(setter).equals(option)).toList();
  }

  private static Stream<Method> setters(Class<?> type) {
    return Arrays.stream(type.getDeclaredMethods())
        .filter(method -> Modifier.isPublic(method.getModifiers()))
        .filter(method -> method.getReturnType().equals(type) && method.getParameterCount() > 0);
  }

  private static String option(Method setter) {
    String name = setter.getName();
    return name.startsWith("with")
        ? Character.toLowerCase(name.charAt(4)) + name.substring(5)
        : OTHER_NAMES.getOrDefault(name, name);
  }

  @Test
  void every_setter_has_a_row() throws Exception {
    Set<String> wanted = new TreeSet<>();
    for (Class<?> type : publicOptions()) {
      assertTrue(type.isRecord(), type + " is no record: the test cannot call its constructor");
      setters(type)
          .filter(setter -> setter.getParameterTypes()[0] != boolean.class)
          .forEach(setter -> wanted.add(type.getSimpleName() + "." + option(setter)));
      for (RecordComponent component : type.getRecordComponents()) {
        if (component.getType() != boolean.class) {
          wanted.add(type.getSimpleName() + "." + component.getName());
        }
      }
    }
    Set<String> found = new TreeSet<>();
    rows().forEach(row -> found.add(row.base.getClass().getSimpleName() + "." + row.option));
    assertEquals(wanted, found);
  }

  /** The public types of the API whose names end with Options. */
  private static List<Class<?>> publicOptions() throws Exception {
    List<Class<?>> types = new ArrayList<>();
    try (Stream<Path> files = Files.list(classes())) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = file.getFileName().toString();
        if (name.endsWith("Options.class")) {
          Class<?> type =
              Class.forName(Database.class.getPackageName() + "." + name.replace(".class", ""));
          if (Modifier.isPublic(type.getModifiers())) {
            types.add(type);
          }
        }
      }
    }
    assertTrue(types.contains(DatabaseOptions.class), types.toString());
    return types;
  }

  private static Path classes() throws URISyntaxException {
    Path root = Path.of(Database.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    return root.resolve(Database.class.getPackageName().replace('.', '/'));
  }

  @Test
  void options_that_contradict_each_other_are_refused_before_they_are_used() {
    DatabaseOptions reversed = DATABASE;
    message(
        "maxRecoveryLog must be from 67108864 to ",
        () -> reversed.withMaxRecoveryLog(32L * MIB).withLogSegmentBytes(16 * MIB));
    message(
        "maxLogSize must be 0, or from ",
        () -> reversed.withMaxLogSize(256L * MIB).withMaxRecoveryLog(1L << 30));
    message(
        "maxLogSize must be 0, or from ",
        () -> reversed.withMaxLogSize(160L * MIB).withLogSegmentBytes(32 * MIB));
    message(
        "start must be from 1 to ",
        () -> SEQUENCE.withStart(0).withOrder(SequenceOrder.BIT_REVERSED));
  }

  private static void message(String start, Runnable call) {
    String message = assertThrows(IllegalArgumentException.class, call::run).getMessage();
    assertTrue(message.startsWith(start), message);
    assertTrue(message.contains(", not "), message);
  }

  @Test
  void a_pool_that_the_machine_cannot_have_is_refused_before_a_file_is_touched() throws Exception {
    DatabaseOptions options = Samples.SMALL.withPoolBytes(BufferPoolOptions.MAX_BYTES);
    Path none = folder.resolve("none");
    tooLarge(none, options);
    assertFalse(Files.exists(none));

    Path there = folder.resolve("there");
    try (Database db = Samples.open(there)) {
      Samples.put(db, "t", "k", "v");
    }
    DirectoryState before = DirectoryState.of(there);
    tooLarge(there, options);
    assertEquals(before, DirectoryState.of(there));
  }

  private static void tooLarge(Path directory, DatabaseOptions options) {
    String message =
        assertRefused(LimitException.Reason.POOL_TOO_LARGE, () -> Database.open(directory, options))
            .getMessage();
    assertTrue(message.contains("poolBytes must be from 2097152 to "), message);
    assertTrue(message.contains(", not " + BufferPoolOptions.MAX_BYTES), message);
  }

  @Test
  void a_database_is_not_created_by_options_that_write_nothing() throws IOException {
    Path none = folder.resolve("none");
    DatabaseOptions both = Samples.SMALL.withCreate(true).withReadOnly(true);
    assertThrows(RuntimeException.class, () -> Database.open(none, both));
    assertFalse(Files.exists(none));
  }
}
