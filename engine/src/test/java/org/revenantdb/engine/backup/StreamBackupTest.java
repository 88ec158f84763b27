package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.testing.Refusals;
import org.revenantdb.recovery.testing.Await;

/** Backups to a stream: what comes back of them, and streams that fail or block (§55). */
class StreamBackupTest {
  private static final int PAGE = 8_192;

  @TempDir Path temporary;
  private Database db;
  private Path target;

  @BeforeEach
  void open() {
    db = Database.open(temporary.resolve("db"), SMALL);
    put(db, "rows", 0, 3_000, 1, 200);
    put(db, "large", 0, 3, 2, 100_000);
    target = temporary.resolve("copy");
  }

  @AfterEach
  void close() {
    db.close();
  }

  private static BackupReport unpack(byte[] stream, Path to) {
    return Database.unpackBackup(new ByteArrayInputStream(stream), to);
  }

  private void assertGoesOn() {
    put(db, "rows", 0, 10, 3, 200);
    db.checkpoint();
    unpack(Streamed.of(db), target);
    assertEquals(contents(db), opened(target));
  }

  /** A stream that counts, and does something before each write. */
  private static class Watched extends OutputStream {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int writes;
    private int flushes;
    private boolean closed;

    /** Before a write. */
    void before(int write) throws IOException {}

    @Override
    public void write(int one) throws IOException {
      throw new IOException("one byte at a time");
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      before(++writes);
      bytes.write(from, offset, length);
    }

    @Override
    public void flush() throws IOException {
      flushes++;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Test
  void a_stream_becomes_a_database_with_everything() {
    Watched stream = new Watched();
    BackupReport written = db.backup(stream, BackupOptions.defaults());
    Map<String, Map<String, String>> before = contents(db);
    put(db, "rows", 0, 3_000, 9, 200);
    assertNull(written.target());
    assertTrue(stream.flushes == 1 && !stream.closed, "it is flushed, and not closed");
    BackupReport read = unpack(stream.bytes.toByteArray(), target);
    assertEquals(target, read.target());
    assertEquals(
        List.of(written.bytes(), written.pages(), written.logBytes(), written.redoPoint()),
        List.of(read.bytes(), read.pages(), read.logBytes(), read.redoPoint()));
    assertEquals(written.endOfLog(), read.endOfLog());
    assertEquals(before, opened(target));
  }

  @Test
  void what_follows_a_backup_in_a_stream_is_not_read() throws IOException {
    byte[] stream = Streamed.of(db);
    ByteArrayInputStream longer =
        new ByteArrayInputStream(Arrays.copyOf(stream, stream.length + 10));
    Database.unpackBackup(longer, target);
    assertEquals(10, longer.available());
  }

  /** Only the id of the copy differs, which is in the header and in each segment. */
  @Test
  void the_directory_is_that_of_a_backup_without_a_stream() throws IOException {
    db.close();
    db = Database.open(temporary.resolve("db"), SMALL.withReadOnly(true));
    Path direct = temporary.resolve("direct");
    db.backup(direct);
    byte[] stream = Streamed.of(db);
    unpack(stream, target);
    List<String> names = files(direct);
    assertEquals(names, files(target));
    for (String name : names) {
      byte[] one = Files.readAllBytes(direct.resolve(name));
      byte[] other = Files.readAllBytes(target.resolve(name));
      int header = name.equals("revenant.data") ? PAGE : 512;
      assertEquals(one.length, other.length, name);
      assertArrayEquals(
          Arrays.copyOfRange(one, header, one.length),
          Arrays.copyOfRange(other, header, other.length),
          name);
    }
    Path again = temporary.resolve("again");
    unpack(stream, again);
    for (String name : names) {
      assertEquals(-1, Files.mismatch(target.resolve(name), again.resolve(name)), name);
    }
    assertEquals(contents(db), opened(target));
  }

  private static List<String> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> folder.relativize(file).toString())
          .sorted()
          .toList();
    }
  }

  @Test
  void tar_lists_the_entries_in_their_order() throws Exception {
    String path = System.getenv().getOrDefault("PATH", "");
    Assumptions.assumeTrue(
        Stream.of(path.split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "tar"))),
        "this system has no tar");
    byte[] stream = Streamed.of(db);
    Path file = Files.write(temporary.resolve("backup.tar"), stream);
    Process tar =
        new ProcessBuilder("tar", "tf", file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    List<String> listed = tar.inputReader().lines().toList();
    assertEquals(0, tar.waitFor());
    assertEquals(Streamed.entries(stream).stream().map(Streamed.Entry::name).toList(), listed);
    assertEquals("revenant-backup/manifest", listed.getFirst());
    assertEquals("revenant-backup/end", listed.getLast());
  }

  @Test
  void a_stream_that_throws_ends_the_backup_and_the_database_goes_on() {
    for (int write = 1; write <= 3; write++) { // there is a manifest, log, pages, an end
      int failing = write;
      for (Exception thrown :
          List.of(new IOException("Broken pipe"), new IllegalStateException("no more"))) {
        Watched stream =
            new Watched() {
              @Override
              void before(int write) throws IOException {
                if (write == failing) {
                  switch (thrown) {
                    case IOException checked -> throw checked;
                    default -> throw (RuntimeException) thrown;
                  }
                }
              }
            };
        StorageException told =
            Refusals.assertRefused(
                StorageException.Reason.IO, () -> db.backup(stream, BackupOptions.defaults()));
        assertTrue(told.getMessage().contains(thrown.getMessage()), told::getMessage);
        assertEquals(failing, stream.writes, "a write after one that has failed");
        assertEquals(0, stream.flushes);
        Refusals.assertRefused(
            StorageException.Reason.BACKUP_STREAM,
            () -> unpack(stream.bytes.toByteArray(), target));
      }
    }
    assertGoesOn();
  }

  @Test
  void a_flush_that_fails_is_a_backup_that_fails() {
    Watched stream =
        new Watched() {
          @Override
          public void flush() throws IOException {
            throw new IOException("No space left on device");
          }
        };
    StorageException told =
        Refusals.assertRefused(
            StorageException.Reason.IO, () -> db.backup(stream, BackupOptions.defaults()));
    assertTrue(told.getMessage().contains("No space left"), told::getMessage);
    assertGoesOn();
  }

  @Test
  void a_stream_that_blocks_gives_way_to_writers() {
    db.close();
    db =
        Database.open(
            temporary.resolve("bounded"), SMALL.withMaxLogSize(8 << 20).withCountersFile(false));
    put(db, "rows", 0, 2_000, 1, 200);
    Watched stream =
        new Watched() {
          @Override
          void before(int write) {
            if (write == 2) {
              BackedUp.onOtherThread(() -> {
                for (int round = 0; round < 60; round++) { // far more than the log may have
                  put(db, "rows", 0, 2_000, round, 200);
                  db.checkpoint();
                  assertTrue(db.statistics().files().logDirectoryBytes() <= 8 << 20);
                }
              });
            }
          }
        };
    StorageException told =
        Refusals.assertRefused(
            StorageException.Reason.BACKUP_TOO_SLOW,
            () -> db.backup(stream, BackupOptions.defaults()));
    assertTrue(told.getMessage().contains("a stream"), told::getMessage);
    assertGoesOn();
  }

  @Test
  void a_database_is_closed_while_a_stream_blocks() throws InterruptedException {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Watched stream =
        new Watched() {
          @Override
          void before(int write) throws IOException {
            blocked.countDown();
            try {
              closed.await();
            } catch (InterruptedException early) {
              throw new InterruptedIOException();
            }
          }
        };
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread caller =
        Thread.ofPlatform()
            .start(() -> {
              try {
                db.backup(stream, BackupOptions.defaults());
              } catch (Throwable failed) {
                thrown.set(failed);
              }
            });
    blocked.await();
    db.close();
    closed.countDown();
    caller.join();
    assertSame(DatabaseClosedException.class, thrown.get().getClass());
  }

  @Test
  void an_interrupt_ends_a_stream_that_waits_for_it() throws InterruptedException {
    Watched stream =
        new Watched() {
          @Override
          void before(int write) throws IOException {
            if (write == 2) {
              while (!Thread.interrupted()) {
                Await.pause();
              }
              throw new InterruptedIOException("interrupted");
            }
          }
        };
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    AtomicReference<Boolean> stays = new AtomicReference<>(false);
    Thread caller =
        Thread.ofPlatform()
            .start(() -> {
              try {
                db.backup(stream, BackupOptions.defaults());
              } catch (Throwable failed) {
                thrown.set(failed);
                stays.set(Thread.currentThread().isInterrupted());
              }
            });
    caller.interrupt();
    caller.join();
    assertTrue(thrown.get() instanceof CancellationException, () -> "" + thrown.get());
    assertTrue(stays.get(), "the thread stays interrupted");
    assertGoesOn();
  }

  @Test
  void a_listener_ends_a_backup_to_a_stream() {
    Watched stream = new Watched();
    BackupOptions never = BackupOptions.defaults().withListener(progress -> false);
    BackedUp.steps(
        db,
        step -> {
          if (step == BackupSteps.Step.FORCED) {
            throw new AssertionError("it went on");
          }
        });
    assertThrows(
        CancellationException.class,
        () ->
            db.backup(
                stream, never.withBytesPerSecond(1))); // so that it does not end before it is asked
    assertEquals(0, stream.flushes);
    BackedUp.steps(db, BackupSteps.NONE);
    assertGoesOn();
  }

  @Test
  void a_directory_with_something_in_it_is_refused_and_unchanged() throws IOException {
    byte[] stream = Streamed.of(db);
    Path file = Files.writeString(temporary.resolve("file"), "text");
    Refusals.assertRefused(StorageException.Reason.BACKUP_TARGET, () -> unpack(stream, file));
    assertEquals("text", Files.readString(file));
    Refusals.assertRefused(
        StorageException.Reason.BACKUP_TARGET, () -> unpack(stream, db.directory()));
    Path full = Files.createDirectory(temporary.resolve("full"));
    Files.writeString(full.resolve("note"), "text");
    Refusals.assertRefused(StorageException.Reason.BACKUP_TARGET, () -> unpack(stream, full));
    assertEquals(List.of("note"), files(full));
    Path empty = Files.createDirectory(temporary.resolve("empty"));
    unpack(stream, empty);
    assertEquals(contents(db), opened(empty));
    assertFalse(Files.exists(target));
  }
}
