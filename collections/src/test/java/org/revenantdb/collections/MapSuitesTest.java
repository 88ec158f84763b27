package org.revenantdb.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.common.collect.testing.ConcurrentNavigableMapTestSuiteBuilder;
import com.google.common.collect.testing.TestStringSortedMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.MapFeature;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.function.Function;
import junit.framework.TestCase;
import junit.framework.TestFailure;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Transaction;

/**
 * Tables as maps pass the suites of guava-testlib for concurrent navigable maps: each call a
 * transaction, and all calls in one; and all their views. In the short form a random part of them
 * runs, under {@code -Plong} each.
 */
class MapSuitesTest {
  private static Database db;
  private static final Map<String, TypedTable<String, String>> TABLES = new HashMap<>();
  private static int maps;
  private static Transaction open;

  private static final long SEED = Long.getLong("revenant.seed", new Random().nextLong());
  private static final int SHORT = 700;
  private static final boolean LONG = Boolean.getBoolean("revenant.long");

  @BeforeAll
  static void open(@TempDir Path directory) {
    db =
        Database.open(
            directory.resolve("db"),
            DatabaseOptions.defaults().withPoolBytes(16L << 20).withDurability(Durability.LAZY));
  }

  @AfterAll
  static void close() {
    if (open != null) {
      open.close();
    }
    db.close();
  }

  /** A map with these entries; some maps can be in use at the same time. */
  private static SortedMap<String, String> each(Map.Entry<String, String>[] entries) {
    var map = table("each" + maps++ % 4).asMap();
    map.clear();
    for (Map.Entry<String, String> it : entries) {
      map.put(it.getKey(), it.getValue());
    }
    return map;
  }

  private static SortedMap<String, String> inOne(Map.Entry<String, String>[] entries) {
    var table = table("in one");
    if (open != null) {
      open.close(); // the tests run one after the other; the table is empty again
    }
    open = db.begin();
    var map = table.asMap(open);
    for (Map.Entry<String, String> it : entries) {
      map.put(it.getKey(), it.getValue());
    }
    return map;
  }

  private static TypedTable<String, String> table(String name) {
    return TABLES.computeIfAbsent(
        name, any -> TypedTable.open(db, any, Keys.strings(), Codecs.strings()));
  }

  private static TestSuite suite(
      String name, Function<Map.Entry<String, String>[], SortedMap<String, String>> maps) {
    return ConcurrentNavigableMapTestSuiteBuilder.using(
            new TestStringSortedMapGenerator() {
              @Override
              protected SortedMap<String, String> create(Map.Entry<String, String>[] entries) {
                return maps.apply(entries);
              }
            })
        .named(name)
        .withFeatures(
            LONG ? CollectionSize.ANY : CollectionSize.SEVERAL, // the suite is three times as large
            CollectionFeature.KNOWN_ORDER,
            MapFeature.GENERAL_PURPOSE,
            CollectionFeature.SUPPORTS_ITERATOR_REMOVE)
        .createTestSuite();
  }

  private static void collect(TestSuite suite, List<TestCase> into) {
    for (junit.framework.Test test : Collections.list(suite.tests())) {
      if (test instanceof TestSuite inner) {
        collect(inner, into);
      } else {
        into.add((TestCase) test);
      }
    }
  }

  /** Runs each test, or in the short form a random part of them. */
  private static void run(TestSuite suite) {
    List<TestCase> all = new ArrayList<>();
    collect(suite, all);
    List<TestCase> tests = new ArrayList<>(all);
    if (!LONG) {
      Collections.shuffle(tests, new Random(SEED));
      tests = tests.subList(0, SHORT);
    }
    TestResult result = new TestResult();
    tests.forEach(test -> test.run(result));
    System.out.println(
        "MapSuitesTest: "
            + suite.getName()
            + ", "
            + result.runCount()
            + " of "
            + all.size()
            + " tests, -Drevenant.seed="
            + SEED);
    List<TestFailure> failures = new ArrayList<>(Collections.list(result.failures()));
    failures.addAll(Collections.list(result.errors()));
    if (!failures.isEmpty()) {
      throw new AssertionError(
          failures.size() + " failed, the first one is " + failures.getFirst().failedTest(),
          failures.getFirst().thrownException());
    }
    assertEquals(tests.size(), result.runCount());
  }

  @Test
  void a_map_whose_calls_are_transactions_passes() {
    run(suite("each", MapSuitesTest::each));
  }

  @Test
  void a_map_of_one_transaction_passes() {
    run(suite("in one", MapSuitesTest::inOne));
  }
}
