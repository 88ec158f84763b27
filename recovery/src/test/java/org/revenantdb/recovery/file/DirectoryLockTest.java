package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.LockingProcess;

class DirectoryLockTest {
  private static final long ME = ProcessHandle.current().pid();

  @TempDir Path directory;

  private final FaultyFileSystem faulty = new FaultyFileSystem();
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  /** Starts another JVM that wants the lock; its first line says what came of it. */
  private Process other(String mode) throws IOException, URISyntaxException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-cp",
            root(LockingProcess.class) + java.io.File.pathSeparator + root(DirectoryLock.class),
            LockingProcess.class.getName(),
            directory.toString(),
            mode);
    Process process = builder.redirectErrorStream(true).start();
    processes.add(process);
    return process;
  }

  /** The folder that a class was loaded from. */
  private static String root(Class<?> type) throws URISyntaxException {
    String name = type.getName().replace('.', '/') + ".class";
    Path file = Path.of(type.getResource("/" + name).toURI());
    Path root = file;
    for (int i = Path.of(name).getNameCount(); i > 0; i--) {
      root = root.getParent();
    }
    return root.toString();
  }

  private static String firstLine(Process process) throws IOException {
    BufferedReader reader = process.inputReader();
    return reader.readLine();
  }

  @Test
  void twiceInOneJvm_isRefused() {
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      for (boolean shared : new boolean[] {false, true}) {
        DatabaseLockedException e =
            assertThrows(
                DatabaseLockedException.class, () -> DirectoryLock.acquire(directory, shared));
        assertEquals(ME, e.holderPid());
        assertTrue(e.getMessage().contains("this process (" + ME + ")"), e.getMessage());
      }
    }
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void twiceInOneJvm_byAnotherName_isRefused() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory);
    Path dotted = directory.resolve("x").resolve("..").normalize();
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      assertThrows(
          DatabaseLockedException.class, () -> DirectoryLock.acquire(link, /* shared= */ false));
      assertThrows(
          DatabaseLockedException.class, () -> DirectoryLock.acquire(dotted, /* shared= */ false));
    }
  }

  @Test
  void twiceInOneJvm_throughAnotherFileSystem_isRefusedAndTheLockStays()
      throws IOException, URISyntaxException {
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      assertThrows(
          DatabaseLockedException.class,
          () -> DirectoryLock.acquire(faulty.wrap(directory), /* shared= */ false));
      assertTrue(firstLine(other("exclusive")).startsWith("refused"));
    }
  }

  @Test
  void refusedInOneJvm_doesNotReleaseTheSystemsLock() throws IOException, URISyntaxException {
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      assertThrows(
          DatabaseLockedException.class,
          () -> DirectoryLock.acquire(directory, /* shared= */ false));
      String answer = firstLine(other("exclusive"));
      assertTrue(answer.startsWith("refused " + ME + " "), answer);
      assertTrue(answer.contains("process " + ME + ", started "), answer);
      assertTrue(answer.contains("since "), answer);
    }
  }

  @Test
  void sharedTwice_thenExclusiveIsRefusedUntilBothAreClosed()
      throws IOException, URISyntaxException {
    DirectoryLock first = DirectoryLock.acquire(directory, /* shared= */ true);
    DirectoryLock second = DirectoryLock.acquire(directory, /* shared= */ true);
    assertEquals("locked", firstLine(other("shared")));
    first.close();
    first.close();
    assertThrows(
        DatabaseLockedException.class, () -> DirectoryLock.acquire(directory, /* shared= */ false));
    String answer = firstLine(other("exclusive"));
    assertTrue(answer.startsWith("refused -1 "), answer);
    assertTrue(answer.contains("perhaps one that only reads"), answer);
    second.close();
  }

  @Test
  void anotherJvm_isNamedAndItsDeathReleases()
      throws IOException, URISyntaxException, InterruptedException {
    Process other = other("exclusive");
    assertEquals("locked", firstLine(other));
    for (boolean shared : new boolean[] {false, true}) {
      DatabaseLockedException e =
          assertThrows(
              DatabaseLockedException.class, () -> DirectoryLock.acquire(directory, shared));
      assertEquals(other.pid(), e.holderPid());
      assertTrue(e.getMessage().contains("process " + other.pid() + ", started "), e.getMessage());
      assertEquals(directory.resolve("revenant.lock"), e.file());
    }
    other.destroyForcibly().waitFor();
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void textOfADeadHolder_isNotTakenForTheTruth()
      throws IOException, URISyntaxException, InterruptedException {
    Process dead = other("exclusive");
    assertEquals("locked", firstLine(dead));
    dead.destroyForcibly().waitFor();
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ true)) {
      String answer = firstLine(other("exclusive"));
      assertTrue(answer.contains("the last that wrote its name was"), answer);
      assertTrue(answer.contains("not visible from here"), answer);
    }
  }

  @Test
  void textWithoutSense_isNoError() throws IOException {
    Files.writeString(directory.resolve("revenant.lock"), "pid=x\n=\nsince\n\u0000");
    DirectoryLock.acquire(directory, /* shared= */ true).close();
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void lockFile_isForItsOwnerNamesTheHolderAndStays() throws IOException {
    Path file = directory.resolve("revenant.lock");
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
      assertTrue(Files.readString(file).startsWith("pid=" + ME + "\nstarted="));
    }
    assertEquals(0, Files.size(file));
  }

  @Test
  void shared_readOnlyDirectory() throws IOException {
    faulty.readOnly(true);
    Path readOnly = faulty.wrap(directory);
    DirectoryLock.acquire(readOnly, /* shared= */ true).close();
    assertFalse(Files.exists(directory.resolve("revenant.lock")));
    assertThrows(
        ReadOnlyStorageException.class, () -> DirectoryLock.acquire(readOnly, /* shared= */ false));
    Files.createFile(directory.resolve("revenant.lock"));
    try (DirectoryLock _ = DirectoryLock.acquire(readOnly, /* shared= */ true)) {
      assertEquals(0, Files.size(directory.resolve("revenant.lock")));
    }
  }

  @Test
  void exclusive_fullDisk_opensWithoutAName() throws IOException {
    faulty.diskFullAfter(0);
    DirectoryLock.acquire(faulty.wrap(directory), /* shared= */ false).close();
    assertEquals(0, Files.size(directory.resolve("revenant.lock")));
  }

  @Test
  void noDirectory() throws IOException {
    assertThrows(
        MissingFileException.class,
        () -> DirectoryLock.acquire(directory.resolve("missing"), /* shared= */ false));
    Path file = Files.createFile(directory.resolve("file"));
    assertThrows(
        NotADatabaseException.class, () -> DirectoryLock.acquire(file, /* shared= */ false));
  }
}
