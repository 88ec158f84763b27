package org.revenantdb.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.TransactionOptions;

/** What {@code dump} writes and {@code load} reads. */
class DumpTest {
  private static final long SEED = Long.getLong("revenant.seed", System.nanoTime());

  private static final TransactionOptions LAZY = TransactionOptions.of(Durability.LAZY);

  @TempDir Path folder;

  private Path filled() {
    Path directory = folder.resolve("db");
    Random random = new Random(SEED);
    try (Database db = Database.open(directory)) {
      for (String name : List.of("plain", "back\\slash \n Straße", "empty", "parts")) {
        Table table =
            name.equals("parts")
                ? db.createTable(name, TableOptions.hashPartitioned(4))
                : db.createTable(name);
        for (int row = 0; row < 200 && !name.equals("empty"); row++) {
          byte[] key = new byte[1 + random.nextInt(30)];
          random.nextBytes(key);
          byte[] value = new byte[random.nextInt(20) == 0 ? 100_000 : random.nextInt(300)];
          random.nextBytes(value);
          db.run(LAZY, tx -> tx.put(table, key, row(key, value)));
        }
      }
      Sequence ids =
          db.createSequence(
              "ids of orders",
              SequenceOptions.defaults()
                  .withStart(7)
                  .withIncrement(-2)
                  .withOrder(SequenceOrder.values()[0]));
      ids.next();
      ids.next();
    }
    return directory;
  }

  /** Half of the values are text. */
  private static byte[] row(byte[] key, byte[] value) {
    return key[0] < 0 ? value : HexFormat.of().formatHex(value).getBytes(StandardCharsets.UTF_8);
  }

  /** Everything that a dump should keep. */
  private static Map<String, Object> contents(Path directory) {
    Map<String, Object> contents = new TreeMap<>();
    try (Database db = Database.open(directory)) {
      for (String name : db.tableNames()) {
        Table table = db.table(name);
        Map<String, String> rows = new TreeMap<>();
        db.run(tx -> {
          try (Cursor cursor = tx.scan(table, null, null)) {
            while (cursor.next()) {
              rows.put(
                  HexFormat.of().formatHex(cursor.key()), HexFormat.of().formatHex(cursor.value()));
            }
          }
        });
        contents.put("table " + name + " " + table.options(), rows);
      }
      for (String name : db.sequenceNames()) {
        Sequence sequence = db.sequence(name);
        contents.put("sequence " + name + " " + sequence.options(), sequence.position());
      }
      assertEquals(List.of(), db.check().problems());
    }
    return contents;
  }

  private Path dumped(Path directory, String form) {
    Path file = folder.resolve("dump." + form);
    Shellout ran = Shellout.run("dump", directory, "--form", form, "-o", file);
    assertEquals(0, ran.code(), ran.err());
    return file;
  }

  @ParameterizedTest
  @ValueSource(strings = {"text", "binary"})
  void a_database_that_is_dumped_and_loaded_is_the_same(String form) {
    Path directory = filled();
    Path other = folder.resolve("other");
    Shellout ran = Shellout.run("load", other, dumped(directory, form));
    assertEquals(0, ran.code(), ran.err());
    assertEquals(contents(directory), contents(other), () -> "seed " + SEED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"text", "binary"})
  void a_database_without_tables_keeps_its_sequences(String form) {
    Path directory = folder.resolve("db");
    try (Database db = Database.open(directory)) {
      db.createSequence("ids").next();
    }
    Path other = folder.resolve("other");
    assertEquals(0, Shellout.run("load", other, dumped(directory, form)).code());
    assertEquals(contents(directory), contents(other));
  }

  @Test
  void text_that_is_printed_is_what_the_file_has() throws IOException {
    Path directory = filled();
    assertEquals(
        Files.readString(dumped(directory, "text")), Shellout.run("dump", directory).out());
  }

  @Test
  void chosen_tables_are_dumped_without_sequences() {
    Path directory = filled();
    String text = Shellout.run("dump", directory, "empty").out();
    assertEquals(
        """
        VERSION=3
        format=print
        type=btree
        database=empty
        revenant.partitions=1
        revenant.tables=1
        HEADER=END
        DATA=END
        """,
        text);
  }

  @Test
  void a_dump_of_lmdb_is_loaded() throws IOException {
    Path file = folder.resolve("lmdb");
    Files.writeString(
        file,
        """
        VERSION=3
        format=bytevalue
        type=btree
        mapsize=1048576
        maxreaders=126
        db_pagesize=4096
        HEADER=END
         6b31
         763100
         6b32
        \s
        DATA=END
        """);
    Path other = folder.resolve("other");
    assertTrue(Shellout.run("load", other, file).err().contains("give one with --table"));
    Shellout ran = Shellout.run("load", other, file, "--table", "main");
    assertEquals(0, ran.code(), ran.err());
    assertEquals("k1\t0x763100\nk2\t\n", Shellout.run("scan", other, "main").out());
  }

  @Test
  void a_table_with_rows_is_not_loaded_into_unless_that_is_asked_for() {
    Path directory = filled();
    Path dump = dumped(directory, "text");
    Map<String, Object> before = contents(directory);
    Shellout ran = Shellout.run("load", directory, dump);
    assertEquals(2, ran.code());
    assertTrue(ran.err().contains("--into-existing"), ran.err());
    assertEquals(before, contents(directory));
    assertEquals(0, Shellout.run("load", directory, dump, "--into-existing").code());
    assertEquals(before, contents(directory));
  }

  @Test
  void a_dump_whose_output_cannot_be_written_has_failed() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "there is no device that is always full");
    Path directory = filled();
    StringWriter err = new StringWriter();
    try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(full))) {
      assertEquals(2, Main.run(out, new PrintWriter(err, true), "dump", directory.toString()));
    }
    assertTrue(err.toString().contains("the output could not be written"), err::toString);
  }

  // --------------------------------------------------------------------------------- damage

  @Test
  void a_binary_dump_that_was_cut_anywhere_is_refused() throws IOException {
    byte[] whole = Files.readAllBytes(dumped(small(), "binary"));
    for (int length = 0; length < whole.length; length++) {
      refused(Arrays.copyOf(whole, length), "length " + length);
    }
  }

  @Test
  void a_binary_dump_with_a_flipped_bit_is_refused() throws IOException {
    byte[] whole = Files.readAllBytes(dumped(small(), "binary"));
    for (int bit = 0; bit < whole.length * 8; bit++) {
      byte[] flipped = whole.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      refused(flipped, "bit " + bit);
    }
  }

  @Test
  void a_text_dump_that_was_cut_before_its_last_line_is_refused() throws IOException {
    List<String> whole = Files.readAllLines(dumped(small(), "text"));
    for (int lines = 0; lines < whole.size(); lines++) {
      refused(
          (String.join("\n", whole.subList(0, lines)) + "\n").getBytes(StandardCharsets.UTF_8),
          lines + " lines");
    }
  }

  private Path small() {
    Path directory = folder.resolve("small");
    try (Database db = Database.open(directory)) {
      Table one = db.createTable("one");
      Table two = db.createTable("two");
      db.run(tx -> {
        tx.put(one, new byte[] {1}, new byte[] {2});
        tx.put(two, new byte[] {1, 2}, new byte[5]);
      });
      db.createSequence("ids").next();
    }
    return directory;
  }

  private static void refused(byte[] dump, String what) {
    assertThrows(
        DumpException.class,
        () -> {
          DumpInput input = LoadCommand.input(new ByteArrayInputStream(dump), null, "the dump");
          for (DumpItem item = input.next(); item != null; item = input.next()) {
            if (item instanceof DumpItem.OfRow row) {
              row.value().readAllBytes();
            }
          }
        },
        what);
  }

  @Test
  void of_a_damaged_dump_the_tables_before_the_damage_are_loaded_and_no_row_of_it()
      throws IOException {
    byte[] damaged = Files.readAllBytes(dumped(small(), "binary"));
    damaged[damaged.length - 12] ^= 1; // in the value of the last row
    Path file = folder.resolve("damaged");
    Files.write(file, damaged);
    Path target = folder.resolve("target");
    Shellout ran = Shellout.run("load", target, file);
    assertEquals(2, ran.code());
    assertEquals(1, ran.err().lines().count(), ran.err());
    assertTrue(ran.err().startsWith("revenant: behind row 2 the dump has a check"), ran.err());
    try (Database db = Database.open(target)) {
      assertEquals(List.of("one"), db.tableNames());
    }
  }
}
