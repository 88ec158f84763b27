package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.lifecycle.CounterValues;
import org.revenantdb.engine.lifecycle.EngineWaits;
import org.revenantdb.engine.testing.Samples;

/** The table of statistics, and what agrees with it: getters, counters file, documents. */
class StatisticsTest {
  private static final Path DOCS = Path.of("..", "docs");

  private final Object source = new Object();

  private DatabaseStatistics statistics(long nanoTime, Map<Statistic, Long> values) {
    return new DatabaseStatistics(new StatisticValues(values), "report", source, nanoTime);
  }

  /** Each number has a value of its own, from the one given on. */
  private static Map<Statistic, Long> values(long first) {
    Map<Statistic, Long> values = new EnumMap<>(Statistic.class);
    for (Statistic one : Statistic.values()) {
      values.put(one, first + values.size());
    }
    return values;
  }

  /** All numbers that getters return, by the path of the getters. */
  private static Map<String, Long> numbers(Object of, String path)
      throws ReflectiveOperationException {
    Map<String, Long> found = new TreeMap<>();
    for (Method getter : of.getClass().getDeclaredMethods()) {
      Class<?> type = getter.getReturnType();
      boolean isGetter =
          Modifier.isPublic(getter.getModifiers())
              && !Modifier.isStatic(getter.getModifiers())
              && getter.getParameterCount() == 0;
      if (isGetter && type == long.class) {
        found.put(path + getter.getName(), (Long) getter.invoke(of));
      } else if (isGetter && type.getPackage() == Statistic.class.getPackage()) {
        assertEquals(0, type.getConstructors().length, type + " has a public constructor");
        assertTrue(Modifier.isFinal(type.getModifiers()), type + " is not final");
        Object group = Objects.requireNonNull(getter.invoke(of));
        found.putAll(numbers(group, path + getter.getName() + "."));
      }
    }
    return found;
  }

  @Test
  void each_statistic_has_a_getter_of_its_name_and_each_getter_is_in_the_table() throws Exception {
    DatabaseStatistics statistics = statistics(0, values(1));
    Map<String, Long> table = new TreeMap<>();
    for (DatabaseStatistics.Value one : statistics) {
      assertNull(table.put(one.statistic().text(), one.value()), () -> "twice: " + one);
      assertEquals(one.value(), statistics.value(one.statistic()));
    }
    assertEquals(Statistic.values().length, table.size());
    assertEquals(table, numbers(statistics, ""));
    assertEquals(0, DatabaseStatistics.class.getConstructors().length);
  }

  @Test
  void there_are_seven_groups_and_each_statistic_is_in_the_one_that_its_name_begins_with() {
    Set<String> groups = new TreeSet<>();
    for (Statistic.Group group : Statistic.Group.values()) {
      groups.add(group.text());
      assertFalse(group.statistics().isEmpty());
    }
    Set<String> getters =
        Arrays.stream(DatabaseStatistics.class.getMethods())
            .filter(one -> one.getReturnType().getSimpleName().endsWith("Statistics"))
            .filter(one -> one.getParameterCount() == 0)
            .map(Method::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(groups, getters);
    assertEquals(7, groups.size());
    Set<String> descriptions = new HashSet<>();
    for (Statistic one : Statistic.values()) {
      assertTrue(one.text().startsWith(one.group().text() + "."), one.text());
      assertTrue(one.description().matches("[^\n]{3,130}"), one.description());
      assertTrue(descriptions.add(one.description()), one.description());
    }
  }

  @Test
  void numbers_without_an_open_snapshot_have_no_oldest_one() {
    Map<Statistic, Long> values = values(1);
    values.put(Statistic.VERSIONS_OLDEST_SNAPSHOT_SINCE, 0L);
    assertNull(statistics(0, values).versions().oldestSnapshot());
    OldestSnapshot oldest = statistics(0, values(1)).versions().oldestSnapshot();
    assertTrue(oldest != null && "report".equals(oldest.name()));
  }

  @Test
  void since_subtracts_counters_and_keeps_gauges() {
    Map<Statistic, Long> before = values(1);
    Map<Statistic, Long> now = values(1_001);
    now.put(Statistic.COMMITS_LAZY, 0L); // two calls at the same time may have read this
    DatabaseStatistics difference = statistics(20, now).since(statistics(10, before));
    for (Statistic one : Statistic.values()) {
      long expected =
          one == Statistic.COMMITS_LAZY
              ? 0
              : one.kind() == Statistic.Kind.COUNTER ? 1_000 : statistics(20, now).value(one);
      assertEquals(expected, difference.value(one), one.text());
    }
  }

  @Test
  void since_refuses_statistics_that_were_taken_later_or_from_another_database() {
    DatabaseStatistics now = statistics(10, values(1));
    assertThrows(IllegalArgumentException.class, () -> now.since(statistics(11, values(1))));
    DatabaseStatistics other =
        new DatabaseStatistics(new StatisticValues(values(1)), null, new Object(), 0);
    assertThrows(IllegalArgumentException.class, () -> now.since(other));
    assertEquals(0, now.since(now).pool().hits());
  }

  @Test
  void text_has_the_numbers_that_are_not_zero() {
    Map<Statistic, Long> values = values(0);
    values.replaceAll((one, value) -> 0L);
    values.put(Statistic.POOL_LEAF_HITS, 7L);
    values.put(Statistic.FILES_FORCES, 8L);
    DatabaseStatistics statistics = statistics(0, values);
    assertEquals("pool.leaf.hits 7\nfiles.forces 8", statistics.toString());
    assertEquals("files.forces 8", statistics.files().toString());
    assertEquals("pool.leaf.hits 7", statistics.pool().leaf().toString());
    assertEquals("", statistics.pool().map().toString());
  }

  @Test
  void a_database_reports_what_it_did_between_two_moments(@TempDir Path folder) {
    try (Database db = Database.open(folder.resolve("db"), Samples.SMALL);
        Database other = Database.open(folder.resolve("other"), Samples.SMALL)) {
      Samples.put(db, "t", "k", "v");
      DatabaseStatistics before = db.statistics();
      assertThrows(IllegalArgumentException.class, () -> before.since(other.statistics()));
      for (int i = 0; i < 3; i++) {
        Samples.put(db, "t", "k", "v" + i);
      }
      DatabaseStatistics during = db.statistics().since(before);
      assertEquals(3, during.commits().durable() + during.commits().lazy());
      assertTrue(during.files().logTail() > before.files().logTail());
      assertTrue(before.pool().leaf().resident() > 0);
      assertTrue(before.files().durableLsn() <= before.files().logTail());
    }
  }

  // ---- counters file and documents

  /** What needs a scan of the pool is left out; all others are there in the order of the table. */
  @Test
  void the_counters_file_has_the_statistics_in_the_order_of_the_format() throws IOException {
    DatabaseStatistics statistics = statistics(0, values(1));
    Map<String, Long> inFile = new LinkedHashMap<>();
    for (DatabaseStatistics.Value one : statistics) {
      if (!one.statistic().text().matches("pool\\.\\w+\\.(resident|dirty)")) {
        inFile.put(one.statistic().text(), one.value());
      }
    }
    long[] written = CounterValues.of(statistics);
    assertEquals(List.copyOf(inFile.values()), Arrays.stream(written).boxed().toList());
    String names =
        Files.readString(DOCS.resolve("format.md"))
            .lines()
            .filter(line -> line.startsWith("| 64 | c times u64 |"))
            .findFirst()
            .orElseThrow();
    assertEquals(List.copyOf(inFile.keySet()), found("[ ,](\\w+(\\.\\w+)+)", names));
    assertEquals(
        3L * WaitClass.values().length, CounterValues.of(new EngineWaits().snapshot()).length);
  }

  @Test
  void the_guide_names_only_statistics_that_exist() throws IOException {
    String page = Files.readString(DOCS.resolve("guide").resolve("monitoring.md"));
    String groups =
        Arrays.stream(Statistic.Group.values())
            .map(Statistic.Group::text)
            .collect(Collectors.joining("|"));
    Set<String> unknown = new TreeSet<>(found("`((" + groups + ")\\.[\\w.]+)`", page));
    assertTrue(unknown.size() > 20, unknown::toString);
    for (Statistic one : Statistic.values()) {
      unknown.remove(one.text());
    }
    assertEquals(Set.of(), unknown);
  }

  private static List<String> found(String pattern, String text) {
    List<String> found = new ArrayList<>();
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }
}
