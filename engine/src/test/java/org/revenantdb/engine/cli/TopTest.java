package org.revenantdb.engine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Statistic;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.counters.CounterOrder;
import org.revenantdb.engine.counters.StoredCounters;
import org.revenantdb.engine.testing.Samples;

/** The live view of an open database. */
class TopTest {
  @TempDir Path folder;

  private static StoredCounters counters(int second, long durable, long forceNanos) {
    List<Long> values = new ArrayList<>();
    for (Statistic statistic : CounterOrder.statistics()) {
      values.add(
          switch (statistic) {
            case COMMITS_DURABLE -> durable;
            case POOL_HITS -> 3 * durable;
            case POOL_MISSES -> durable;
            default -> 0L;
          });
    }
    List<StoredCounters.Times> waits = new ArrayList<>();
    for (WaitClass each : WaitClass.values()) {
      boolean isForce = each == WaitClass.LOG_FORCE;
      waits.add(new StoredCounters.Times(isForce ? durable : 0, isForce ? forceNanos : 0, 0));
    }
    return new StoredCounters(
        4711, Instant.EPOCH, Instant.ofEpochSecond(second), 3, values, waits, "", null);
  }

  @Test
  void rates_are_those_between_two_readings() {
    List<String> lines =
        TopFrame.lines(
                counters(10, 1_000, 0), counters(12, 5_000, 600_000_000), Instant.ofEpochSecond(13))
            .stream()
            .map(line -> line.replaceAll(" +", " "))
            .toList();
    assertEquals(
        "process 4711, open since 1970-01-01T00:00:00Z; counted over 2.0 s, 1.0 s ago",
        lines.getFirst());
    assertTrue(lines.contains("commits 2,000 durable/s 0 lazy/s 0 forces/s"), lines::toString);
    assertTrue(lines.contains("pool 75.0 % hits 0 pages read/s 0 written/s"), lines::toString);
    assertTrue(lines.contains("log force 2,000 300.0"), lines::toString);
  }

  private record Ran(int code, String out, String err) {}

  private static Ran run(Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] texts = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    return new Ran(code, out.toString(), err.toString());
  }

  @Test
  void a_database_that_is_open_is_shown() {
    Path directory = folder.resolve("db");
    try (Database db = Samples.open(directory)) {
      Samples.put(db, "t", "k", "v");
      ApiAccess.api().writeCounters(db);
      Ran ran = run("top", directory, "-n", 1, "-s", 1);
      assertEquals(0, ran.code, ran.err);
      assertTrue(ran.out.contains("process " + ProcessHandle.current().pid()), ran.out);
    }
  }

  @Test
  void a_database_that_no_process_has_open_is_refused() {
    Path directory = folder.resolve("db");
    Samples.open(directory).close();
    Ran ran = run("top", directory);
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("no process has the database open"), ran.err);
    assertEquals(Main.FAILED, run("top", directory, "-s", 0).code);
  }
}
