package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

class DirectoriesTest {
  @TempDir Path temporary;

  private final FaultyFileSystem faulty = new FaultyFileSystem();

  @Test
  void createOwnerOnly_createsAndForcesEachName() throws IOException {
    Path directory = faulty.wrap(temporary).resolve("above").resolve("database");
    assertTrue(Directories.createOwnerOnly(directory));
    assertFalse(Directories.createOwnerOnly(directory));
    assertEquals(
        "rwx------",
        PosixFilePermissions.toString(
            Files.getPosixFilePermissions(temporary.resolve("above/database"))));
    assertEquals(1, faulty.count(IoEvent.Kind.FORCE, "above"));
    assertEquals(1, faulty.count(IoEvent.Kind.FORCE, temporary.getFileName().toString()));
  }

  @Test
  void createOwnerOnly_whereAFileIs() throws IOException {
    Path file = Files.createFile(temporary.resolve("file"));
    assertThrows(StorageIOException.class, () -> Directories.createOwnerOnly(file));
  }

  @Test
  void createOwnerOnly_readOnly() {
    faulty.readOnly(true);
    Path directory = faulty.wrap(temporary).resolve("database");
    assertThrows(ReadOnlyStorageException.class, () -> Directories.createOwnerOnly(directory));
  }

  @Test
  void force_fails() {
    faulty.failForces(true);
    assertThrows(ForceFailedException.class, () -> Directories.force(faulty.wrap(temporary)));
  }

  @Test
  void force_missing() {
    assertThrows(MissingFileException.class, () -> Directories.force(temporary.resolve("missing")));
  }

  @Test
  void exists_distinguishesPresentFromAbsent() throws IOException {
    Path file = Files.createFile(temporary.resolve("file"));
    assertTrue(Directories.exists(file));
    assertTrue(Directories.exists(temporary));
    assertFalse(Directories.exists(temporary.resolve("missing")));
    assertFalse(Directories.exists(temporary.resolve("missing").resolve("below")));
    assertFalse(Directories.exists(file.resolve("below a file")));
  }

  @Test
  void a_file_that_this_user_may_not_look_at_is_not_taken_for_a_missing_one() throws IOException {
    Files.createFile(temporary.resolve("file"));
    faulty.deny("file");
    Path file = faulty.wrap(temporary).resolve("file");
    assertFalse(Files.exists(file), "this is what the question must not be asked of");
    FileException refused =
        assertThrows(ReadOnlyStorageException.class, () -> Directories.exists(file));
    assertEquals(file, refused.file());
    assertTrue(refused.reason().contains("no permission"), refused.reason());
    assertTrue(refused.cure().startsWith("grant it"), refused.cure());
  }

  @Test
  void a_circle_of_links_is_not_taken_for_a_missing_file() throws IOException {
    Path link = temporary.resolve("link");
    Files.createSymbolicLink(link, link);
    assertFalse(Files.exists(link));
    assertThrows(StorageIOException.class, () -> Directories.exists(link));
  }
}
