package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;

import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.admin.AdminClient;
import org.revenantdb.engine.admin.AdminReply;
import org.revenantdb.engine.testing.OtherProcess;
import org.revenantdb.testing.Drawn;

/**
 * A process with a database, and one that backs it up through its socket, to streams in files:
 * whole backups, and increments since the last one. One or the other is killed again and again. A
 * stream that was reported complete is a prefix of the commits. Any other is refused, or it is one,
 * too: what was killed was the report. {@code -Drevenant.seed=n} repeats the choices of a run,
 * {@code -Drevenant.kills=n} says how many kills there are.
 */
class BackupKillTest {
  private static final DatabaseOptions OPTIONS = SMALL.withAdminSocket(true);
  private static final String NONE = "-";
  private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(5);

  @TempDir Path temporary;
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);

  /** What was reported complete: a whole backup, and the increments since it. */
  private final List<Path> chain = new ArrayList<>();

  private String lastId = NONE;
  private long lastHas;
  private int next;
  private int targets;
  private int refused;
  private int applied;

  /** Commits without an end. */
  static final class Writer {
    public static void main(String[] arguments) {
      try (Database db = Database.open(Path.of(arguments[0]), OPTIONS)) {
        Table rows = db.table("rows");
        for (long n = NumberedCommits.count(db) + 1; true; n++) {
          NumberedCommits.commit(db, rows, n);
        }
      }
    }
  }

  /**
   * Makes backups without an end, and prints {@code complete NUMBER}, or {@code failed NUMBER}, or
   * {@code none} if there is no process with the database. What is complete gets the name {@code
   * NUMBER-(whole|increment)-ID-COMMITS} first.
   */
  static final class Copier {
    public static void main(String[] arguments) {
      Path database = Path.of(arguments[0]);
      Path folder = Path.of(arguments[1]);
      int number = Integer.parseInt(arguments[2]);
      String since = arguments[3];
      Random random = new Random(Long.parseLong(arguments[4]));
      while (true) {
        if (random.nextInt(6) == 0) {
          since = NONE;
        }
        try (AdminClient client = AdminClient.connect(database)) {
          if (client == null) {
            LockSupport.parkNanos(RETRY);
            System.out.println("none");
            continue;
          }
          ByteArrayOutputStream count = new ByteArrayOutputStream();
          long has =
              client.get("rows", NumberedCommits.TICKET, count)
                  ? ByteBuffer.wrap(count.toByteArray()).getLong()
                  : 0;
          BackupOptions options = BackupOptions.defaults();
          boolean isWhole = since.equals(NONE);
          AdminReply.BackedUp done;
          try (FileOutputStream to = new FileOutputStream(file(folder, number).toFile())) {
            done = client.backup(to, isWhole ? options : options.withSince(since));
          }
          String kind = isWhole ? "whole" : "increment";
          Files.move(
              file(folder, number),
              folder.resolve(String.join("-", "" + number, kind, done.id(), "" + has)));
          System.out.println("complete " + number);
          since = String.valueOf(done.id());
        } catch (IOException failed) {
          if (String.valueOf(failed.getMessage()).contains("make a whole backup")) {
            since = NONE;
          }
          System.out.println("failed " + number);
        }
        number++;
      }
    }
  }

  private static Path file(Path folder, int number) {
    return folder.resolve("stream" + number);
  }

  private Path folder() {
    return temporary.resolve("streams");
  }

  private OtherProcess writer() throws IOException {
    return OtherProcess.start(Writer.class, temporary.resolve("db").toString());
  }

  private OtherProcess copier() throws IOException {
    return OtherProcess.start(
        Copier.class,
        temporary.resolve("db").toString(),
        folder().toString(),
        Integer.toString(next),
        lastId,
        Long.toString(random.nextLong()));
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void a_stream_that_a_kill_of_either_side_has_cut_is_never_taken_for_a_whole_one()
      throws Exception {
    Files.createDirectories(folder());
    try (Database db = Database.open(temporary.resolve("db"), OPTIONS)) {
      db.createTable("rows");
      BackedUp.put(db, "filler", 0, 5_000, 1, 400);
    }
    int kills = Integer.getInteger("revenant.kills", Boolean.getBoolean("revenant.long") ? 40 : 3);
    OtherProcess writer = writer();
    OtherProcess copier = copier();
    try {
      for (int kill = 0; kill < kills; kill++) {
        int wanted = next + 1 + random.nextInt(3);
        while (next < wanted || chain.isEmpty()) {
          assertTrue(writer.isAlive(), "the writer has ended");
          take(copier.readLine());
        }
        LockSupport.parkNanos(random.nextInt((int) TimeUnit.MILLISECONDS.toNanos(20)));
        if (kill % 2 == 0) {
          copier.kill();
          takeLast();
          copier = copier();
        } else {
          writer.kill();
          writer = writer();
        }
        check(chain);
      }
    } catch (Throwable failed) {
      throw new AssertionError("-Drevenant.seed=" + seed, failed);
    } finally {
      copier.close();
      writer.close();
    }
    System.out.println(
        "kills "
            + kills
            + ", streams "
            + next
            + ", cut and refused "
            + refused
            + ", whole "
            + applied);
  }

  private void take(@Nullable String line) throws IOException {
    assertNotNull(line, "the process that makes backups has ended");
    if (line.equals("none")) {
      return;
    }
    assertEquals(line.startsWith("complete"), takeNext(), line);
    assertTrue(line.endsWith(" " + (next - 1)), line);
  }

  /** Of a copier that was killed: what it was writing, and what it had no time to print. */
  private void takeLast() throws IOException {
    while (takeNext()) {
      assertFalse(chain.isEmpty());
    }
  }

  /** Takes the next stream; false if it is not complete. */
  private boolean takeNext() throws IOException {
    int number = next++;
    Path made = null;
    try (Stream<Path> files = Files.list(folder())) {
      made =
          files
              .filter(file -> file.getFileName().toString().startsWith(number + "-"))
              .findFirst()
              .orElse(null);
    }
    if (made == null) {
      checkCut(file(folder(), number));
      return false;
    }
    String[] words = made.getFileName().toString().split("-");
    if (words[1].equals("whole")) {
      for (Path old : chain) {
        Files.delete(old);
      }
      chain.clear();
      lastHas = 0;
    }
    chain.add(made);
    lastId = words[2];
    lastHas = Math.max(lastHas, Long.parseLong(words[3]));
    return true;
  }

  private void check(List<Path> parts) throws IOException {
    long has = made(target -> apply(parts, target));
    assertTrue(has >= lastHas, has + " commits, but " + lastHas + " were there before");
    applied++;
  }

  private static void apply(List<Path> parts, Path target) {
    if (parts.size() > 1) {
      Database.applyBackups(parts, target);
      return;
    }
    try (InputStream stream = Files.newInputStream(parts.getFirst())) {
      Database.unpackBackup(stream, target);
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }

  /** How many commits a database has that is made here; it is deleted. */
  private long made(Consumer<Path> making) throws IOException {
    Path target = temporary.resolve("target" + targets++);
    try {
      making.accept(target);
    } catch (StorageException failed) {
      assertFalse(Files.exists(target), "something is left");
      throw failed;
    }
    long has;
    try (Database db = Database.open(target, SMALL)) {
      has = NumberedCommits.checked(db);
      BackedUp.assertSound(db.check());
    }
    try (Stream<Path> files = Files.walk(target)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    return has;
  }

  /** A stream that was not reported complete: an increment, or a whole one. */
  private void checkCut(Path file) throws IOException {
    if (!Files.exists(file)) {
      return;
    }
    try {
      made(target -> apply(List.of(file), target));
      applied++;
    } catch (StorageException cut) {
      assertEquals(StorageException.Reason.BACKUP_STREAM, cut.reason(), cut::getMessage);
      checkCutIncrement(file);
    }
    Files.delete(file);
  }

  private void checkCutIncrement(Path file) throws IOException {
    List<Path> parts = new ArrayList<>(chain);
    parts.add(file);
    if (parts.size() == 1) {
      refused++;
      return;
    }
    try {
      check(parts);
    } catch (StorageException cut) {
      assertTrue(
          Set.of(StorageException.Reason.BACKUP_STREAM, StorageException.Reason.BACKUP_BASE)
              .contains(cut.reason()),
          cut::getMessage);
      refused++;
    }
  }
}
