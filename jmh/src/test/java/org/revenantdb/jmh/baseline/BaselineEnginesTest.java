package org.revenantdb.jmh.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.jmh.fork.ShortForks;

/**
 * The engine's variants that differ in one class: each behaves according to its name, and is made
 * of the present engine.
 */
class BaselineEnginesTest {
  private static final int ROWS = 2_000;

  @TempDir Path folder;

  private static byte[] key(int row) {
    return "row%06d".formatted(row).getBytes();
  }

  /** Ends in the middle of a transaction whose rows are in the log. */
  static final class Interrupted {
    private Interrupted() {}

    public static void main(String[] arguments) {
      Database database = Database.open(Path.of(arguments[0]));
      Table table = database.getOrCreateTable("t");
      Transaction open = database.begin();
      for (int row = 0; row < ROWS; row++) {
        open.put(table, key(row), new byte[100]);
      }
      database.run(tx -> tx.put(table, new byte[] {1}, new byte[] {2}));
      Runtime.getRuntime().halt(0);
    }
  }

  /** Exits with 0 if a transaction was left undecided, and nothing is left to be taken back. */
  static final class Opened {
    private Opened() {}

    public static void main(String[] arguments) {
      Database database = Database.open(Path.of(arguments[0]));
      long pending = database.statistics().commits().abortedPending();
      int aborted = database.recoveryReport().transactionsAborted();
      Runtime.getRuntime().halt(pending == 0 && aborted == 1 ? 0 : 1);
    }
  }

  /** Allocates pages, and exits with 0 if the check finds nothing. */
  static final class Allocates {
    private Allocates() {}

    public static void main(String[] arguments) {
      Database database = Database.open(Path.of(arguments[0]));
      Table table = database.getOrCreateTable("t");
      TransactionOptions lazy = TransactionOptions.defaults().withDurability(Durability.LAZY);
      for (int row = 0; row < ROWS; row++) {
        byte[] key = key(row);
        database.run(lazy, tx -> tx.put(table, key, new byte[1_000]));
      }
      Runtime.getRuntime().halt(database.check().problems().isEmpty() ? 0 : 1);
    }
  }

  @Test
  void an_engine_that_reverts_eagerly_has_nothing_to_roll_back_when_it_is_open() throws Exception {
    Path classes = folder.resolve("classes");
    EngineOfEagerRevert.write(classes);
    String database = folder.resolve("db").toString();
    assertEquals(0, run(null, Interrupted.class, database));
    assertEquals(0, run(classes, Opened.class, database));
  }

  @Test
  void an_engine_of_exclusive_maps_allocates_as_the_other_does() throws Exception {
    Path classes = folder.resolve("classes");
    EngineOfExclusiveMaps.write(classes);
    assertEquals(0, run(classes, Allocates.class, folder.resolve("db").toString()));
  }

  /** Exits with 0 if the ring of the log is in a file, with 7 if it is not. */
  static final class CommitsLazily {
    private CommitsLazily() {}

    public static void main(String[] arguments) {
      Path directory = Path.of(arguments[0]);
      int code;
      try (Database database = Database.open(directory)) {
        Table table = database.getOrCreateTable("t");
        database.run(TransactionOptions.lazy(), tx -> tx.put(table, key(1), new byte[10]));
        code = Files.exists(directory.resolve("revenant.ring")) ? 0 : 7;
      }
      System.exit(code);
    }
  }

  @Test
  void an_engine_of_a_memory_ring_has_no_file_for_it() throws Exception {
    Path classes = folder.resolve("classes");
    EngineOfMemoryRing.write(classes);
    assertEquals(0, run(null, CommitsLazily.class, folder.resolve("file").toString()));
    assertEquals(7, run(classes, CommitsLazily.class, folder.resolve("memory").toString()));
  }

  @Test
  void an_engine_of_another_shape_is_refused() throws IOException {
    byte[] other;
    try (InputStream original =
        Database.class.getClassLoader().getResourceAsStream("org/revenantdb/engine/Table.class")) {
      other = Objects.requireNonNull(original).readAllBytes();
    }
    assertThrows(IllegalStateException.class, () -> EngineOfEagerRevert.open().apply(other));
    assertThrows(IllegalStateException.class, () -> EngineOfExclusiveMaps.changes().apply(other));
    assertThrows(IllegalStateException.class, () -> EngineOfMemoryRing.create().apply(other));
  }

  private static int run(@Nullable Path classes, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    String classPath = System.getProperty("java.class.path");
    if (classes != null) {
      classPath = classes + File.pathSeparator + classPath;
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ShortForks.with(List.of()));
    command.addAll(List.of("-cp", classPath, main.getName()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).inheritIO().start();
    try {
      return process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }
}
