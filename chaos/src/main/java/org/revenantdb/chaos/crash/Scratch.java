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
 * Temporary directories of a command: when the command is ended from outside, by Ctrl-C for
 * instance, they are deleted, and its processes are killed.
 *
 * <p>What a command leaves behind when it ends by itself is left on purpose: {@link #keep}.
 *
 * <p>Threads: all methods may be called by any.
 */
public final class Scratch {
  /*
   * State       directories        to be deleted by the hook; guarded by the class
   *             isEnding           from outside: no process is started any more; guarded by the class
   *
   * When the command ends by itself DIRECTORIES is empty, and the hook does nothing.
   *
   * The threads of the command go on while the hook runs: they may make files again. So the hook tries until a directory
   * is gone, a number of times; each time it kills what there is first. A process that was started behind the last of
   * these kills would outlive this JVM and make its files again, so start and end exclude each other, and behind end
   * nothing starts. A thread that makes a directory in one of these uses createDirectory, which does not make the one
   * above again.
   */
  private static final int TRIES = 200;

  private static final Set<Path> DIRECTORIES = new LinkedHashSet<>();
  private static boolean hasHook;
  private static boolean isEnding;

  private Scratch() {}

  /**
   * Makes a directory in the default place for temporary ones.
   *
   * @param prefix of its name
   * @return the directory
   * @throws IOException if none can be made
   */
  public static Path directory(String prefix) throws IOException {
    return register(Files.createTempDirectory(prefix));
  }

  /**
   * Makes a directory in another one.
   *
   * @param parent which one
   * @param prefix of its name
   * @return the directory
   * @throws IOException if none can be made
   */
  public static Path directory(Path parent, String prefix) throws IOException {
    return register(Files.createTempDirectory(parent, prefix));
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

  /** The command has ended by itself: what is still there is to stay. */
  public static synchronized void keep() {
    DIRECTORIES.clear();
  }

  /** The JVM is being ended: kills its processes and deletes the directories. */
  public static synchronized void end() {
    if (DIRECTORIES.isEmpty()) {
      return;
    }
    isEnding = true;
    // What the command says of its files and processes now is only about this.
    silence();
    List<Path> left = DIRECTORIES.stream().filter(directory -> !isDeleted(directory)).toList();
    DIRECTORIES.clear();
    say(
        left.isEmpty()
            ? "ended from outside; its temporary files are deleted"
            : "ended from outside; these could not be deleted: " + left);
  }

  @SuppressWarnings("ThreadPriorityCheck") // only lets others end first; the tries are counted
  private static boolean isDeleted(Path directory) {
    for (int i = 0; i < TRIES; i++) {
      killProcesses();
      try {
        FileTrees.delete(directory);
        return true;
      } catch (UncheckedIOException changing) {
        Thread.yield(); // somebody is still making files there
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
      // The terminal has gone, too.
    }
  }
}
