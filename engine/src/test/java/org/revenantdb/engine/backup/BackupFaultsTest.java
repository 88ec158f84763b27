package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.opened;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** Faults of the target: the call names the file, the database goes on, nothing wrong opens. */
class BackupFaultsTest {
  @TempDir Path temporary;
  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private Database db;
  private Map<String, Map<String, String>> expected;

  @BeforeEach
  void open() {
    db = Database.open(temporary.resolve("db"), SMALL);
    put(db, "rows", 0, 1_500, 1, 200);
    expected = contents(db);
  }

  @AfterEach
  void close() {
    db.close();
  }

  private Path target(String name) {
    return faulty.wrap(temporary.resolve(name));
  }

  private static List<String> names(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(FaultyFileSystem.unwrap(folder))) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private void assertGoesOn() {
    put(db, "others", 0, 10, 1, 10);
    db.checkpoint();
    db.dropTable("others");
  }

  private void assertNamed(StorageException told, Path target) {
    assertTrue(
        told.file().toString().startsWith(target.toString())
            || target.toString().startsWith(told.file().toString()),
        told::getMessage);
  }

  @Test
  void each_operation_of_the_target_fails_once() throws IOException {
    boolean failed = true;
    int operation = 0;
    for (; failed; operation++) {
      Path target = target("once" + operation);
      AtomicInteger before = new AtomicInteger(operation);
      faulty.hook(event -> {
        if (event.kind() != IoEvent.Kind.READ && before.getAndDecrement() == 0) {
          throw new IOException("Input/output error");
        }
      });
      try {
        db.backup(target);
        failed = before.get() < 0;
        assertFalse(failed, "a failed operation that nobody has noticed");
      } catch (StorageException told) {
        assertNamed(told, target);
        assertFalse(Files.exists(FaultyFileSystem.unwrap(target)), told::getMessage);
      }
      faulty.hook(event -> {});
      assertGoesOn();
      if (!failed) {
        assertEquals(expected, opened(target));
      }
    }
    assertTrue(operation > 20, "only " + operation + " operations");
  }

  @Test
  void each_operation_of_the_target_of_a_stream_fails_once() throws IOException {
    byte[] stream = Streamed.of(db);
    boolean failed = true;
    int operation = 0;
    for (; failed; operation++) {
      Path target = target("once" + operation);
      AtomicInteger before = new AtomicInteger(operation);
      faulty.hook(event -> {
        if (event.kind() != IoEvent.Kind.READ && before.getAndDecrement() == 0) {
          throw new IOException("Input/output error");
        }
      });
      try {
        Database.unpackBackup(new ByteArrayInputStream(stream), target);
        failed = before.get() < 0;
        assertFalse(failed, "a failed operation that nobody has noticed");
      } catch (StorageException told) {
        assertNamed(told, target);
        assertFalse(Files.exists(FaultyFileSystem.unwrap(target)), told::getMessage);
      }
      faulty.hook(event -> {});
      if (!failed) {
        assertEquals(expected, opened(target));
      }
    }
    assertTrue(operation > 20, "only " + operation + " operations");
  }

  @Test
  void each_operation_of_the_target_of_an_increment_fails_once() throws IOException {
    Path whole = temporary.resolve("whole");
    String base = db.backup(whole).id();
    put(db, "rows", 0, 300, 2, 200);
    expected = contents(db);
    eachFailsOnce(
        target -> db.backup(target, BackupOptions.defaults().withSince(base)),
        target -> {
          Path result = temporary.resolve("result");
          Database.applyBackups(List.of(whole, FaultyFileSystem.unwrap(target)), result);
          assertEquals(expected, opened(result));
        });
  }

  @Test
  void each_operation_of_the_target_of_a_chain_fails_once() throws IOException {
    Path whole = temporary.resolve("whole");
    String base = db.backup(whole).id();
    put(db, "rows", 0, 300, 2, 200);
    expected = contents(db);
    Path increment = temporary.resolve("increment");
    db.backup(increment, BackupOptions.defaults().withSince(base));
    eachFailsOnce(
        target -> Database.applyBackups(List.of(whole, increment), target),
        target -> assertEquals(expected, opened(target)));
  }

  private void eachFailsOnce(Consumer<Path> make, Consumer<Path> check) {
    boolean failed = true;
    int operation = 0;
    for (; failed; operation++) {
      Path target = target("once" + operation);
      AtomicInteger before = new AtomicInteger(operation);
      faulty.hook(event -> {
        if (event.kind() != IoEvent.Kind.READ && before.getAndDecrement() == 0) {
          throw new IOException("Input/output error");
        }
      });
      try {
        make.accept(target);
        failed = before.get() < 0;
        assertFalse(failed, "a failed operation that nobody has noticed");
      } catch (StorageException told) {
        assertNamed(told, target);
        assertFalse(Files.exists(FaultyFileSystem.unwrap(target)), told::getMessage);
      }
      faulty.hook(event -> {});
      assertGoesOn();
      if (!failed) {
        check.accept(target);
      }
    }
    assertTrue(operation > 5, "only " + operation + " operations");
  }

  /** A full disk is a reason to make a backup. */
  @Test
  void a_backup_that_cannot_be_noted_is_good_and_no_base() throws IOException {
    db.close();
    Path directory = faulty.wrap(temporary.resolve("noted"));
    db = Database.open(directory, SMALL);
    put(db, "rows", 0, 1_500, 1, 200);
    String first = db.backup(temporary.resolve("first")).id();
    for (IoEvent.Kind kind : List.of(IoEvent.Kind.WRITE, IoEvent.Kind.FORCE)) {
      faulty.hook(event -> {
        if (event.is(kind, BackupNotes.NEW_NAME)) {
          throw new IOException("No space left on device");
        }
      });
      Path target = temporary.resolve("copy" + kind);
      assertNull(db.backup(target).id());
      assertEquals(contents(db), opened(target));
      faulty.hook(event -> {});
    }
    put(db, "rows", 0, 10, 2, 200);
    Path increment = temporary.resolve("increment");
    assertNotNull(db.backup(increment, BackupOptions.defaults().withSince(first)).id());
    Path result = temporary.resolve("result");
    Database.applyBackups(List.of(temporary.resolve("first"), increment), result);
    assertEquals(contents(db), opened(result));
  }

  @Test
  void all_operations_of_the_target_fail_from_one_on() throws IOException {
    boolean failed = true;
    int operation = 0;
    for (; failed; operation++) {
      Path target = target("from" + operation);
      AtomicInteger before = new AtomicInteger(operation);
      faulty.hook(event -> {
        if (event.kind() != IoEvent.Kind.READ && before.getAndDecrement() <= 0) {
          throw new IOException("Input/output error");
        }
      });
      try {
        db.backup(target);
        failed = false;
      } catch (StorageException told) {
        assertNamed(told, target);
      }
      faulty.hook(event -> {});
      assertGoesOn();
      if (!failed) {
        assertEquals(expected, opened(target));
      } else if (Files.exists(FaultyFileSystem.unwrap(target)) && !names(target).isEmpty()) {
        List<String> left = names(target);
        if (left.contains("revenant.data")) { // only the force of this name has failed
          assertEquals(List.of("log", "revenant.data", "revenant.dw"), left);
          assertEquals(expected, opened(target));
          continue;
        }
        assertTrue(left.contains(BackupTarget.UNFINISHED), left::toString);
        StorageException told =
            assertThrows(StorageException.class, () -> Database.open(target, SMALL));
        assertTrue(told.getMessage().contains("unfinished backup"), told::getMessage);
        assertEquals(left, names(target));
      }
    }
    assertTrue(operation > 20, "only " + operation + " operations");
  }

  @Test
  void the_target_is_full() throws IOException {
    for (int kib = 0; kib < 600; kib += 40) {
      Path target = target("full" + kib);
      faulty.diskFullAfter(kib << 10);
      StorageException told = assertThrows(StorageException.class, () -> db.backup(target));
      assertEquals(StorageException.Reason.DISK_FULL, told.reason(), told::getMessage);
      assertNamed(told, target);
      assertFalse(Files.exists(FaultyFileSystem.unwrap(target)));
      assertGoesOn();
    }
    faulty.diskFullAfter(Long.MAX_VALUE);
    db.backup(target("roomy"));
    assertEquals(expected, opened(target("roomy")));
  }

  @Test
  void the_target_cannot_be_written() {
    faulty.readOnly(true);
    Path target = target("denied");
    StorageException told = assertThrows(StorageException.class, () -> db.backup(target));
    assertEquals(StorageException.Reason.ACCESS_DENIED, told.reason(), told::getMessage);
    assertFalse(Files.exists(FaultyFileSystem.unwrap(target)));
    assertGoesOn();
  }

  @Test
  void the_target_goes_away() throws IOException {
    Path target = target("gone");
    Path moved = temporary.resolve("moved");
    BackedUp.between(
        db,
        BackupSteps.Step.ALL_PAGES_COPIED,
        () -> {
          try {
            Files.move(FaultyFileSystem.unwrap(target), moved);
          } catch (IOException failed) {
            throw new AssertionError(failed);
          }
        });
    StorageException told = assertThrows(StorageException.class, () -> db.backup(target));
    assertNamed(told, target);
    assertTrue(names(moved).contains(BackupTarget.UNFINISHED), () -> "what was moved");
    StorageException refused =
        assertThrows(StorageException.class, () -> Database.open(moved, SMALL));
    assertTrue(refused.getMessage().contains("unfinished backup"), refused::getMessage);
    assertGoesOn();
  }

  /** No fault: what the target is asked for. */
  @Test
  void pages_are_forced_piece_by_piece_only_beside_commits() throws InterruptedException {
    put(db, "rows", 0, 20_000, 2, 200);
    AtomicInteger forces = new AtomicInteger();
    faulty.hook(event -> {
      if (event.is(IoEvent.Kind.FORCE, BackupTarget.UNFINISHED)) {
        forces.incrementAndGet();
      }
    });
    db.backup(target("alone"));
    int alone = forces.get(); // header, slots and pages, at the end
    assertEquals(3, alone);
    AtomicBoolean stopped = new AtomicBoolean();
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              while (!stopped.get()) {
                put(db, "rows", 0, 1, 3, 200);
              }
            });
    try {
      do { // until a commit came while a piece was copied
        forces.set(0);
        db.backup(target("beside" + System.nanoTime()));
      } while (forces.get() <= alone && writer.isAlive());
      assertTrue(writer.isAlive(), "it has failed");
    } finally {
      stopped.set(true);
      writer.join();
    }
  }

  @Test
  void writes_to_the_target_come_up_short() {
    faulty.shortWrites(700);
    db.backup(target("short"));
    faulty.shortWrites(Integer.MAX_VALUE);
    assertEquals(expected, opened(target("short")));
  }
}
