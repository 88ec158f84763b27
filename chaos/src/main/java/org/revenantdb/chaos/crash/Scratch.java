package org.revenantdb.chaos.crash;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Temporary directories of a command. When the command is ended from outside, for instance by
 * Ctrl-C, they are deleted and its processes are killed.
 *
 * <p>Files that a command leaves when it ends by itself stay: {@link #keep}.
 *
 * <p>Threads: all methods may be called by any.
 */
public final class Scratch {
  /*
   * State       directories        deleted by the hook; guarded by the class
   *             isEnding           from outside: no process is started any more; guarded by the class
   *
   * When the command ends by itself DIRECTORIES is empty, and the hook does nothing.
   *
   * The threads of the command continue while the hook runs, and may create files again. So the
   * hook tries several times to delete a directory, and each time first kills the processes. A
   * process that was started after the last of these kills would outlive this JVM and create its
   * files again. So start and end exclude each other, and after end nothing starts. A thread that
   * creates a directory below one of these uses createDirectory, which does not create the parent
   * again.
   */
  private static final int TRIES = 200;

  private static final Set<Path> DIRECTORIES = new LinkedHashSet<>();
  private static boolean hasHook;
  private static boolean isEnding;

  private Scratch() {}

  /**
   * Creates a directory in the default place for temporary files.
   *
   * @param prefix of its name
   * @return the directory
   * @throws IOException if it cannot be created
   */
  public static Path directory(String prefix) throws IOException {
    return register(Files.createTempDirectory(prefix));
  }

  /**
   * Creates a directory in a given one.
   *
   * @param parent the given directory
   * @param prefix of its name
   * @return the directory
   * @throws IOException if it cannot be created
   */
  public static Path directory(Path parent, String prefix) throws IOException {
    return register(Files.createTempDirectory(parent, prefix));
  }

  /**
   * Deletes a directory that is no longer needed.
   *
   * @param directory made here
   */
  public static void delete(Path directory) {
    synchronized (Scratch.class) {
      DIRECTORIES.remove(directory);
    }
    FileTrees.delete(directory);
  }

  private static synchronized Path register(Path directory) {
    if (!hasHook) {
      Runtime.getRuntime().addShutdownHook(new Thread(Scratch::end, "scratch"));
      hasHook = true;
    }
    DIRECTORIES.add(directory);
    return directory;
  }

  /**
   * Starts a process, unless the command is being ended.
   *
   * @param builder describes it
   * @return the process
   * @throws IOException if it cannot be started
   */
  public static synchronized Process start(ProcessBuilder builder) throws IOException {
    if (isEnding) {
      throw new IOException("the command is being ended");
    }
    return builder.start();
  }

  /** Notes that the command ends by itself: the remaining directories stay. */
  public static synchronized void keep() {
    DIRECTORIES.clear();
  }

  /** The JVM is ended from outside: kills its processes and deletes the directories. */
  public static synchronized void end() {
    if (DIRECTORIES.isEmpty()) {
      return;
    }
    isEnding = true;
    // Errors that the command reports from now on are only consequences of this.
    silence();
    List<Path> left = DIRECTORIES.stream().filter(directory -> !isDeleted(directory)).toList();
    DIRECTORIES.clear();
    say(
        left.isEmpty()
            ? "ended from outside; its temporary files are deleted"
            : "ended from outside; these could not be deleted: " + left);
  }

  @SuppressWarnings("ThreadPriorityCheck") // lets other threads end first
  private static boolean isDeleted(Path directory) {
    for (int i = 0; i < TRIES; i++) {
      killProcesses();
      try {
        FileTrees.delete(directory);
        return true;
      } catch (UncheckedIOException changing) {
        Thread.yield(); // another thread still creates files there
      }
    }
    return false;
  }

  private static void killProcesses() {
    List<ProcessHandle> processes = ProcessHandle.current().descendants().toList();
    processes.forEach(ProcessHandle::destroyForcibly);
    processes.forEach(process -> process.onExit().join());
  }

  private static void silence() {
    PrintStream nowhere =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    System.setOut(nowhere);
    System.setErr(nowhere);
  }

  private static void say(String sentence) {
    try {
      @SuppressWarnings("resource") // it is the process's own
      FileOutputStream error = new FileOutputStream(FileDescriptor.err);
      error.write(("\nrevenant: " + sentence + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // The terminal has ended, too.
    }
  }
}
