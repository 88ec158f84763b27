package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.revenantdb.engine.testing.Samples.SMALL;
import static org.revenantdb.engine.testing.Samples.bytes;
import static org.revenantdb.engine.testing.Samples.get;
import static org.revenantdb.engine.testing.Samples.put;
import static org.revenantdb.engine.testing.Samples.random;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.OtherProcess;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.testing.Drawn;

/** Databases that come and go in one JVM leave no memory, no thread and no open file. */
class LifecycleTest {
  /**
   * A JVM whose heap is resident from the beginning and that has no optimising compiler, whose
   * memory grows in steps up to the 6,000th time and would hide a leak: what grows in it is ours.
   */
  private static final List<String> STEADY =
      List.of("-Xms96m", "-Xmx96m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1");

  @TempDir private Path folder;

  /** What this process holds. */
  private record Held(long residentBytes, long threads, long files) {
    static Held now() throws IOException {
      System.gc();
      long resident = 0;
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("VmRSS:")) {
          resident = Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
      }
      long threads =
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().startsWith("revenant"))
              .count();
      try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
        return new Held(resident, threads, files.count());
      }
    }

    /**
     * Some megabytes are the JVM's own. Only threads of the engine count: the JVM starts more
     * carriers of virtual threads while others wait for a disk.
     */
    boolean isFlat(Held before, int mebibytes) {
      return files <= before.files + 3
          && threads <= before.threads
          && residentBytes <= before.residentBytes + ((long) mebibytes << 20);
    }

    /** Tells the process that started this one. */
    void printFlat(Held before, int mebibytes) {
      System.out.println(isFlat(before, mebibytes) ? "flat" : before + " before, now " + this);
    }
  }

  @Test
  @Tag("slow")
  void openAndClose_manyTimes_leavesMemoryThreadsAndFilesFlat() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/status")), "only where there is /proc");
    int block = Boolean.getBoolean("revenant.long") ? 5_000 : 200;
    Path directory = folder.resolve("db");
    List<String> lines = new ArrayList<>();
    try (OtherProcess other =
        OtherProcess.start(
            Opener.class,
            STEADY,
            ProcessBuilder.Redirect.INHERIT,
            directory.toString(),
            "" + block)) {
      for (String line = other.readLine(); line != null; line = other.readLine()) {
        System.out.println(line);
        lines.add(line);
      }
      assertEquals(0, other.waitFor());
    }
    assertEquals("flat", lines.getLast(), () -> String.join("\n", lines));
    try (Stream<Path> segments = Files.list(directory.resolve("log"))) {
      assertTrue(segments.count() < 40, "the log does not grow by being opened");
    }
    try (Database db = Samples.open(directory)) {
      assertEquals("v" + (block - 100 + 10), get(db, "t", "k10"));
      assertTrue(db.check().isSound());
    }
  }

  /**
   * Another process: opens and closes a database in blocks of so many times, until a block leaves
   * memory, threads and files as it found them.
   *
   * <p>The JVM's own memory levels off after some blocks: what its compiler gives back stays with
   * the allocator. A leak of the engine grows in every block.
   */
  static final class Opener {
    private static final int MOST_BLOCKS = 10;
    private static final int MEBIBYTES = 12;

    private Opener() {}

    public static void main(String[] arguments) throws IOException {
      Path directory = Path.of(arguments[0]);
      int block = Integer.parseInt(arguments[1]);
      try (Database db = Samples.open(directory)) {
        put(db, "t", "k", "v");
      }
      openAndClose(directory, block);
      Held before = Held.now();
      for (int blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
        openAndClose(directory, block);
        Held after = Held.now();
        if (after.isFlat(before, MEBIBYTES)) {
          System.out.println("flat");
          return;
        }
        System.out.println("block " + blocks + ": " + before + ", then " + after);
        before = new Held(after.residentBytes, before.threads, before.files);
      }
    }

    private static void openAndClose(Path directory, int times) throws IOException {
      long opening = 0;
      long closing = 0;
      for (int i = 0; i < times; i++) {
        long start = System.nanoTime();
        Database db = Samples.open(directory);
        long opened = System.nanoTime();
        if (i % 10 == 0) {
          put(db, "t", "k" + i % 100, "v" + i);
        }
        long closes = System.nanoTime();
        db.close();
        opening += opened - start;
        closing += System.nanoTime() - closes;
      }
      System.out.printf(
          "%,d times: open %.2f ms, close %.2f ms%n",
          times, opening / 1e6 / times, closing / 1e6 / times);
    }
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void twentyDatabases_atOnce_workSideBySide_andLeaveNothing() throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/status")), "only where there is /proc");
    try (OtherProcess other =
        OtherProcess.start(
            Twenty.class, STEADY, ProcessBuilder.Redirect.INHERIT, folder.toString())) {
      assertEquals("flat", other.readLine());
      assertEquals(0, other.waitFor());
    }
  }

  /** Another process: opens twenty databases, works with all of them, closes them, and again. */
  static final class Twenty {
    private Twenty() {}

    public static void main(String[] arguments) throws Exception {
      Held before = null;
      for (int round = 0; round < 24; round++) {
        List<Database> databases = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
          databases.add(Database.open(Path.of(arguments[0], "db" + i), SMALL));
        }
        List<Thread> sessions = new ArrayList<>();
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        int seed = round;
        for (int i = 0; i < 20; i++) {
          Database db = databases.get(i);
          int number = i;
          sessions.add(
              Thread.ofVirtual()
                  .uncaughtExceptionHandler((thread, failure) -> failures.add(failure))
                  .start(() -> {
                    for (int n = 0; n < 10; n++) {
                      byte[] key = bytes("k" + n);
                      byte[] value = random(number * 100 + n + seed, 5_000 * n);
                      db.run(tx -> tx.put(db.getOrCreateTable("t"), key, value));
                    }
                  }));
        }
        for (Thread session : sessions) {
          session.join();
        }
        assertEquals(List.of(), failures);
        for (int i = 0; i < 20; i++) {
          Database db = databases.get(i);
          int number = i;
          db.run(tx -> {
            for (int n = 0; n < 10; n++) {
              assertTrue(
                  java.util.Arrays.equals(
                      random(number * 100 + n + seed, 5_000 * n),
                      tx.get(db.getOrCreateTable("t"), bytes("k" + n))));
            }
          });
          db.close();
        }
        // Threads keep the JDK's buffers for their I/O while they wait for more: it levels off.
        if (round == 12) {
          before = Held.now();
        }
      }
      Held.now().printFlat(before, 400); // a leak of the pools would be 900
    }
  }

  @Test
  void open_thatFails_leavesNothingOpen() throws IOException {
    assumeTrue(Files.exists(Path.of("/proc/self/status")), "only where there is /proc");
    Path directory = folder.resolve("db");
    Samples.open(directory).close();
    Path log = directory.resolve("log");
    Path hidden = folder.resolve("hidden");
    Files.move(log, hidden);
    Held before = null;
    for (int i = 0; i < 100; i++) {
      try (Database db = Samples.open(directory)) {
        throw new AssertionError("opened without " + log + ": " + db.tableNames());
      } catch (RuntimeException refused) {
        // as it should be
      }
      if (i == 10) {
        before = Held.now();
      }
    }
    Held after = Held.now();
    assertTrue(after.isFlat(before, 64), before + " before, now " + after);
    Files.move(hidden, log);
    Samples.open(directory).close();
  }

  @Test
  void engine_in_a_jvm_without_flags_says_nothing_on_standard_error() throws Exception {
    Path errors = folder.resolve("stderr");
    for (List<String> flags :
        List.of(
            List.<String>of(),
            List.of("--sun-misc-unsafe-memory-access=deny", "--illegal-native-access=deny"))) {
      try (OtherProcess other =
          OtherProcess.start(
              Worker.class,
              flags,
              ProcessBuilder.Redirect.to(errors.toFile()),
              folder.resolve("worker").toString())) {
        assertEquals("done", other.readLine());
        assertEquals(0, other.waitFor());
      }
      assertEquals("", Files.readString(errors));
    }
  }

  /** Another process: uses a bit of everything. */
  static final class Worker {
    private Worker() {}

    public static void main(String[] arguments) throws IOException {
      for (int i = 0; i < 2; i++) {
        try (Database db = Database.open(Path.of(arguments[0]))) {
          Table table = db.getOrCreateTable("t");
          db.run(tx -> {
            tx.put(table, bytes("k"), bytes("v"));
            tx.put(table, bytes("l"), random(1, 3_000_000));
          });
          try (Transaction tx = db.begin();
              Cursor cursor = tx.scan(table, null, null)) {
            while (cursor.next()) {
              cursor.openValue().readAllBytes();
            }
          }
          try (Transaction rolledBack = db.begin()) {
            rolledBack.delete(table, bytes("l"));
          }
          db.checkpoint();
          db.cleanNow();
          if (!db.check().isSound()) {
            throw new AssertionError(db.check());
          }
        }
      }
      System.out.println("done");
    }
  }
}
