package org.revenantdb.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jline.reader.Candidate;
import org.jline.reader.Parser.ParseContext;
import org.jline.reader.impl.DefaultParser;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.Table;

/** Verbs on a database that a process has open. */
class BesideTest {
  private static final DatabaseOptions WITH_SOCKET =
      DatabaseOptions.defaults().withAdminSocket(true);

  @TempDir Path folder;

  private Path directory;

  @BeforeEach
  void fill() {
    directory = folder.resolve("db");
    try (Database db = Database.open(directory)) {
      Table orders = db.createTable("orders");
      db.run(tx -> {
        for (int i = 0; i < 30; i++) {
          tx.put(orders, bytes("o%02d".formatted(i)), bytes("v" + i));
        }
        tx.put(orders, bytes("large"), new byte[400_000]);
      });
      db.createSequence("ids", SequenceOptions.defaults().withStart(100)).next();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Shellout fine(Object... arguments) {
    Shellout ran = Shellout.run(arguments);
    assertEquals(0, ran.code(), ran.err());
    return ran;
  }

  @Test
  void reading_verbs_print_the_same_beside_the_process_and_alone() throws Exception {
    List<List<String>> verbs =
        List.of(
            List.of("ls", "DIR"),
            List.of("ls", "DIR", "-l", "--json"),
            List.of("get", "DIR", "orders", "o07"),
            List.of("scan", "DIR", "orders", "--from", "o03", "--to", "o09", "--json"),
            List.of("scan", "DIR", "orders", "--prefix", "o1", "-r", "-n", "3"),
            List.of("scan", "DIR", "orders", "--keys"),
            List.of("count", "DIR", "orders", "--prefix", "o"),
            List.of("sequences", "DIR", "--json"),
            List.of("dump", "DIR"),
            List.of("dump", "DIR", "orders"));
    List<String> alone = verbs.stream().map(this::printed).toList();
    String binary = binaryDump("alone");
    try (Database db = Database.open(directory, WITH_SOCKET)) {
      for (int i = 0; i < verbs.size(); i++) {
        assertEquals(alone.get(i), printed(verbs.get(i)), String.join(" ", verbs.get(i)));
      }
      assertEquals(binary, binaryDump("beside"));
      Path value = folder.resolve("value");
      fine("get", directory, "orders", "large", "-o", value);
      assertEquals(400_000, Files.size(value));
      assertEquals(1, Shellout.run("get", directory, "orders", "none").code());
      assertTrue(fine("du", directory).out().contains("table orders"));
      String check = fine("check", directory).out();
      assertTrue(check.contains("by another process") && check.contains("sound"), check);
      assertFalse(db.isClosed());
    }
  }

  private String printed(List<String> words) {
    Object[] arguments =
        words.stream().map(word -> word.equals("DIR") ? directory.toString() : word).toArray();
    return fine(arguments).out();
  }

  private String binaryDump(String name) throws Exception {
    Path file = folder.resolve(name);
    fine("dump", directory, "-f", "binary", "-o", file);
    return Arrays.toString(Files.readAllBytes(file));
  }

  @Test
  void a_refusal_reads_the_same_beside_the_process_and_alone() throws Exception {
    Path value = folder.resolve("value");
    Files.writeString(value, "precious");
    List<Object[]> verbs =
        List.of(
            new Object[] {"count", directory, "oders"},
            new Object[] {"scan", directory, "oders"},
            new Object[] {"dump", directory, "oders"},
            new Object[] {"get", directory, "orders", "none", "-o", value},
            new Object[] {"backup", directory, folder});
    List<Shellout> alone = verbs.stream().map(Shellout::run).toList();
    try (Database db = Database.open(directory, WITH_SOCKET)) {
      for (int i = 0; i < verbs.size(); i++) {
        assertEquals(alone.get(i), Shellout.run(verbs.get(i)));
        assertFalse(alone.get(i).err().isEmpty());
      }
      assertFalse(db.isClosed());
    }
    assertEquals("precious", Files.readString(value), "a row that does not exist");
  }

  @Test
  void a_backup_is_made_by_the_process_that_has_the_database_open() {
    Path target = folder.resolve("copy");
    try (Database db = Database.open(directory, WITH_SOCKET)) {
      db.run(tx -> tx.put(db.table("orders"), bytes("late"), bytes("v")));
      assertTrue(fine("backup", directory, target).out().contains("complete"));
      assertEquals(2, Shellout.run("backup", directory, target).code());
    }
    assertEquals("v\n", fine("get", target, "orders", "late").out());
  }

  @Test
  void without_a_socket_the_message_says_how_and_nothing_is_read() {
    try (Database db = Database.open(directory)) {
      for (Object[] verb :
          new Object[][] {
            {"ls", directory},
            {"check", directory},
            {"backup", directory, folder.resolve("copy")},
            {"shell", directory}
          }) {
        Shellout ran = Shellout.run(verb);
        assertEquals(2, ran.code());
        assertTrue(ran.err().contains("withAdminSocket(true)"), ran.err());
      }
      assertFalse(db.isClosed());
    }
  }

  @Test
  void verbs_that_write_are_refused_beside_the_process() {
    try (Database db = Database.open(directory, WITH_SOCKET)) {
      Shellout ran = Shellout.run("put", directory, "orders", "k", "v");
      assertEquals(2, ran.code());
      assertEquals(31, (long) db.read(tx -> tx.count(db.table("orders"), null, null)));
    }
  }

  @Test
  void a_shell_beside_the_process_reads_and_completes() {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    try (Database db = Database.open(directory, WITH_SOCKET);
        Session session = new Session(new PrintWriter(out, true), new PrintWriter(err, true))) {
      Shell shell = new Shell(session, directory);
      assertEquals(0, shell.execute(List.of("get", "orders", "o01")), err.toString());
      db.run(tx -> tx.put(db.table("orders"), bytes("o01"), bytes("later")));
      assertEquals(0, shell.execute(List.of("get", "orders", "o01")), err.toString());
      assertEquals("v1\nlater\n", out.toString());
      List<Candidate> found = new java.util.ArrayList<>();
      shell.complete(
          new DefaultParser().parse("scan ", "scan ".length(), ParseContext.COMPLETE), found);
      assertEquals(List.of("orders"), found.stream().map(Candidate::value).toList());
    }
  }
}
