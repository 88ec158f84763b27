package org.revenantdb.chaos.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A JVM of our own that may be killed at any moment.
 *
 * <p>The child runs a main class on the Java that runs the parent, and tells what it does line by
 * line through a {@link ChildPipe}. A line that the child has written outlives it: the pipe belongs
 * to the operating system. So after a kill the parent still reads everything that was said, until
 * {@link #readLine} returns null. That makes the pipe the ledger of what the child was promised
 * before it died.
 *
 * <p>Threads: one thread reads lines; {@link #kill} may be called by any thread, any number of
 * times.
 *
 * <p>Failure: a child that says nothing for longer than its stall limit is asked for a thread dump
 * (on its standard error), killed, and {@link #stalled} is true from then on. Time in which the
 * machine did not let it work does not count, see {@link StallWatch}.
 *
 * {@snippet :
 * try (ForkedJvm child = ForkedJvm.of(Importer.class).heap("128m").argument(dir).fork()) {
 *   for (String line; (line = child.readLine()) != null; ) {
 *     ledger.add(line);
 *     if (killPoint.reached(ledger.size())) {
 *       child.kill();
 *     }
 *   }
 * }
 * }
 */
public final class ForkedJvm implements AutoCloseable {

  private static final int STDERR_KEPT = 64 * 1024;
  private static final long LONGEST_NAP = TimeUnit.MILLISECONDS.toNanos(20);
  private static final Duration DUMP_GRACE = Duration.ofSeconds(3);

  private final Process process;
  private final BufferedReader lines;
  private final StringBuilder line = new StringBuilder();
  private final Tail stderr;
  private final Thread stderrReader;
  private final Watchdog watchdog;
  private volatile boolean killed;
  private volatile boolean stalled;

  private ForkedJvm(Process process, Duration stallLimit) {
    this.process = process;
    this.lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8), 64 * 1024);
    this.stderr = new Tail(STDERR_KEPT);
    InputStream errors = process.getErrorStream();
    this.stderrReader =
        Thread.ofPlatform()
            .daemon()
            .name("stderr of " + process.pid())
            .start(() -> stderr.drain(errors));
    this.watchdog = Watchdog.start(process.pid(), stallLimit, this::endStalled);
  }

  /**
   * Begins the description of a child.
   *
   * @param main the class whose {@code main} the child runs; it must be public
   * @return a description with this JVM's class path and no heap option
   */
  public static Builder of(Class<?> main) {
    return new Builder(main.getName());
  }

  /**
   * Waits for the child's next line.
   *
   * @return the line, or null when the child has ended and everything it said was read; a line that
   *     the kill cut short was not said
   */
  public @Nullable String readLine() {
    try {
      String line = readWholeLine();
      watchdog.alive();
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read from child " + process.pid(), e);
    }
  }

  /**
   * Not {@link BufferedReader#readLine}, which takes the first half of a line for a line where the
   * stream ends.
   */
  private @Nullable String readWholeLine() throws IOException {
    line.setLength(0);
    for (int c; (c = lines.read()) >= 0; ) {
      if (c == '\n') {
        return line.toString();
      }
      line.append((char) c);
    }
    return null;
  }

  /** Reads what is left to be said and throws it away. */
  public void drain() {
    while (readLine() != null) {}
  }

  /**
   * Kills the child with SIGKILL (on Windows: {@code TerminateProcess}) and waits until it is gone.
   * No handler and no shutdown hook of the child runs; its files are closed and its locks released
   * by the operating system. What it said before can still be read.
   */
  public void kill() {
    killed = true;
    sigkill();
    awaitEnd();
  }

  /**
   * Kills the child when the time has passed, unless it ends by itself before. The caller waits.
   *
   * @param delay how long the child may go on
   */
  public void killAfter(Duration delay) {
    // Not Process.waitFor(time): that counts in whole milliseconds, and an opening takes a few.
    long due = System.nanoTime() + delay.toNanos();
    for (long left; process.isAlive() && (left = due - System.nanoTime()) > 0; ) {
      LockSupport.parkNanos(Math.min(left, LONGEST_NAP));
    }
    if (process.isAlive()) {
      kill();
    }
  }

  /**
   * Waits for the end of a child that ends by itself.
   *
   * @return its exit code; 137 after SIGKILL on Linux and macOS
   */
  public int awaitEnd() {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          int code = process.waitFor();
          stderrReader.join();
          watchdog.close();
          return code;
        } catch (InterruptedException e) {
          interrupted = true;
          sigkill();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Waits for the end of the child and complains if nobody killed it and it ended with an error.
   *
   * @throws ChildFailedException if the child stalled, or ended by itself with an exit code other
   *     than 0
   */
  public void demandOrderlyEnd() {
    int code = awaitEnd();
    if (stalled) {
      throw new ChildFailedException("the child said nothing for too long and was ended", stderr());
    }
    if (!killed && code != 0) {
      throw new ChildFailedException("the child ended by itself with exit code " + code, stderr());
    }
  }

  /**
   * Says that the child was seen at work by another way than its lines, its ledger for instance.
   */
  public void seenAtWork() {
    watchdog.alive();
  }

  /**
   * Says whether the caller has stopped the process. A stopped process does not stall.
   *
   * @param now true when it is stopped, false when it goes on
   */
  void rest(boolean now) {
    watchdog.rest(now);
  }

  /**
   * Tells whether the process is still there.
   *
   * @return false when it has ended, however it did
   */
  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Tells whether {@link #kill} was called.
   *
   * @return true if so
   */
  public boolean killed() {
    return killed;
  }

  /**
   * Tells whether the child was ended because it said nothing for too long.
   *
   * @return true if so
   */
  public boolean stalled() {
    return stalled;
  }

  /**
   * The end of what the child wrote to its standard error.
   *
   * @return at most the last 64 KiB
   */
  public String stderr() {
    return stderr.text();
  }

  /**
   * The child's process id.
   *
   * @return the id
   */
  public long pid() {
    return process.pid();
  }

  /** Kills the child if it still runs. */
  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    }
    watchdog.close();
    try {
      lines.close();
      process.getOutputStream().close();
    } catch (IOException e) {
      // The pipe of a dead process: nothing depends on closing it in order.
    }
  }

  /** A thread dump first, where the system can ask for one, then the end. */
  private void endStalled() {
    stalled = true;
    try {
      new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
      // A dump that does not come is no matter:
      // it says where the child stands, not that it stalled.
      var _ =
          new StallWatch(DUMP_GRACE, process.pid())
              .awaitState(() -> !process.isAlive() || stderr.text().contains(ThreadDump.END));
    } catch (IOException e) {
      // No such command here (Windows): the child ends without a dump.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sigkill();
  }

  /**
   * By the handle: {@link Process#destroyForcibly} would close our end of the pipe as well, and
   * with it throw away what the child has said and we have not read.
   */
  private void sigkill() {
    process.toHandle().destroyForcibly();
  }

  /** Describes a child before it is forked. */
  public static final class Builder {

    private final String main;
    private final List<String> flags = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private String classPath = ClassPath.ofThisJvm();
    private Duration stallLimit = Duration.ofSeconds(60);
    private @Nullable Path directory;

    private Builder(String main) {
      this.main = main;
    }

    /**
     * Sets the largest heap.
     *
     * @param size as after {@code -Xmx}, for instance {@code 64m}
     * @return this
     */
    public Builder heap(String size) {
      flags.add("-Xmx" + size);
      return this;
    }

    /**
     * Adds flags of the JVM.
     *
     * @param more flags, each a word
     * @return this
     */
    public Builder flags(String... more) {
      flags.addAll(List.of(more));
      return this;
    }

    /**
     * Makes a child that lives for a second start sooner: a simple collector and a quick compiler.
     *
     * @return this
     */
    public Builder shortLived() {
      return flags("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");
    }

    /**
     * Adds what holds the given class to the class path, be it a folder or an archive.
     *
     * @param type any class, for instance of a test
     * @return this
     */
    public Builder withCodeOf(Class<?> type) {
      classPath = ClassPath.join(classPath, ClassPath.of(type));
      return this;
    }

    /**
     * Adds an argument of {@code main}.
     *
     * @param value its {@code toString} is passed on
     * @return this
     */
    public Builder argument(Object value) {
      arguments.add(value.toString());
      return this;
    }

    /**
     * Sets how long the child may say nothing.
     *
     * @param limit one minute if not set
     * @return this
     */
    public Builder stallLimit(Duration limit) {
      stallLimit = limit;
      return this;
    }

    /**
     * Sets where relative paths of the child begin.
     *
     * @param workingDirectory exists; this JVM's own if not set
     * @return this
     */
    public Builder directory(Path workingDirectory) {
      directory = workingDirectory;
      return this;
    }

    /**
     * Starts the child.
     *
     * @return the running child
     * @throws UncheckedIOException if the process cannot be started
     */
    public ForkedJvm fork() {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      // The thread dump of a stalled child must not get between the lines that it says.
      command.add("-XX:+DisplayVMOutputToStderr");
      command.addAll(flags);
      command.add("-cp");
      command.add(classPath);
      command.add(main);
      command.addAll(arguments);
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().remove("JAVA_TOOL_OPTIONS");
      builder.environment().remove("JDK_JAVA_OPTIONS");
      if (directory != null) {
        builder.directory(directory.toFile());
      }
      try {
        return new ForkedJvm(Scratch.start(builder), stallLimit);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot start " + command.getFirst(), e);
      }
    }
  }

  /** The last bytes of a stream. */
  private static final class Tail {

    private final int limit;
    private final StringBuilder kept = new StringBuilder();

    Tail(int limit) {
      this.limit = limit;
    }

    void drain(InputStream in) {
      try (in) {
        byte[] buffer = new byte[8192];
        for (int n; (n = in.read(buffer)) >= 0; ) {
          append(new String(buffer, 0, n, StandardCharsets.UTF_8));
        }
      } catch (IOException e) {
        append("[standard error of the child broke off: " + e.getMessage() + "]");
      }
    }

    private synchronized void append(String text) {
      kept.append(text);
      if (kept.length() > limit) {
        kept.delete(0, kept.length() - limit);
      }
    }

    synchronized String text() {
      return kept.toString();
    }
  }
}
