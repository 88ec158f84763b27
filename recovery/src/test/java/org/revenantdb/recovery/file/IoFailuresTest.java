package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.revenantdb.latch.HybridLatch;

/** A cure fits what the system said; "check the device" is for a device. */
class IoFailuresTest {
  @TempDir Path folder;

  record Row(IOException said, Class<? extends FileException> told, String reason, String cure) {
    @Override
    public String toString() {
      return said.toString();
    }
  }

  private static Row row(
      IOException said, Class<? extends FileException> told, String reason, String cure) {
    return new Row(said, told, reason, cure);
  }

  private static Row words(
      String said, Class<? extends FileException> told, String reason, String cure) {
    return row(new IOException(said), told, reason, cure);
  }

  static List<Row> rows() {
    Class<StorageIOException> other = StorageIOException.class;
    Class<DiskFullException> full = DiskFullException.class;
    Class<ReadOnlyStorageException> refused = ReadOnlyStorageException.class;
    Class<MissingFileException> missing = MissingFileException.class;
    return List.of(
        row(new ClosedByInterruptException(), other, "interrupted", "do not interrupt"),
        row(new ClosedChannelException(), other, "closed", "open the database again"),
        row(new NoSuchFileException("/f"), missing, "no such file", "put it back"),
        row(new FileNotFoundException("/f (No such file or directory)"), missing, "no such", "put"),
        row(new FileAlreadyExistsException("/f"), other, "exists", "move it away"),
        row(new NotDirectoryException("/f"), other, "is a file", "check the path"),
        row(
            new FileSystemException("/f", null, "Not a directory"),
            other,
            "is a file",
            "check the"),
        row(new FileSystemException("/f", null, "Is a directory"), other, "a directory", "move it"),
        row(new FileSystemLoopException("/f"), other, "links", "correct the links"),
        words("Too many levels of symbolic links", other, "links", "correct the links"),
        words("File name too long", other, "too long", "shorter path"),
        words("Disk quota exceeded", full, "quota", "have the quota raised"),
        words("No space left on device", full, "device is full", "make room"),
        words("File too large", full, "larger than", "ulimit -f"),
        words("Too many open files", other, "files open", "ulimit -n"),
        words("Too many open files in system", other, "files open", "ulimit -n"),
        row(
            new FileNotFoundException("/f (Too many open files)"),
            other,
            "files open",
            "ulimit -n"),
        words("Read-only file system", refused, "read-only", "mount"),
        row(new AccessDeniedException("/f"), refused, "no permission", "grant"),
        words("Permission denied", refused, "no permission", "grant"),
        row(new FileNotFoundException("/f (Permission denied)"), refused, "permission", "grant"),
        words("Operation not permitted", refused, "no permission", "grant"),
        words("Stale file handle", other, "network", "mount it again"),
        words("Transport endpoint is not connected", other, "not answer", "connect it"),
        words("No such device or address", other, "not answer", "connect it"),
        words("No locks available", other, "does not support locks", "lock service"),
        words("Operation not supported", other, "does not support", "local file system"),
        words("Cannot allocate memory", other, "no memory", "end other processes"),
        words("Input/output error", other, "device has failed", "check the device"),
        words("something else", other, "something else", "remove its cause"),
        row(new IOException(), other, "IOException", "remove its cause"));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void the_cure_fits_the_cause(Row row) {
    FileException told = IoFailures.of(folder.resolve("a"), 4096, "writing", row.said);
    assertEquals(row.told, told.getClass());
    assertTrue(told.reason().startsWith("writing failed: "), told.reason());
    assertTrue(told.reason().contains(row.reason), told.reason());
    assertTrue(told.cure().contains(row.cure), told.cure());
    assertSame(row.said, told.getCause());
    assertEquals(4096, told.offset());
    boolean isDevice = row.reason.startsWith("device has failed");
    assertEquals(isDevice, told.cure().contains("check the device"), told.cure());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void the_cure_of_a_failed_force_fits_the_cause(Row row) {
    FileException told = new ForceFailedException(folder, "forcing the file failed", row.said);
    boolean isUnknown = row.cure.equals("remove its cause");
    assertTrue(told.cure().contains(isUnknown ? "check the device" : row.cure), told.cure());
    assertTrue(told.cure().endsWith(": it uses only what was known to be durable"), told.cure());
    assertEquals(told.cure(), new ForceFailedException(folder, "earlier", told).cure());
  }

  @Test
  void words_in_the_name_of_a_file_are_not_taken_for_the_system_s() {
    IOException said = new FileSystemException("/Permission denied/f", null, "Input/output error");
    assertEquals(StorageIOException.class, IoFailures.of(folder, 0, "reading", said).getClass());
    IOException found = new FileNotFoundException("/Permission denied/f (Input/output error)");
    assertEquals(StorageIOException.class, IoFailures.of(folder, 0, "reading", found).getClass());
  }

  // ------------------------------------------------------------------ what this system really says

  private static FileException told(Path file, OpenMode mode) {
    return assertThrows(
        FileException.class, () -> StorageFile.open(file, mode, /* ownerOnly= */ true).close());
  }

  @Test
  void a_circle_of_links_is_reported_as_one() throws IOException {
    Path one = folder.resolve("one");
    Files.createSymbolicLink(one, folder.resolve("other"));
    Files.createSymbolicLink(folder.resolve("other"), one);
    assertTrue(told(one, OpenMode.READ).reason().contains("a symbolic link"));
  }

  @Test
  void a_name_that_is_too_long_is_reported_as_one() {
    FileException told = told(folder.resolve("n".repeat(300)), OpenMode.CREATE_NEW);
    assertTrue(told.cure().contains("shorter path"), told.getMessage());
  }

  @Test
  void a_file_in_the_place_of_a_directory_is_reported_as_one() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    FileException told = told(file.resolve("below"), OpenMode.READ);
    assertTrue(told.reason().contains("is a file, not a directory"), told.getMessage());
  }

  @Test
  void a_directory_in_the_place_of_a_file_is_reported_as_one() {
    FileException told = told(folder, OpenMode.READ_WRITE);
    assertTrue(told.reason().contains("this is a directory"), told.getMessage());
  }

  @Test
  void too_many_open_files_are_reported_as_such() throws Exception {
    String told = child("ulimit -n 100", "handles");
    assertTrue(told.contains("as many files open as it may"), told);
    assertTrue(told.contains("ulimit -n"), told);
    assertFalse(told.contains("check the device"), told);
  }

  @Test
  void a_limit_of_file_sizes_is_reported_as_such() throws Exception {
    String told = child("ulimit -f 8", "size");
    assertTrue(told.startsWith("DiskFullException"), told);
    assertTrue(told.contains("ulimit -f"), told);
    assertFalse(told.contains("check the device"), told);
  }

  /** Where the classes of a module are. */
  private static Path classesOf(Class<?> one) throws URISyntaxException {
    return Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /** Runs {@link FileLimits} under a limit; what it has printed. */
  private String child(String limit, String what) throws Exception {
    Path printed = folder.resolve("printed");
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classes =
        classesOf(StorageFile.class)
            + File.pathSeparator
            + classesOf(HybridLatch.class)
            + File.pathSeparator
            + classesOf(FileLimits.class);
    Process child =
        new ProcessBuilder(
                "/bin/sh",
                "-c",
                limit + "; exec \"$@\"",
                "sh",
                java,
                "-Xshare:auto",
                "-XX:-UsePerfData",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classes,
                FileLimits.class.getName(),
                what,
                folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    try {
      child.waitFor();
    } finally {
      child.destroyForcibly().waitFor(1, TimeUnit.MINUTES);
    }
    return Files.readString(printed);
  }
}
