package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.WaitClass;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.cli.Main;
import org.revenantdb.engine.testing.OtherProcess;
import org.revenantdb.engine.testing.Samples;

/** The commands, as processes of their own, on a directory that this process has open. */
class OpenElsewhereTest {
  @TempDir Path folder;

  @Test
  void check_and_page_refuse_a_database_that_another_process_has_open_and_name_that()
      throws Exception {
    Path directory = folder.resolve("db");
    try (Database database = Samples.open(directory)) {
      Samples.put(database, "t", "k", "v");
      for (List<String> verb : List.of(List.of("check"), List.of("page", "5"))) {
        String said = refused(verb, directory);
        assertTrue(said.contains("process " + ProcessHandle.current().pid()), said);
        assertEquals(1, said.lines().count(), said);
      }
      assertEquals("v", Samples.get(database, "t", "k"));
      assertEquals(List.of(), database.check().problems());
    }
  }

  @Test
  void stat_shows_what_a_database_counts_that_another_process_has_open() throws Exception {
    Path directory = folder.resolve("db");
    try (Database database = Samples.open(directory)) {
      for (int i = 0; i < 7; i++) {
        Samples.put(database, "t", "k" + i, "v");
      }
      ApiAccess.api().writeCounters(database);
      String said = shown(directory);
      assertTrue(said.contains("another process has the database open: process "), said);
      assertTrue(said.contains("process " + ProcessHandle.current().pid()), said);
      assertTrue(said.contains("counters    written "), said);
      assertFalse(said.contains("STALE"), said);
      assertTrue(said.matches("(?s).*\ncommits\\.durable +7  counter, count\n.*"), said);
      long forces = database.waitStatistics().of(WaitClass.LOG_FORCE).count();
      assertTrue(said.matches("(?s).*\nlog force +" + forces + " .*"), said);
      assertEquals("v", Samples.get(database, "t", "k1"));
      assertEquals(List.of(), database.check().problems());
    }
  }

  @Test
  void stat_says_that_another_process_keeps_no_counters() throws Exception {
    Path directory = folder.resolve("db");
    try (Database database = Database.open(directory, Samples.SMALL.withCountersFile(false))) {
      Samples.put(database, "t", "k", "v");
      String said = refused(List.of("stat"), directory);
      assertTrue(said.contains("process " + ProcessHandle.current().pid()), said);
      assertTrue(said.contains("no counters file to show"), said);
    }
  }

  /** What {@code stat} shows. */
  private static String shown(Path directory) throws IOException, InterruptedException {
    StringBuilder all = new StringBuilder();
    try (OtherProcess other = OtherProcess.start(Main.class, "stat", directory.toString())) {
      for (String line = other.readLine(); line != null; line = other.readLine()) {
        all.append(line).append('\n');
      }
      assertEquals(0, other.waitFor(), all.toString());
    }
    return all.toString();
  }

  /** Runs a verb; what it says on standard error. */
  private String refused(List<String> verb, Path directory)
      throws IOException, InterruptedException {
    Path errors = folder.resolve("errors");
    String[] arguments =
        verb.size() == 1
            ? new String[] {verb.get(0), directory.toString()}
            : new String[] {verb.get(0), directory.toString(), verb.get(1)};
    try (OtherProcess other =
        OtherProcess.start(
            Main.class, List.of(), ProcessBuilder.Redirect.to(errors.toFile()), arguments)) {
      assertNull(other.readLine(), "it has shown something");
      assertEquals(2, other.waitFor());
    }
    return Files.readString(errors);
  }
}
