package org.revenantdb.engine.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.counters.CountersFile;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.LiveCopy;
import org.revenantdb.recovery.file.ControlFile;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.testing.Await;

/** The verbs, as a user calls them. */
class CommandsTest {
  private static final DatabaseOptions SMALL =
      DatabaseOptions.defaults()
          .withPoolBytes(4 << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(8 << 20);

  @TempDir private Path folder;
  private Path directory;

  private record Ran(int code, String out, String err) {}

  private static Ran run(Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] texts = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    assertFalse(err.toString().contains("\tat "), "a stack trace: " + err);
    return new Ran(code, out.toString(), err.toString());
  }

  @BeforeEach
  void fill() {
    directory = folder.resolve("db");
    try (Database db = Database.open(directory, SMALL)) {
      fill(db);
    }
  }

  private static void fill(Database db) {
    Table orders = db.getOrCreateTable("orders");
    Random random = new Random(1);
    db.run(tx -> {
      for (int i = 0; i < 1_000; i++) {
        byte[] value = new byte[100];
        random.nextBytes(value);
        tx.put(orders, "key%05d".formatted(i).getBytes(), value);
      }
      tx.put(orders, "large".getBytes(), new byte[100_000]);
      tx.put(db.getOrCreateTable("customers"), "x".getBytes(), "text".getBytes());
    });
    db.getOrCreateSequence("invoices").next();
    SequenceOptions spread =
        SequenceOptions.defaults().withCacheSize(1).withOrder(SequenceOrder.BIT_REVERSED);
    db.getOrCreateSequence("orders", spread).next();
  }

  private void flip(long offset) throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(directory.resolve("revenant.data").toFile(), "rw")) {
      file.seek(offset);
      int old = file.read();
      file.seek(offset);
      file.write(old ^ 4);
    }
  }

  /** The first page of a type. */
  private int pageOf(int type) throws IOException {
    byte[] data = Files.readAllBytes(directory.resolve("revenant.data"));
    for (int id = 6; id * 8192 < data.length; id++) {
      if (data[id * 8192 + 16] == type) {
        return id;
      }
    }
    throw new AssertionError("no page of type " + type);
  }

  @Test
  void check_ofASoundDatabase() throws IOException {
    Path json = folder.resolve("check.json");
    Ran ran = run("check", directory, "--json", json);
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertTrue(ran.out.contains("closed cleanly"), ran.out);
    assertTrue(ran.out.contains("tables          2"), ran.out);
    assertTrue(ran.out.contains("sequences       2"), ran.out);
    assertTrue(ran.out.contains("sequence        invoices: 1,000 of 9,223,"), ran.out);
    assertTrue(ran.out.contains("customers: 1 rows"), ran.out);
    assertTrue(ran.out.contains("orders: 1,001 rows"), ran.out);
    assertFalse(ran.out.contains("warning"), ran.out);
    assertTrue(ran.out.endsWith("sound\n"), ran.out);
    String text = Files.readString(json);
    assertTrue(text.contains("\"sound\": true"), text);
    assertTrue(text.contains("\"problems\": []"), text);
  }

  @Test
  void a_backup_of_a_closed_database_is_verified_and_neither_changes_a_file() throws IOException {
    Path target = folder.resolve("copy");
    byte[] data = Files.readAllBytes(directory.resolve("revenant.data"));
    Ran ran = run("backup", directory, target, "--limit", 1_000);
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertTrue(ran.out.endsWith("complete\n"), ran.out);
    assertArrayEquals(data, Files.readAllBytes(directory.resolve("revenant.data")));
    byte[] copied = Files.readAllBytes(target.resolve("revenant.data"));
    Ran verified = run("verify", target);
    assertEquals(Main.SOUND, verified.code, verified.err);
    assertTrue(verified.out.contains("orders: 1,001 rows"), verified.out);
    assertTrue(verified.out.endsWith("sound\n"), verified.out);
    assertArrayEquals(copied, Files.readAllBytes(target.resolve("revenant.data")));
    Ran again = run("backup", directory, target);
    assertEquals(Main.FAILED, again.code);
    assertTrue(again.err.contains("not empty"), again.err);
    assertEquals(Main.FAILED, run("backup", directory, folder.resolve("x"), "--limit", -1).code);
    Files.move(target.resolve("revenant.data"), target.resolve("revenant.data.backup"));
    for (String verb : List.of("verify", "check", "stat")) {
      Ran unfinished = run(verb, target);
      assertEquals(Main.FAILED, unfinished.code, verb);
      assertTrue(unfinished.err.contains("unfinished backup"), unfinished.err);
    }
  }

  private static Ran run(
      InputStream standardInput, OutputStream standardOutput, Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] texts = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
    int code =
        Main.line(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                standardInput,
                standardOutput)
            .execute(texts);
    assertFalse(err.toString().contains("\tat "), "a stack trace: " + err);
    return new Ran(code, out.toString(), err.toString());
  }

  @Test
  void a_backup_to_standard_output_is_unpacked() throws IOException {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    Ran ran = run(InputStream.nullInputStream(), stream, "backup", directory, "-");
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertEquals("", ran.out, "only the backup is on standard output");
    assertTrue(ran.err.endsWith("complete\n"), ran.err);
    Path target = folder.resolve("copy");
    byte[] bytes = stream.toByteArray();
    Ran unpacked =
        run(
            new ByteArrayInputStream(bytes),
            OutputStream.nullOutputStream(),
            "unpack",
            "-",
            target);
    assertEquals(Main.SOUND, unpacked.code, unpacked.err);
    assertTrue(unpacked.out.endsWith("complete\n"), unpacked.out);
    assertEquals(Main.SOUND, run("verify", target).code);
    Path file = Files.write(folder.resolve("backup.tar"), bytes);
    assertEquals(Main.SOUND, run("unpack", file, folder.resolve("second")).code);
    assertEquals(Main.SOUND, run("verify", folder.resolve("second")).code);
    Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
    Ran half = run("unpack", file, folder.resolve("third"));
    assertEquals(Main.FAILED, half.code);
    assertTrue(half.err.contains("at its byte"), half.err);
    assertFalse(Files.exists(folder.resolve("third")));
    assertEquals(Main.FAILED, run("unpack", folder.resolve("none"), target).code);
  }

  @Test
  void increments_are_made_since_a_backup_verified_and_applied() throws IOException {
    Path base = folder.resolve("base");
    Path json = folder.resolve("result.json");
    Ran whole = run("backup", directory, base, "--recover", "--json", json);
    assertEquals(Main.SOUND, whole.code, whole.err);
    String id = Database.backupId(base);
    assertTrue(whole.out.contains("id              " + id), whole.out);
    assertTrue(Files.readString(json).contains("\"id\": \"" + id + "\""));
    try (Database db = Database.open(directory, SMALL)) {
      db.run(tx -> tx.put(db.getOrCreateTable("late"), "key".getBytes(), "value".getBytes()));
    }
    Path first = folder.resolve("first");
    Ran increment = run("backup", directory, first, "--recover", "--since", base);
    assertEquals(Main.SOUND, increment.code, increment.err);
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    Ran second =
        run(
            InputStream.nullInputStream(),
            stream,
            "backup",
            directory,
            "-",
            "--recover",
            "--since",
            Database.backupId(first));
    assertEquals(Main.SOUND, second.code, second.err);
    Path file = Files.write(folder.resolve("second"), stream.toByteArray());
    for (Path part : List.of(first, file)) {
      Ran verified = run("verify", part, "--json", json);
      assertEquals(Main.SOUND, verified.code, verified.err);
      assertTrue(verified.out.endsWith("sound\n"), verified.out);
      assertTrue(Files.readString(json).contains("\"sound\": true"));
    }
    Path target = folder.resolve("target");
    Ran applied = run("apply", base, first, file, target, "--json", json);
    assertEquals(Main.SOUND, applied.code, applied.err);
    assertTrue(applied.out.endsWith("complete\n"), applied.out);
    assertTrue(Files.readString(json).contains("\"id\": \"" + Database.backupId(file) + "\""));
    Ran verified = run("verify", target);
    assertTrue(verified.out.contains("late: 1 rows"), verified.out);
    assertTrue(verified.out.contains("orders: 1,001 rows"), verified.out);
  }

  @Test
  void increments_that_do_not_fit_are_refused_at_a_shell() throws IOException {
    Path base = folder.resolve("base");
    Path increment = folder.resolve("increment");
    Path target = folder.resolve("target");
    Ran unnoted = run("backup", directory, base);
    assertTrue(unnoted.out.contains("--recover"), unnoted.out);
    Ran ran = run("backup", directory, increment, "--since", base);
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("make a whole backup"), ran.err);
    assertFalse(Files.exists(increment));
    ran = run("backup", directory, increment, "--since", folder.resolve("none"));
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("there is no backup here"), ran.err);
    Path other = folder.resolve("other");
    assertEquals(Main.SOUND, run("backup", directory, other, "--recover").code);
    assertEquals(
        Main.SOUND, run("backup", directory, increment, "--recover", "--since", other).code);
    ran = run("apply", base, increment, target);
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("in the order in which they were made"), ran.err);
    assertFalse(Files.exists(target));
    assertEquals(Main.FAILED, run("apply", base, target).code);
    for (String verb : List.of("check", "stat")) {
      ran = run(verb, increment);
      assertEquals(Main.FAILED, ran.code, verb);
      assertTrue(ran.err.contains("this is an increment"), ran.err);
    }
    byte[] bytes = Files.readAllBytes(increment.resolve("revenant.increment"));
    bytes[bytes.length / 2] ^= 1;
    Path damaged = Files.write(folder.resolve("damaged"), bytes);
    ran = run("verify", damaged);
    assertEquals(Main.PROBLEMS, ran.code, ran.err);
    assertTrue(ran.out.contains("problem "), ran.out);
  }

  @Test
  void a_backup_to_standard_output_fails_with_it_and_beside_another_opener() {
    OutputStream broken =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    Ran ran = run(InputStream.nullInputStream(), broken, "backup", directory, "-");
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("Broken pipe"), ran.err);
    try (Database open = Database.open(directory, SMALL)) {
      ByteArrayOutputStream stream = new ByteArrayOutputStream();
      ran = run(InputStream.nullInputStream(), stream, "backup", directory, "-");
      assertEquals(Main.FAILED, ran.code);
      assertTrue(ran.err.contains("withAdminSocket(true)"), ran.err);
      assertEquals(0, stream.size());
      assertFalse(open.isClosed());
    }
    try (Database open = Database.open(directory, SMALL.withAdminSocket(true))) {
      ran = run(InputStream.nullInputStream(), broken, "backup", directory, "-");
      assertEquals(Main.FAILED, ran.code);
      assertTrue(ran.err.contains("Broken pipe"), ran.err);
      assertFalse(open.isClosed());
    }
  }

  @Test
  void a_backup_to_standard_output_comes_from_the_process_that_has_the_database_open()
      throws IOException {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    Path json = folder.resolve("result.json");
    try (Database open = Database.open(directory, SMALL.withAdminSocket(true))) {
      open.run(tx -> tx.put(open.getOrCreateTable("late"), "key".getBytes(), "value".getBytes()));
      Ran ran =
          run(InputStream.nullInputStream(), stream, "backup", directory, "-", "--json", json);
      assertEquals(Main.SOUND, ran.code, ran.err);
      assertTrue(ran.out.isEmpty() && ran.err.endsWith("complete\n"), ran.out + ran.err);
      ByteArrayOutputStream increment = new ByteArrayOutputStream();
      ran =
          run(
              InputStream.nullInputStream(),
              increment,
              "backup",
              directory,
              "-",
              "--since",
              Database.backupId(Files.write(folder.resolve("whole"), stream.toByteArray())));
      assertEquals(Main.SOUND, ran.code, ran.err);
      assertTrue(increment.size() < stream.size(), "an increment has less");
      assertFalse(open.isClosed());
    }
    assertTrue(
        Files.readString(json)
            .contains("\"id\": \"" + Database.backupId(folder.resolve("whole")) + "\""));
    Path target = folder.resolve("copy");
    Ran unpacked =
        run(
            new ByteArrayInputStream(stream.toByteArray()),
            OutputStream.nullOutputStream(),
            "unpack",
            "-",
            target);
    assertEquals(Main.SOUND, unpacked.code, unpacked.err);
    Ran verified = run("verify", target);
    assertTrue(verified.out.contains("late: 1 rows"), verified.out);
  }

  @Test
  void a_backup_says_what_to_do_if_the_database_is_in_use_or_was_killed() throws IOException {
    Path killed = folder.resolve("killed");
    Path target = folder.resolve("copy");
    try (Database db = Database.open(directory, SMALL)) {
      fill(db);
      LiveCopy.copy(directory, killed);
      Ran ran = run("backup", directory, target);
      assertEquals(Main.FAILED, ran.code);
      assertTrue(ran.err.contains("withAdminSocket(true)"), ran.err);
    }
    Ran ran = run("backup", killed, target);
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("--recover"), ran.err);
    assertFalse(Files.exists(target));
    assertEquals(Main.SOUND, run("backup", killed, target, "--recover").code);
    assertEquals(Main.SOUND, run("verify", target).code);
  }

  @Test
  void a_check_of_a_killed_database_changes_no_file_unless_it_is_told_to_recover()
      throws IOException {
    Path killed = folder.resolve("killed");
    try (Database db = Database.open(directory, SMALL);
        Transaction open = db.begin()) {
      open.put(db.getOrCreateTable("orders"), "open".getBytes(), new byte[10]);
      fill(db);
      LiveCopy.copy(directory, killed);
    }
    Map<String, String> before = contents(killed);
    Ran ran = run("check", killed);
    assertEquals(Main.SOUND, ran.code, ran.err + ran.out);
    assertTrue(ran.out.contains("in memory, not recovered, in"), ran.out);
    assertTrue(ran.out.contains("orders: 1,001 rows"), ran.out);
    assertEquals(before, contents(killed));
    ran = run("check", killed, "--recover");
    assertEquals(Main.SOUND, ran.code, ran.err + ran.out);
    assertTrue(ran.out.contains("recovered in"), ran.out);
    assertTrue(run("check", killed).out.contains("closed cleanly"));
  }

  /** The files of a directory; a CRC for each, except of the lock file, which names its holder. */
  private static Map<String, String> contents(Path directory) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        CRC32C crc = new CRC32C();
        crc.update(Files.readAllBytes(file));
        contents.put(
            directory.relativize(file).toString(),
            Files.size(file)
                + " bytes, "
                + crc.getValue()
                + ", "
                + Files.getLastModifiedTime(file));
      }
    }
    contents.remove("revenant.lock");
    return contents;
  }

  @Test
  void check_ofADamagedPage_reportsWhatWhereAndWhatToDo() throws IOException {
    int page = pageOf(Page.OVERFLOW_DATA);
    flip(page * 8192L + 1000);
    Path json = folder.resolve("check.json");
    Ran ran = run("check", directory, "--json", json);
    assertEquals(Main.PROBLEMS, ran.code, ran.err);
    assertTrue(ran.out.contains("1 problem\n"), ran.out);
    assertTrue(ran.out.contains("at byte " + page * 8192L), ran.out);
    assertTrue(ran.out.contains("page " + page + " is damaged"), ran.out);
    assertTrue(ran.out.contains("what to do"), ran.out);
    assertTrue(Files.readString(json).contains("\"sound\": false"));
  }

  @Test
  void check_ofADamagedFreePage_warns() throws IOException {
    int page = pageOf(Page.OVERFLOW_DATA);
    try (Database db = Database.open(directory, SMALL)) {
      db.run(tx -> tx.delete(db.getOrCreateTable("orders"), "large".getBytes()));
      db.cleanNow();
    }
    assertFalse(run("check", directory).out.contains("warning"));
    flip(page * 8192L + 1000);
    Ran ran = run("check", directory);
    assertEquals(Main.SOUND, ran.code, ran.out);
    assertTrue(ran.out.contains("warning         page " + page + " is free: "), ran.out);
    assertTrue(ran.out.endsWith("sound\n"), ran.out);
  }

  @Test
  void check_ofADamagedPageThatIsInThePool_isReported() throws IOException {
    try (Database db = Database.open(directory, SMALL)) {
      assertTrue(db.check().isSound());
      int page = pageOf(Page.OVERFLOW_DATA);
      flip(page * 8192L + 1000);
      CheckReport report = db.check();
      assertEquals(1, report.damage().size(), report.problems().toString());
      assertEquals(page * 8192L, report.damage().getFirst().offset());
      assertTrue(report.advice().contains("restore"), report.advice());
      flip(page * 8192L + 1000);
      assertTrue(db.check().isSound());
    }
  }

  @Test
  void check_ofADamagedCatalogue_reportsIt() throws IOException {
    flip(5 * 8192L + 8000);
    Ran ran = run("check", directory);
    assertEquals(Main.PROBLEMS, ran.code, ran.err);
    assertTrue(ran.out.contains("page 5 is damaged"), ran.out);
  }

  @Test
  void check_ofNoDatabase_failsWithOneSentence_andMakesNothing() throws IOException {
    Path nothing = folder.resolve("nothing");
    for (String verb : new String[] {"check", "stat"}) {
      Ran ran = run(verb, nothing);
      assertEquals(Main.FAILED, ran.code);
      assertTrue(ran.err.startsWith("revenant: " + nothing), ran.err);
      assertEquals(1, ran.err.lines().count(), ran.err);
    }
    assertEquals(Main.FAILED, run("page", nothing, 5).code);
    assertFalse(Files.exists(nothing));
    Files.createDirectory(nothing);
    assertEquals(Main.FAILED, run("stat", nothing).code);
    try (Stream<Path> files = Files.list(nothing)) {
      assertEquals(0, files.count());
    }
  }

  @Test
  void all_refuseADatabaseThatIsOpen_andNameTheHolder() {
    try (Database db = Database.open(directory, SMALL.withCountersFile(false))) {
      for (Ran ran :
          new Ran[] {run("check", directory), run("stat", directory), run("page", directory, 5)}) {
        assertEquals(Main.FAILED, ran.code);
        assertTrue(ran.err.contains("" + ProcessHandle.current().pid()), ran.err);
      }
      assertEquals(2, db.tableNames().size());
    }
  }

  @Test
  void usage_thatIsWrong_endsWithExitCode2() {
    assertEquals(Main.FAILED, run().code);
    assertEquals(Main.FAILED, run("check").code);
    assertEquals(Main.FAILED, run("nonsense").code);
    assertEquals(Main.FAILED, run("page", directory, "x").code);
    assertEquals(Main.FAILED, run("check", directory, "--nonsense").code);
    Ran beyond = run("page", directory, 1_000_000);
    assertEquals(Main.FAILED, beyond.code);
    assertTrue(beyond.err.contains("pages 0 to "), beyond.err);
    assertEquals(Main.FAILED, run("page", directory, -1).code);
    assertEquals(Main.SOUND, run("--help").code);
    assertEquals(Main.SOUND, run("page", "--help").code);
  }

  @Test
  void page_showsEveryKindOfPage() throws IOException {
    contains(run("page", directory, 0), "RVNTDATA", "version     16", "page size   8192", "good");
    contains(run("page", directory, 1), "RVNTCTRL", "redo point", "good");
    contains(run("page", directory, 2), "RVNTCTRL", "good");
    contains(run("page", directory, 3), "space map", "0 to ", "allocated", "free");
    contains(run("page", directory, 4), "GAM", "extents      0 to ");
    contains(
        run("page", directory, pageOf(Page.IAM)), "IAM", "table ", "next list   0", "extents ");
    contains(run("page", directory, 5), "leaf", "\"orders\"", "\"customers\"", "current     by 0:");
    contains(
        run("page", directory, pageOf(Page.LEAF)), "leaf", "max writer", "\"key0", "100 bytes");
    contains(run("page", directory, pageOf(Page.INNER)), "inner", "left child", "to page");
    contains(
        run("page", directory, pageOf(Page.OVERFLOW_HEAD)),
        "overflow head",
        "superseder  0",
        "length      100000",
        "data pages  12");
    contains(
        run("page", directory, pageOf(Page.OVERFLOW_DATA)), "overflow data", "bytes       8128");
    long pages = Files.size(Path.of(directory.toString(), "revenant.data")) / 8192;
    Ran last = run("page", directory, pages - 1);
    assertEquals(Main.SOUND, last.code);
    contains(last, "never written");
    try (Database db = Database.open(directory, SMALL)) {
      Table customers = db.getOrCreateTable("customers");
      db.run(tx -> {
        tx.put(customers, "a".getBytes(), new byte[2_000]);
        tx.put(customers, "b".getBytes(), new byte[3_000]);
      });
      db.run(tx -> tx.delete(customers, "a".getBytes()));
      db.compact(); // and cleans
    }
    contains(
        run("page", directory, pageOf(Page.SHARED_VALUES)),
        "shared values",
        "slots       2",
        "fullness    1 of 4",
        "  0   none",
        "  1   writer ",
        "superseder 0, 3000 bytes");
  }

  private static void contains(Ran ran, String... texts) {
    assertEquals(Main.SOUND, ran.code, ran.err + ran.out);
    for (String text : texts) {
      assertTrue(ran.out.contains(text), text + " is missing in\n" + ran.out);
    }
  }

  @Test
  void page_thatIsDamagedInAnyWay_isShownAsFarAsItMakesSense() throws IOException {
    int leaf = pageOf(Page.LEAF);
    Random random = new Random(2);
    for (int i = 0; i < 300; i++) {
      flip(leaf * 8192L + random.nextInt(i % 2 == 0 ? 300 : 8192));
      Ran ran = run("page", directory, leaf);
      assertEquals(Main.PROBLEMS, ran.code, ran.err);
      assertTrue(ran.out.contains("DAMAGED"), ran.out);
    }
  }

  @Test
  void page_ofAKilledDatabase_isShown_withBothVersions() throws IOException {
    Path killed = folder.resolve("killed");
    try (Database db = Database.open(directory, SMALL);
        Transaction open = db.begin()) {
      open.put(db.getOrCreateTable("customers"), "x".getBytes(), "changed".getBytes());
      db.checkpoint();
      LiveCopy.copy(directory, killed);
    }
    directory = killed;
    String all = "";
    for (int id = 6; id < 60; id++) {
      all += run("page", killed, id).out;
    }
    assertTrue(all.contains("\"changed\""), all);
    assertTrue(all.contains("predecessor by"), all);
  }

  @Test
  void stat_showsHeaderSlotsSegmentsBatchAndTables() throws IOException {
    Ran ran = run("stat", directory);
    contains(
        ran,
        "RVNTDATA",
        "control slot 1",
        "control slot 2",
        "the one that counts",
        "cleanly, the log ends at",
        " bytes, life 2, LSNs ",
        "batch       ",
        "orders  id ",
        "root page ",
        "sequences",
        "invoices  start 1, increment 1, cache 1000, plain; 1,000 values reserved, the next is 1001",
        "orders  start 1, increment 1, cache 1, bit-reversed; 1 values reserved, the next is "
            + (1L << 61));
    Path killed = folder.resolve("killed");
    try (Database db = Database.open(directory, SMALL)) {
      fill(db);
      LiveCopy.copy(directory, killed);
    }
    contains(run("stat", killed), "tables      not known", "life 2", "run check --recover");
  }

  /** Closed while a snapshot could still read the table: its pages are there. */
  @Test
  void stat_and_check_ofADatabaseWithADroppedTable() throws IOException {
    try (Database db = Database.open(directory, SMALL);
        Transaction reader = db.begin()) {
      Table orders = db.getOrCreateTable("orders");
      assertTrue(db.dropTable("orders"));
      assertTrue(reader.exists(orders, "large".getBytes()));
    }
    Ran ran = run("stat", directory);
    contains(
        ran, "customers  id 2", "(dropped, not all pages freed)  id 1, root page ", "sequences");
    assertFalse(ran.out.contains("orders  id"), ran.out);
    ran = run("check", directory);
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertTrue(ran.out.contains("tables          1"), ran.out);
    assertFalse(ran.out.contains("table           orders"), ran.out);
  }

  private Path countersFile() {
    return directory.resolve("revenant.counters");
  }

  /** As the thread of the checkpoints does, once a second. */
  private void awaitCounters() throws IOException {
    while (!Files.exists(countersFile()) || Files.size(countersFile()) == 0) {
      Await.pause();
    }
  }

  @Test
  void stat_ofADatabaseThatIsOpen_showsItsOldestSnapshot() {
    TransactionOptions report =
        TransactionOptions.durable().withReadOnly(true).withName("nightly report");
    try (Database db = Database.open(directory, SMALL)) {
      put(db, "a");
      Transaction reader = db.begin(report);
      put(db, "b");
      put(db, "c");
      db.cleanNow();
      Ran ran = run("stat", directory);
      while (!ran.out.contains("held back by it alone: ")) { // the file is written once a second
        ran = run("stat", directory);
      }
      contains(
          ran,
          "seen first ",
          "of transaction \"nightly report\" that has not written",
          "held back by it alone: 1 older versions in memory",
          "held back by all open snapshots (1)");
      reader.commit();
    }
  }

  private static void put(Database db, String value) {
    db.run(tx -> tx.put(db.getOrCreateTable("orders"), "k".getBytes(), value.getBytes()));
  }

  @Test
  void stat_ofADatabaseThatIsOpen_showsItsCounters() throws IOException {
    try (Database db = Database.open(directory, SMALL)) {
      db.run(tx -> tx.put(db.getOrCreateTable("orders"), "k".getBytes(), "v".getBytes()));
      awaitCounters();
      String durable = "commits.durable" + " ".repeat(43) + "1  counter, count\n";
      Ran ran = run("stat", directory);
      while (!ran.out.contains(durable)) {
        ran = run("stat", directory); // it was written before that
      }
      contains(
          ran,
          "open        this process (" + ProcessHandle.current().pid() + ")",
          "counters    written ",
          " s ago; the process writes them once a second while they change",
          "life        3",
          durable,
          "log force  ");
      assertFalse(ran.out.contains("STALE"), ran.out);
      assertFalse(ran.out.contains("control slot"), ran.out);
    }
    Ran closed = run("stat", directory);
    contains(closed, "control slot 1", "tables");
    assertFalse(closed.out.contains("counters"), closed.out);
  }

  @Test
  void stat_ofADatabaseThatIsBeingOpened_showsItsProgress() {
    try (Database db = Database.open(directory, SMALL.withCountersFile(false));
        StorageFile data =
            StorageFile.open(
                directory.resolve("revenant.data"), OpenMode.READ, /* ownerOnly= */ true);
        CountersFile file =
            new CountersFile(
                directory,
                DataFileHeader.read(data).databaseId(),
                ControlFile.read(data).state().life(),
                InstantSource.system())) {
      assertTrue(file.writeRestart(1, 3_000_000, 0));
      contains(run("stat", directory), "restart     analysis: 3,000,000 bytes of log");
      assertTrue(file.writeRestart(1, 1_000_000, 4_000_000));
      Ran ran = run("stat", directory);
      contains(ran, "restart     analysis: 1,000,000 of 4,000,000 (25 %) bytes of log");
      assertFalse(ran.out.contains("STALE"), ran.out);
      assertFalse(ran.out.contains("waits"), ran.out);
      assertEquals(2, db.tableNames().size());
    }
  }

  @Test
  void stat_ofADatabaseWithoutACountersFile_reportsIt() {
    try (Database db = Database.open(directory, SMALL.withCountersFile(false))) {
      Ran ran = run("stat", directory);
      assertEquals(Main.FAILED, ran.code);
      assertTrue(ran.err.contains("has no counters file to show"), ran.err);
      assertEquals("", ran.out);
      assertEquals(1, ran.err.lines().count(), ran.err);
      assertEquals(2, db.tableNames().size());
    }
  }

  /** A crash leaves it. It is shown as stale even if the next life has not written yet. */
  @Test
  void stat_ofAKilledDatabase_showsThatItsCountersAreStale_andTheirAge() throws IOException {
    Path killed = folder.resolve("killed");
    try (Database db = Database.open(directory, SMALL)) {
      fill(db);
      awaitCounters();
      LiveCopy.copy(directory, killed);
    }
    directory = killed;
    contains(
        run("stat", killed),
        "tables      not known",
        "counters    STALE: written ",
        " s ago by process " + ProcessHandle.current().pid() + ", which did not close the database",
        "life        3",
        "waits  ");
    try (Database db = Database.open(killed, SMALL.withCountersFile(false))) {
      assertFalse(db.recoveryReport().clean());
      Ran ran = run("stat", killed); // the same process, so only the life tells
      contains(
          ran,
          "counters    STALE: written ",
          "the process that has it open now has written no counters yet");
    }
    assertTrue(run("stat", killed).out.contains("counters    STALE"), "nobody has taken it away");
    assertEquals(Main.SOUND, run("check", killed, "--recover").code);
    assertFalse(run("stat", killed).out.contains("counters"), "the close has");
  }

  @Test
  void stat_ofADamagedOrForeignCountersFile_reportsIt() throws IOException {
    Path other = folder.resolve("other");
    Database.open(other, SMALL).close();
    try (Database db = Database.open(directory, SMALL)) {
      awaitCounters();
      Files.copy(countersFile(), other.resolve("revenant.counters"));
      assertEquals(2, db.tableNames().size());
    }
    Ran foreign = run("stat", other);
    contains(foreign, "counters    none: ", "belongs to another database", "delete it");
    try (Database db = Database.open(other, SMALL.withCountersFile(false))) {
      Ran ran = run("stat", other);
      assertEquals(Main.FAILED, ran.code);
      assertTrue(ran.err.contains("belongs to another database"), ran.err);
      Files.write(other.resolve("revenant.counters"), new byte[4096]);
      ran = run("stat", other);
      assertEquals(Main.FAILED, ran.code);
      assertTrue(ran.err.contains("not a counters file, or a damaged one"), ran.err);
      assertEquals(List.of(), db.tableNames());
    }
    contains(run("stat", other), "counters    none: ", "control slot 1");
  }

  @Test
  void ages_areShownInTheLargestSuitableUnit() {
    assertEquals("0.4 s ago", CountersView.age(Duration.ofMillis(400)));
    assertEquals("119.0 s ago", CountersView.age(Duration.ofSeconds(119)));
    assertEquals("2 min ago", CountersView.age(Duration.ofSeconds(120)));
    assertEquals("2 h ago", CountersView.age(Duration.ofMinutes(121)));
    assertEquals("3 days ago", CountersView.age(Duration.ofHours(73)));
    assertEquals(
        "in the future, by this machine's clock", CountersView.age(Duration.ofSeconds(-5)));
  }

  @Test
  void stat_check_andPage_showATableWithPartitions() throws IOException {
    try (Database db = Database.open(directory, SMALL)) {
      Table events = db.getOrCreateTable("events", TableOptions.hashPartitioned(3));
      db.run(tx -> {
        for (int i = 0; i < 30; i++) {
          tx.put(events, new byte[] {(byte) i}, new byte[10]);
        }
      });
    }
    Ran stat = run("stat", directory);
    contains(stat, "customers  id ", ", root page ", "orders  id ");
    Matcher line =
        Pattern.compile("events  ids 3 to 5, 3 hash partitions, root pages (\\d+) (\\d+) (\\d+)\\R")
            .matcher(stat.out);
    assertTrue(line.find(), stat.out);
    for (int partition = 0; partition < 3; partition++) {
      contains(
          run("page", directory, line.group(1 + partition)),
          "leaf",
          "table       " + (3 + partition));
    }
    Ran check = run("check", directory);
    contains(check, "tables          3", "events: 30 rows (30 including", "1 levels, 3 tree pages");
  }

  @Test
  void commands_changeNoByte_butCheckMayRecover() throws IOException {
    byte[] before = Files.readAllBytes(directory.resolve("revenant.data"));
    run("stat", directory);
    run("page", directory, 4);
    assertTrue(Arrays.equals(before, Files.readAllBytes(directory.resolve("revenant.data"))));
  }

  @Test
  void every_verb_prints_the_version_of_the_build() throws IOException {
    String pom = Files.readString(Path.of("..", "pom.xml"));
    for (String verb : List.of("check", "page", "stat")) {
      for (String option : List.of("-V", "--version")) {
        Ran ran = run(verb, option);
        assertEquals(Main.SOUND, ran.code, ran.err);
        String version = ran.out.strip().replaceFirst("^RevenantDB ", "");
        assertTrue(pom.contains("<version>" + version + "</version>"), ran.out);
      }
    }
  }

  @Test
  void check_refuses_a_place_for_its_result_before_it_opens_the_database() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    for (Path json : List.of(file.resolve("below"), folder, folder.resolve("none/check.json"))) {
      Ran ran = run("check", folder.resolve("nowhere"), "--json", json);
      assertEquals(Main.FAILED, ran.code, ran.err);
      assertTrue(ran.err.contains("--json"), ran.err);
    }
  }

  @Test
  void a_missing_database_is_reported_without_words_of_the_api() {
    for (Object[] arguments :
        List.of(
            new Object[] {"check", folder.resolve("nowhere")},
            new Object[] {"stat", folder.resolve("nowhere")},
            new Object[] {"page", folder.resolve("nowhere"), "1"})) {
      Ran ran = run(arguments);
      assertEquals(Main.FAILED, ran.code, ran.err);
      assertTrue(ran.err.contains("name the directory of a database"), ran.err);
      assertFalse(ran.err.contains("create") || ran.err.contains("readOnly"), ran.err);
    }
  }

  @Test
  void a_negative_page_is_wrong_usage() {
    assertEquals(Main.FAILED, run("page", directory, "-5").code);
  }

  @Test
  void a_path_that_the_system_cannot_follow_is_not_reported_as_a_missing_database()
      throws IOException {
    Path one = folder.resolve("one");
    Files.createSymbolicLink(one, folder.resolve("other"));
    Files.createSymbolicLink(folder.resolve("other"), one);
    Ran ran = run("check", one);
    assertEquals(Main.FAILED, ran.code, ran.err);
    assertTrue(ran.err.contains("circle of symbolic links"), ran.err);
  }
}
