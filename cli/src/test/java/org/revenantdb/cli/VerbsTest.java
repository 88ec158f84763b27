package org.revenantdb.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;

/** The verbs on an open database. */
class VerbsTest {
  @TempDir Path folder;

  private Path directory;

  @BeforeEach
  void fill() {
    directory = folder.resolve("db");
    try (Database db = Database.open(directory)) {
      Table orders = db.createTable("orders");
      db.createTable("parts", TableOptions.hashPartitioned(3));
      db.run(tx -> {
        for (int i = 0; i < 30; i++) {
          tx.put(orders, bytes("o%02d".formatted(i)), bytes("v" + i));
        }
        tx.put(orders, new byte[] {0, 1}, new byte[] {-1});
      });
      db.createSequence("ids", SequenceOptions.defaults().withStart(100)).next();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void prints(String expected, Object... arguments) {
    Shellout ran = Shellout.run(arguments);
    assertEquals("", ran.err());
    assertEquals(expected, ran.out());
    assertEquals(0, ran.code());
  }

  private static void fails(int code, String message, Object... arguments) {
    Shellout ran = Shellout.run(arguments);
    assertTrue(ran.err().contains(message), ran.err());
    assertEquals(code, ran.code());
  }

  @Test
  void ls_lists_tables_with_rows_and_bytes_on_request() {
    Shellout ran = Shellout.run("ls", directory);
    assertEquals(
        List.of("orders ordered", "parts hashed in 3"),
        ran.out().lines().map(line -> line.replaceAll(" +", " ")).toList());
    String rows = Shellout.run("ls", "-l", directory).out();
    assertTrue(rows.replaceAll(" +", " ").startsWith("orders 31 rows "), rows);
    prints(
        "{\"table\":\"orders\",\"partitions\":1}\n{\"table\":\"parts\",\"partitions\":3}\n",
        "ls",
        directory,
        "--json");
  }

  @Test
  void get_shows_a_value_and_tells_by_its_code_if_there_is_none() {
    prints("v7\n", "get", directory, "orders", "o07");
    prints("0xff\n", "get", directory, "orders", "0x0001");
    prints("{\"value\":\"v7\"}\n", "get", directory, "orders", "o07", "--json");
    fails(1, "table orders has no row o99", "get", directory, "orders", "o99");
    fails(2, "there is no table order in the database", "get", directory, "order", "o99");
  }

  @Test
  void scan_shows_ranges_in_both_directions() {
    prints("o03\tv3\no04\tv4\n", "scan", directory, "orders", "--from", "o03", "--to", "o05");
    prints("o29\no28\n", "scan", directory, "orders", "-r", "-n", "2", "--keys");
    assertEquals(
        10, Shellout.run("scan", directory, "orders", "--prefix", "o1").out().lines().count());
    prints(
        "{\"key\":\"0x0001\",\"value\":\"0xff\"}\n", "scan", directory, "orders", "-n1", "--json");
    fails(
        2, "--prefix goes with neither", "scan", directory, "orders", "--prefix", "a", "--to", "b");
    fails(2, "--limit must be at least 1", "scan", directory, "orders", "-n", "0");
  }

  @Test
  void count_counts_a_range() {
    prints("31\n", "count", directory, "orders");
    prints("{\"rows\":10}\n", "count", directory, "orders", "--prefix", "o2", "--json");
  }

  @Test
  void put_and_del_change_rows() throws IOException {
    prints("", "put", directory, "orders", "new", "value");
    prints("value\n", "get", directory, "orders", "new");
    prints("1 row deleted\n", "del", directory, "orders", "new");
    fails(2, "there is no table other", "put", directory, "other", "k", "v");
    prints("", "put", directory, "other", "k", "v", "--create-table");
    assertEquals(1, Shellout.run("del", directory, "orders", "new").code());
    prints("10 rows deleted\n", "del", directory, "orders", "--prefix", "o1");
    fails(2, "give a key, or a range", "del", directory, "orders");
    prints("21 rows deleted\n", "del", directory, "orders", "--prefix", "");

    Path file = folder.resolve("value");
    Files.write(file, new byte[3_000_000]);
    prints("", "put", directory, "orders", "large", "-i", file);
    Path back = folder.resolve("back");
    prints("", "get", directory, "orders", "large", "-o", back);
    assertArrayEquals(Files.readAllBytes(file), Files.readAllBytes(back));
    fails(2, "give the value", "put", directory, "orders", "large");
  }

  @Test
  void sequences_are_listed_with_their_position() {
    Shellout ran = Shellout.run("sequences", directory, "--json");
    assertTrue(ran.out().startsWith("{\"sequence\":\"ids\",\"position\":"), ran.out());
    assertTrue(ran.out().contains("\"start\":100,\"increment\":1"), ran.out());
  }

  @Test
  void du_and_compact_measure_the_files() {
    String sizes = Shellout.run("du", directory).out();
    assertTrue(sizes.contains("  revenant.data"), sizes);
    assertTrue(sizes.contains("  log/"), sizes);
    assertTrue(sizes.contains("  table orders"), sizes);
    assertTrue(Shellout.run("du", directory, "--json").out().contains("\"tables\":{\"orders\":"));
    assertTrue(Shellout.run("compact", directory).out().contains("bytes given back"));
  }

  @Test
  void verbs_that_read_change_no_file_and_create_none() throws IOException {
    List<String> before = contents();
    for (String verb : List.of("ls", "sequences", "du")) {
      assertEquals(0, Shellout.run(verb, directory).code());
    }
    Shellout.run("scan", directory, "orders");
    Shellout.run("dump", directory);
    assertEquals(before, contents());
    Path nothing = folder.resolve("nothing");
    for (String verb : List.of("ls", "sequences", "du", "compact", "dump")) {
      fails(2, "nothing", verb, nothing);
      assertFalse(Files.exists(nothing), verb);
    }
  }

  private List<String> contents() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> {
            try {
              return file + " " + java.util.Arrays.hashCode(Files.readAllBytes(file));
            } catch (IOException gone) {
              throw new java.io.UncheckedIOException(gone);
            }
          })
          .sorted()
          .toList();
    }
  }

  @Test
  void a_database_that_is_open_elsewhere_is_refused_with_its_process() {
    try (Database db = Database.open(directory)) {
      assertFalse(db.isClosed());
      fails(2, "has", "ls", directory);
    }
  }

  @Test
  void verbs_of_the_engine_are_there_as_well() {
    assertTrue(Shellout.run("check", directory).out().contains("sound"));
    assertEquals(0, Shellout.run("stat", directory).code());
    assertTrue(Shellout.run("--help").out().contains("dump"));
    fails(2, "Unmatched argument", "nonsense");
  }
}
