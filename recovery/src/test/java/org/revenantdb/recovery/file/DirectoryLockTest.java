package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.latch.PatientLock;
import org.revenantdb.recovery.testing.Await;
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
            String.join(
                File.pathSeparator,
                root(LockingProcess.class),
                root(DirectoryLock.class),
                latches().toString()),
            LockingProcess.class.getName(),
            directory.toString(),
            mode);
    Process process = builder.redirectErrorStream(true).start();
    processes.add(process);
    return process;
  }

  /** Folder or archive of the module that files stand on. */
  private static Path latches() throws URISyntaxException {
    return Path.of(PatientLock.class.getProtectionDomain().getCodeSource().getLocation().toURI());
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
  void a_lock_file_that_is_a_symbolic_link_is_refused_and_what_it_leads_to_stays()
      throws IOException {
    Path data = Files.writeString(directory.resolve("data"), "precious");
    Path link = Files.createSymbolicLink(directory.resolve(DirectoryLock.FILE_NAME), data);
    DamagedFileException e =
        assertThrows(
            DamagedFileException.class,
            () -> DirectoryLock.acquire(directory, /* shared= */ false));
    assertEquals(link, e.file());
    assertEquals("precious", Files.readString(data));
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
    assertTrue(answer.contains("it may be a reader"), answer);
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
      assertTrue(answer.contains("the last process that wrote the lock file was"), answer);
      assertTrue(answer.contains("not visible from here"), answer);
    }
  }

  // -------------------------------------------------- the lock is lost, the text counts

  @Test
  void aProgramThatReadsTheLockFileInTheOwnersProcess_doesNotLetASecondProcessIn()
      throws IOException, URISyntaxException {
    Path file = directory.resolve("revenant.lock");
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      Files.readString(file); // closing a channel of the file gives up the lock of the process
      for (String mode : List.of("exclusive", "shared")) {
        String answer = firstLine(other(mode));
        assertTrue(answer.startsWith("refused " + ME + " "), answer);
        assertTrue(answer.contains("process " + ME + ", started "), answer);
        assertTrue(answer.contains(" on host "), answer);
        assertTrue(answer.contains("has lost the lock of the operating system"), answer);
      }
    }
    assertEquals("locked", firstLine(other("exclusive")));
  }

  @Test
  void aCopyOfTheDirectory_isNotTakenForTheOneThatIsOpen() throws IOException, URISyntaxException {
    Path copy = Files.createDirectory(directory.resolve("copy"));
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      Files.copy(directory.resolve("revenant.lock"), copy.resolve("revenant.lock"));
      directory = copy;
      assertEquals("locked", firstLine(other("exclusive")));
    }
  }

  /** What a process that lives would have left in the lock file, with some lines changed. */
  private void leaveText(Process owner, String line, String other) throws IOException {
    Path file = directory.resolve("revenant.lock");
    String text = Files.readString(file);
    assertTrue(text.startsWith("pid=" + owner.pid() + "\n"), text);
    String changed = text.replaceFirst("(?m)^" + line + "=.*$", line + "=" + other);
    assertTrue(!changed.equals(text), "there is no line " + line);
    Files.writeString(file, changed);
  }

  /** The lock of a process that lives is taken away from it: only the text is left. */
  private Process ownerWithoutALock() throws IOException, URISyntaxException {
    Process owner = other("exclusive");
    assertEquals("locked", firstLine(owner));
    byte[] text = Files.readAllBytes(directory.resolve("revenant.lock"));
    Path moved = directory.resolve("revenant.lock.locked");
    Files.move(directory.resolve("revenant.lock"), moved);
    Files.write(directory.resolve("revenant.lock"), text);
    String key = FileIdentity.of(directory.resolve("revenant.lock")).key().toString();
    leaveText(owner, "file", key.replace("$", "\\$"));
    return owner;
  }

  @Test
  void aTextThatNamesALivingProcess_refuses_untilThatProcessIsDead()
      throws IOException, URISyntaxException, InterruptedException {
    Process owner = ownerWithoutALock();
    for (boolean shared : new boolean[] {false, true}) {
      DatabaseLockedException e =
          assertThrows(
              DatabaseLockedException.class, () -> DirectoryLock.acquire(directory, shared));
      assertEquals(owner.pid(), e.holderPid());
    }
    owner.destroyForcibly().waitFor();
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void aPidThatAnotherProgramHasNow_doesNotRefuse() throws IOException, URISyntaxException {
    Process owner = ownerWithoutALock();
    leaveText(owner, "ticks", "17");
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void aPidOfAnEarlierBoot_doesNotRefuse() throws IOException, URISyntaxException {
    leaveText(ownerWithoutALock(), "boot", "00000000-0000-0000-0000-000000000000");
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void aPidOfAnotherContainer_doesNotRefuse() throws IOException, URISyntaxException {
    leaveText(ownerWithoutALock(), "space", "pid:[1]");
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void aZombie_isDead() throws Exception {
    // A child whose parent has become a program that does not collect it.
    Path fifo = directory.resolve("fifo");
    assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    Process shell =
        new ProcessBuilder(
                "sh", "-c", "cat < \"$0\" & echo $!; exec sleep 1000000", fifo.toString())
            .start();
    processes.add(shell);
    long child = Long.parseLong(firstLine(shell));
    while (!Files.readString(Path.of("/proc/" + shell.pid() + "/comm")).startsWith("sleep")) {
      Await.pause();
    }
    Files.writeString(fifo, "the child ends");
    while (!Files.readString(Path.of("/proc/" + child + "/stat")).contains(") Z ")) {
      Await.pause();
    }
    ProcessIdentity me = ProcessIdentity.me();
    ProcessIdentity zombie = new ProcessIdentity(child, "", "", me.host(), me.boot(), me.space());
    assertEquals(ProcessIdentity.Life.DEAD, zombie.life());
    assertEquals(
        ProcessIdentity.Life.ALIVE,
        new ProcessIdentity(shell.pid(), "", "", me.host(), me.boot(), me.space()).life());
  }

  @Test
  void aFailedOpen_putsBackTheTextThatItFound() throws Exception {
    Process dead = other("exclusive");
    assertEquals("locked", firstLine(dead));
    dead.destroyForcibly().waitFor();
    byte[] before = Files.readAllBytes(directory.resolve("revenant.lock"));
    try (DirectoryLock lock = DirectoryLock.acquire(directory, /* shared= */ false)) {
      lock.putBack();
    }
    assertArrayEquals(before, Files.readAllBytes(directory.resolve("revenant.lock")));
  }

  // ----------------------------------------------------------------------------- class loaders

  private static Class<?> anotherCopy() throws Exception {
    URLClassLoader loader =
        new URLClassLoader(
            new URL[] {
              Path.of(root(DirectoryLock.class)).toUri().toURL(), latches().toUri().toURL()
            },
            /* parent= */ null); // any other one finds the classes of this module
    return loader.loadClass(DirectoryLock.class.getName());
  }

  private static Throwable refusedBy(Class<?> copy, Path directory, boolean shared)
      throws Exception {
    Method acquire = copy.getMethod("acquire", Path.class, boolean.class);
    return assertThrows(
            InvocationTargetException.class, () -> acquire.invoke(null, directory, shared))
        .getCause();
  }

  private static long openHandles() throws IOException {
    try (Stream<Path> handles = Files.list(Path.of("/proc/self/fd"))) {
      return handles.count();
    }
  }

  @Test
  void refusedOpensOfAnotherClassLoader_leaveNoHandleAndDoNotReleaseTheLock() throws Exception {
    Class<?> copy = anotherCopy();
    Path link = Files.createSymbolicLink(directory.resolve("link"), directory);
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      long before = openHandles();
      for (int i = 0; i < 1_000; i++) {
        refusedBy(copy, directory, /* shared= */ true);
        Throwable refused = refusedBy(copy, link, /* shared= */ false);
        assertTrue(refused.getMessage().contains("another class loader"), refused.getMessage());
      }
      assertTrue(openHandles() < before + 100, "2,000 refused opens leave no handles");
      String answer = firstLine(other("exclusive"));
      assertTrue(answer.startsWith("refused " + ME + " "), answer);
      assertFalse(answer.contains("has lost the lock"), answer);
    }
    AutoCloseable lock =
        (AutoCloseable)
            copy.getMethod("acquire", Path.class, boolean.class).invoke(null, directory, false);
    assertThrows(
        DatabaseLockedException.class, () -> DirectoryLock.acquire(directory, /* shared= */ false));
    lock.close();
    DirectoryLock.acquire(directory, /* shared= */ false).close();
  }

  @Test
  void aHolderThatIsNotInTheTableOfTheJvm_isStillRefused_andLeavesOneHandle() throws Exception {
    Class<?> copy = anotherCopy();
    Properties properties = System.getProperties();
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ false)) {
      System.setProperties(new Properties());
      try {
        refusedBy(copy, directory, /* shared= */ false);
        long before = openHandles();
        for (int i = 0; i < 1_000; i++) {
          refusedBy(copy, directory, /* shared= */ false);
        }
        assertTrue(openHandles() < before + 100, "1,000 refused opens use one handle");
      } finally {
        System.setProperties(properties);
      }
      assertTrue(firstLine(other("exclusive")).startsWith("refused " + ME + " "));
    }
  }

  @Test
  void theTableOfTheJvm_canBePrintedAndIsEmptyAfterwards() {
    try (DirectoryLock _ = DirectoryLock.acquire(directory, /* shared= */ true)) {
      System.getProperties().list(new PrintStream(OutputStream.nullOutputStream()));
    }
    assertTrue(
        System.getProperties().stringPropertyNames().stream()
            .noneMatch(name -> name.startsWith("org.revenantdb.open.")));
  }

  // ------------------------------------------------------------------------------- ownership

  @Test
  void anEngineWhoseTextIsNotInTheFileAnyMore_failsBeforeItWrites() throws IOException {
    Path file = directory.resolve("revenant.lock");
    List<FileException> told = new ArrayList<>();
    try (DirectoryLock lock = DirectoryLock.acquire(directory, /* shared= */ false)) {
      Ownership ownership = lock.ownership();
      ownership.onLost(told::add);
      ownership.check();
      String text = Files.readString(file);
      Files.writeString(
          file, text.replace("pid=" + ME, "pid=77").replaceFirst("(?m)^token=.*$", "token=x"));
      OwnershipLostException e = assertThrows(OwnershipLostException.class, ownership::check);
      assertTrue(e.getMessage().contains("process 77, "), e.getMessage());
      assertTrue(e.getMessage().contains("this engine (process " + ME + ", "), e.getMessage());
      Files.writeString(file, text);
      assertThrows(OwnershipLostException.class, ownership::check, "it is lost for good");
      assertEquals(1, told.size());
      Files.writeString(file, "another's");
    }
    assertEquals("another's", Files.readString(file), "the text of another is left alone");
  }

  @Test
  void aLockFileThatWasDeletedOrReplaced_isNoticed() throws IOException {
    Path file = directory.resolve("revenant.lock");
    for (boolean replaced : new boolean[] {false, true}) {
      try (DirectoryLock lock = DirectoryLock.acquire(directory, /* shared= */ false)) {
        String text = Files.readString(file);
        Files.move(file, directory.resolve("away" + replaced));
        if (replaced) {
          Files.writeString(file, text);
        }
        OwnershipLostException e =
            assertThrows(OwnershipLostException.class, () -> lock.ownership().check());
        assertTrue(e.getMessage().contains(replaced ? "was replaced" : "was deleted"));
        assertEquals(file, e.file());
      }
    }
  }

  @Test
  void aDirectoryThatWasMoved_isNoticed_whateverHasItsNameNow() throws IOException {
    Path database = Files.createDirectory(directory.resolve("db"));
    try (DirectoryLock lock = DirectoryLock.acquire(database, /* shared= */ false)) {
      Files.move(database, directory.resolve("moved"));
      OwnershipLostException e =
          assertThrows(OwnershipLostException.class, () -> lock.ownership().check());
      assertTrue(e.getMessage().contains("moved or deleted"), e.getMessage());
    }
    Files.createDirectory(database);
    try (DirectoryLock lock = DirectoryLock.acquire(database, /* shared= */ false)) {
      Files.move(database, directory.resolve("moved again"));
      Files.createDirectory(database);
      OwnershipLostException e =
          assertThrows(OwnershipLostException.class, () -> lock.ownership().check());
      assertTrue(e.getMessage().contains("moved or replaced"), e.getMessage());
    }
  }

  @Test
  void aFileThatIsReliedOn_isMissedWhenItIsDeletedReplacedOrCut() throws IOException {
    List<String> found = new ArrayList<>();
    for (String harm : List.of("deleted", "took its place", "cut to 3 bytes")) {
      try (DirectoryLock lock = DirectoryLock.acquire(directory, /* shared= */ false)) {
        Path file = directory.resolve("file of " + harm);
        Files.writeString(file, "content");
        lock.ownership().watch(file, () -> 7);
        lock.ownership().checkFiles();
        switch (harm) {
          case "deleted" -> Files.delete(file);
          case "took its place" -> {
            Files.move(file, directory.resolve("away"));
            Files.writeString(file, "content");
          }
          default -> Files.writeString(file, "con");
        }
        OwnershipLostException e =
            assertThrows(OwnershipLostException.class, () -> lock.ownership().checkFiles());
        assertTrue(e.getMessage().contains(harm), e.getMessage());
        found.add(harm);
      }
    }
    assertEquals(3, found.size());
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

  /** Only on a read-only file system without a lock file a reader goes without one. */
  @Test
  void a_lock_file_that_this_user_may_not_look_at_is_not_taken_for_a_missing_one() {
    FaultyFileSystem denying = new FaultyFileSystem();
    DirectoryLock.acquire(directory, /* shared= */ false).close();
    denying.deny("revenant.lock");
    for (boolean shared : new boolean[] {false, true}) {
      assertThrows(
          ReadOnlyStorageException.class,
          () -> DirectoryLock.acquire(denying.wrap(directory), shared));
    }
  }
}
