package org.revenantdb.engine.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.archive.Archived.restored;
import static org.revenantdb.engine.archive.Archived.shipped;
import static org.revenantdb.engine.archive.Archived.small;
import static org.revenantdb.engine.backup.BackedUp.SMALL;
import static org.revenantdb.engine.backup.BackedUp.contents;
import static org.revenantdb.engine.backup.BackedUp.put;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.CorruptDataException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RestoreRequest;
import org.revenantdb.engine.StorageException;

/**
 * A damaged archive is refused with file, place and cure, or gives a moment as it was; never
 * another state. {@code -Drevenant.seed=n} repeats a run.
 */
class ArchiveDamageTest {
  @TempDir Path temporary;
  private Path archive;
  private final Map<Long, Map<String, Map<String, String>>> moments = new HashMap<>();
  private long last;
  private int made;

  @BeforeEach
  void make() {
    archive = temporary.resolve("archive");
    for (int life = 0; life < 3; life++) {
      try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
        for (int i = 0; i < 3; i++) {
          put(db, "rows", 10 * i, 10 * i + 60, life * 3 + i, 300);
          db.archiveNow();
          last = shipped(db);
          moments.put(last, contents(db));
        }
      }
    }
  }

  private Path next() {
    return temporary.resolve("target" + made++);
  }

  private static void flip(Path file, long at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[(int) at] ^= 0x10;
    Files.write(file, bytes);
  }

  private void assertNamed(StorageException told, Path file) {
    assertEquals(file, told.file(), told::getMessage);
    assertTrue(told.getMessage().contains("restore to a moment before it"), told::getMessage);
  }

  @Test
  void a_block_that_is_damaged_in_the_middle_is_refused_with_its_place() throws IOException {
    Path file = Archived.files(archive, ".rva").getFirst();
    flip(file, ArchiveLayout.SECTOR + 100);
    StorageException told = Archived.refused(archive, next(), RestoreRequest.latest());
    assertTrue(told instanceof CorruptDataException);
    assertNamed(told, file);
    assertEquals(ArchiveLayout.SECTOR, told.offset());
  }

  @Test
  void a_file_of_the_log_that_is_missing_is_refused() throws IOException {
    Path file = Archived.files(archive, ".rva").get(1);
    Files.delete(file);
    StorageException told = Archived.refused(archive, next(), RestoreRequest.latest());
    assertNamed(told, file);
    assertEquals(StorageException.Reason.MISSING_FILE, told.reason());
  }

  @Test
  void a_file_of_the_log_that_is_cut_is_refused() throws IOException {
    Path file = Archived.files(archive, ".rva").getFirst();
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 7));
    assertNamed(Archived.refused(archive, next(), RestoreRequest.latest()), file);
  }

  @Test
  void headers_and_notes_that_are_damaged_are_refused() throws IOException {
    for (Path file :
        List.of(
            archive.resolve(ArchiveFiles.HEADER),
            Archived.files(archive, ".rva").getFirst(),
            Archived.files(archive, ".rvb").getFirst())) {
      flip(file, 40);
      assertNamed(Archived.refused(archive, next(), RestoreRequest.latest()), file);
      flip(file, 40);
    }
    assertEquals(moments.get(last), restored(archive, next(), RestoreRequest.atLsn(last)));
  }

  @Test
  void a_page_of_a_base_that_is_damaged_is_refused() throws IOException {
    Path file = archive.resolve("base-0000000001").resolve("revenant.data");
    flip(file, 5 * 8192 + 200);
    StorageException told = Archived.refused(archive, next(), RestoreRequest.latest());
    assertNamed(told, file);
    assertEquals(5 * 8192, told.offset());
  }

  @Test
  void a_base_that_was_opened_for_writing_is_refused() {
    Path base = archive.resolve("base-0000000001");
    Database.open(base, SMALL).close();
    StorageException told = Archived.refused(archive, next(), RestoreRequest.latest());
    assertNamed(told, base.resolve("revenant.data"));
    assertTrue(told.getMessage().contains("opened for writing"), told::getMessage);
  }

  @Test
  void the_database_tells_that_its_archive_is_damaged_and_goes_on() throws IOException {
    List<Path> logs = Archived.files(archive, ".rva");
    flip(logs.getLast(), ArchiveLayout.SECTOR + 60);
    try (Database db = Database.open(temporary.resolve("db"), small(archive))) {
      StorageException told = assertThrows(StorageException.class, db::archiveNow);
      assertNamed(told, logs.getLast());
      put(db, "rows", 0, 10, 1, 10);
    }
  }

  @Test
  @Tag("slow")
  void whatever_byte_is_damaged_no_other_state_comes_out() throws IOException {
    long seed = Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
    Random random = new Random(seed);
    List<Path> files = new ArrayList<>(Archived.files(archive, ".rva"));
    files.addAll(Archived.files(archive.resolve("base-0000000001").resolve("log"), ".log"));
    files.add(archive.resolve("base-0000000001").resolve("revenant.data"));
    int refused = 0;
    int rounds = Boolean.getBoolean("revenant.long") ? 2_000 : 40;
    for (int i = 0; i < rounds; i++) {
      Path file = files.get(random.nextInt(files.size()));
      long at = random.nextLong(Files.size(file));
      flip(file, at);
      try {
        Path target = next();
        try {
          Database.restore(archive, target, RestoreRequest.atLsn(last));
          try (Database db = Database.open(target, SMALL.withReadOnly(true))) {
            assertEquals(moments.get(last), contents(db), "-Drevenant.seed=" + seed);
          }
        } catch (StorageException told) {
          refused++;
        }
      } finally {
        flip(file, at);
      }
    }
    int times = refused;
    assertTrue(refused > 0, () -> times + " refused, -Drevenant.seed=" + seed);
    assertEquals(moments.get(last), restored(archive, next(), RestoreRequest.atLsn(last)));
  }
}
