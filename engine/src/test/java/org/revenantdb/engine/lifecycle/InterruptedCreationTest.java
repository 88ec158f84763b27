package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStoppedException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.log.RingFile;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/**
 * What an interrupted creation left is cleared by the next open, which may be interrupted as well.
 * The new data file is the proof that it was a creation; it was deleted before the rest, and the
 * rest alone looked like a database that lost its data file.
 */
class InterruptedCreationTest {
  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults()
          .withPoolBytes(2 << 20)
          .withLogSegmentBytes(1 << 20)
          .withMaxRecoveryLog(4 << 20);

  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();

  private static void interrupted() throws IOException {
    throw new IOException("Input/output error");
  }

  /** A creation that got as far as it can without coming into being. */
  private Path leftOvers(String name) throws IOException {
    Path directory = faulty.wrap(Files.createDirectory(temporary.resolve(name)));
    faulty.hook(event -> {
      if (event.is(IoEvent.Kind.RENAME, DatabaseFiles.DATA)) {
        interrupted();
      }
    });
    assertThrows(StorageException.class, () -> Database.open(directory, OPTIONS));
    faulty.hook(event -> {});
    assertEquals(
        List.of("log", "revenant.data.new", "revenant.dw", "revenant.lock"), names(directory));
    return directory;
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(FaultyFileSystem.unwrap(directory))) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static boolean clearsUp(IoEvent event) {
    return event.kind() == IoEvent.Kind.DELETE || event.kind() == IoEvent.Kind.FORCE;
  }

  @Test
  void a_creation_interrupted_again_at_each_step_of_the_clean_up_can_still_be_opened()
      throws IOException {
    boolean cameToCreating = false;
    int steps = 0;
    for (; !cameToCreating; steps++) {
      Path directory = leftOvers("step" + steps);
      AtomicInteger before = new AtomicInteger(steps);
      List<IoEvent> last = new ArrayList<>();
      faulty.hook(event -> {
        if (clearsUp(event) && before.getAndDecrement() == 0) {
          last.add(event);
        }
        if (!last.isEmpty()) {
          interrupted(); // nothing more reaches the disk
        }
        if (event.is(IoEvent.Kind.CREATE_DIRECTORY, DatabaseFiles.LOG)) {
          last.add(event);
        }
      });
      assertThrows(StorageException.class, () -> Database.open(directory, OPTIONS));
      faulty.hook(event -> {});
      cameToCreating = last.getFirst().kind() == IoEvent.Kind.CREATE_DIRECTORY;
      String story = "interrupted at " + last.getFirst() + ", which left " + names(directory);
      try (Database database = Database.open(directory, OPTIONS)) {
        byte[] value = {1, 2, 3};
        database.run(tx -> tx.put(database.getOrCreateTable("t"), new byte[] {1}, value));
        assertArrayEquals(
            value,
            database.call(tx -> tx.get(database.getOrCreateTable("t"), new byte[] {1})),
            story);
      } catch (StorageException refused) {
        throw new AssertionError(story, refused);
      }
    }
    assertTrue(steps > 5, "only " + steps + " steps of cleaning up");
  }

  /** A failed close of the log used to hide the file that had failed before. */
  @Test
  void a_creation_that_fails_at_any_step_names_a_file() throws IOException {
    int steps = 0;
    boolean failed = true;
    for (; failed; steps++) {
      Path directory = faulty.wrap(Files.createDirectory(temporary.resolve("fails" + steps)));
      AtomicInteger before = new AtomicInteger(steps);
      faulty.hook(event -> {
        if (event.kind() != IoEvent.Kind.READ && before.getAndDecrement() <= 0) {
          interrupted();
        }
      });
      try {
        Database.open(directory, OPTIONS).close();
        failed = false;
      } catch (StorageException named) {
        failed = true;
      } catch (DatabaseStoppedException stopped) {
        failed = false; // it was created, and failed when it was closed
      } finally {
        faulty.hook(event -> {});
      }
    }
    assertTrue(steps > 30, "only " + steps + " steps of a creation");
  }

  /** A power cut may keep a later deletion and lose an earlier one, unless they were forced. */
  @Test
  void the_proof_of_an_interrupted_creation_goes_after_the_rest_is_gone_for_good()
      throws IOException {
    Path directory = leftOvers("order");
    faulty.clearEvents();
    Database.open(directory, OPTIONS).close();
    List<String> story = new ArrayList<>();
    for (IoEvent event : faulty.events()) {
      if (clearsUp(event)) {
        story.add(event.toString());
      }
      if (event.is(IoEvent.Kind.DELETE, DatabaseFiles.NEW_DATA)) {
        break;
      }
    }
    int proof = story.indexOf("DELETE " + DatabaseFiles.NEW_DATA);
    assertEquals(story.size() - 1, proof, "deletions, then the proof's: " + story);
    assertEquals("FORCE order", story.get(proof - 1), "the names are forced before it: " + story);
    assertTrue(story.contains("DELETE " + DatabaseFiles.DOUBLE_WRITE));
    assertTrue(
        story.indexOf("FORCE log") < story.indexOf("DELETE log"),
        "the log's names before its own: " + story);
  }

  /**
   * It was deleted with the commits that only the ring has, although no creation makes one: the
   * data file of a database was renamed.
   */
  @Test
  void a_ring_beside_a_new_data_file_is_refused_and_nothing_is_changed() throws IOException {
    for (String name : List.of(RingFile.NAME, RingFile.UNFINISHED)) {
      Path directory = FaultyFileSystem.unwrap(leftOvers("with-" + name));
      Files.write(directory.resolve(name), new byte[] {1, 2, 3});
      Map<String, String> before = contents(directory);
      StorageException refused =
          assertThrows(StorageException.class, () -> Database.open(directory, OPTIONS));
      assertEquals(directory.resolve(name), refused.file());
      assertTrue(refused.getMessage().contains("a creation makes no ring"), refused.getMessage());
      assertTrue(refused.getMessage().contains("else move this file away"), refused.getMessage());
      assertEquals(before, contents(directory));
      Files.delete(directory.resolve(name));
      Database.open(directory, OPTIONS).close();
    }
  }

  /** All files but the one whose content may change in any open (format.md §9). */
  private static Map<String, String> contents(Path directory) throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (!file.endsWith(DatabaseFiles.LOCK)) {
          contents.put(
              directory.relativize(file).toString(),
              HexFormat.of().formatHex(Files.readAllBytes(file)));
        }
      }
    }
    return contents;
  }
}
