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
 * A forked JVM that may be killed at any moment.
 *
 * <p>The child runs a main class on the parent's Java and reports its progress line by line through
 * a {@link ChildPipe}. A line that the child has written survives it, because the pipe belongs to
 * the operating system. So after a kill the parent still reads everything until {@link #readLine}
 * returns null. That makes the pipe the ledger of the promises to the child.
 *
 * <p>Threads: one thread reads lines; {@link #kill} may be called by any thread, any number of
 * times.
 *
 * <p>Failure: if a child writes nothing for longer than its stall limit, the parent requests a
 * thread dump (on the child's standard error) and kills it. From then on {@link #stalled} is true.
 * Time in which the machine did not let the child work does not count, see {@link StallWatch}.
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
  private final Duration stallLimit;
  private boolean begun;
  private final Tail stderr;
  private final Thread stderrReader;
  private final Watchdog watchdog;
  private volatile boolean killed;
  private volatile boolean stalled;

  private ForkedJvm(Process process, Duration startLimit, Duration stallLimit) {
    this.process = process;
    this.stallLimit = stallLimit;
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
    this.watchdog = Watchdog.start(process.pid(), startLimit, this::endStalled);
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
   * @return the line, or null when the child has ended and everything was read; a line that the
   *     kill cut short is dropped
   */
  public @Nullable String readLine() {
    try {
      String line = readWholeLine();
      if (begun) {
        watchdog.alive();
      } else {
        begun = true;
        watchdog.limit(stallLimit);
      }
      return line;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read from child " + process.pid(), e);
    }
  }

  /**
   * Unlike {@link BufferedReader#readLine}, which returns the first half of a line as a line at the
   * end of the stream.
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

  /** Reads and drops the remaining output. */
  public void drain() {
    while (readLine() != null) {}
  }

  /**
   * Kills the child with SIGKILL (on Windows: {@code TerminateProcess}) and waits until it has
   * ended. No handler and no shutdown hook of the child runs. The operating system closes its files
   * and releases its locks. Its earlier output can still be read.
   */
  public void kill() {
    killed = true;
    sigkill();
    awaitEnd();
  }

  /**
   * Kills the child after a delay, unless it ends before. The caller waits.
   *
   * @param delay how long the child may run
   */
  public void killAfter(Duration delay) {
    // Not Process.waitFor(time): it counts whole milliseconds, and an opening takes only a few.
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
   * Waits for the end of the child. Throws if the child was not killed and ended with an error.
   *
   * @throws ChildFailedException if the child stalled, or ended by itself with an exit code other
   *     than 0
   */
  public void demandOrderlyEnd() {
    int code = awaitEnd();
    if (stalled) {
      throw new ChildFailedException(
          "the child wrote nothing for too long and was killed", stderr());
    }
    if (!killed && code != 0) {
      throw new ChildFailedException("the child ended by itself with exit code " + code, stderr());
    }
  }

  /**
   * Writes a line to the child's standard input.
   *
   * @param line without the end of the line
   * @throws IOException if the child has ended
   */
  public void tell(String line) throws IOException {
    process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  /** Notes a sign of life of the child other than a line, for instance in its ledger. */
  public void seenAtWork() {
    watchdog.alive();
  }

  /**
   * Notes whether the caller has stopped the process. A stopped process does not stall.
   *
   * @param now true when it is stopped, false when it continues
   * @return false if the process was found to stall before: it is killed, if it is not yet
   */
  public boolean rest(boolean now) {
    return watchdog.rest(now);
  }

  /**
   * Returns whether the process still exists.
   *
   * @return false when it has ended, for whatever reason
   */
  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * Returns whether {@link #kill} was called.
   *
   * @return true if it was
   */
  public boolean killed() {
    return killed;
  }

  /**
   * Returns whether the child was killed because it wrote nothing for too long.
   *
   * @return true if it was
   */
  public boolean stalled() {
    return stalled;
  }

  /**
   * Returns the end of the child's standard error.
   *
   * @return at most the last 64 KiB
   */
  public String stderr() {
    return stderr.text();
  }

  /**
   * Returns the end of the child's standard error, without a thread dump that was requested.
   *
   * @return at most the last 64 KiB
   */
  public String output() {
    return ThreadDump.in(stderr()).around();
  }

  /**
   * Returns where the main thread of a stalled child stood.
   *
   * @return one line for each frame; empty if that is not known
   */
  public String mainStack() {
    return ThreadDump.in(stderr()).mainStack();
  }

  /**
   * Returns the child's process id.
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
      // The pipe of a dead process need not be closed in order.
    }
  }

  /** Requests a thread dump, where the system supports it, and then kills the child. */
  private void endStalled() {
    stalled = true;
    try {
      new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
      // A missing dump does not matter: it shows where the child is, not that it stalled.
      var _ =
          new StallWatch(DUMP_GRACE, process.pid())
              .awaitState(() -> !process.isAlive() || stderr.text().contains(ThreadDump.END));
    } catch (IOException e) {
      // No such command here (Windows): the child is killed without a dump.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sigkill();
  }

  /**
   * Kills through the handle. {@link Process#destroyForcibly} would close our end of the pipe, too,
   * and so lose the output that we have not read.
   */
  private void sigkill() {
    process.toHandle().destroyForcibly();
  }

  /** The settings of a child before it is forked. */
  public static final class Builder {

    private final String main;
    private final List<String> flags = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private String classPath = ClassPath.ofThisJvm();
    private Duration stallLimit = Duration.ofSeconds(60);
    private @Nullable Duration startLimit;
    private @Nullable Path directory;
    private boolean passesProperties;

    private Builder(String main) {
      this.main = main;
    }

    /**
     * Sets the maximum heap size.
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
     * Makes a child that lives for a second start sooner: a simple collector and a fast compiler.
     *
     * @return this
     */
    public Builder shortLived() {
      return flags("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");
    }

    /**
     * Adds the folder or archive of the given class to the class path.
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
     * @param value passed on as its {@code toString}
     * @return this
     */
    public Builder argument(Object value) {
      arguments.add(value.toString());
      return this;
    }

    /**
     * Sets how long the child may write nothing.
     *
     * @param limit one minute if not set
     * @return this
     */
    public Builder stallLimit(Duration limit) {
      stallLimit = limit;
      return this;
    }

    /**
     * Sets how long the child may write nothing before its first line.
     *
     * @param limit the stall limit if not set
     * @return this
     */
    public Builder startLimit(Duration limit) {
      startLimit = limit;
      return this;
    }

    /**
     * Sets the working directory of the child.
     *
     * @param workingDirectory exists; this JVM's own if not set
     * @return this
     */
    public Builder directory(Path workingDirectory) {
      directory = workingDirectory;
      return this;
    }

    /**
     * Passes the system properties of this JVM to the child, whose {@code main} has to call {@link
     * PassedProperties#adopt}.
     *
     * @return this
     */
    public Builder passProperties() {
      passesProperties = true;
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
      // The thread dump of a stalled child must not mix with its lines.
      command.add("-XX:+DisplayVMOutputToStderr");
      command.addAll(flags);
      command.add("-cp");
      command.add(classPath);
      command.add(main);
      command.addAll(arguments);
      ProcessBuilder builder = new ProcessBuilder(command);
      builder.environment().remove("JAVA_TOOL_OPTIONS");
      builder.environment().remove("JDK_JAVA_OPTIONS");
      if (passesProperties) {
        PassedProperties.putInto(builder.environment());
      }
      if (directory != null) {
        builder.directory(directory.toFile());
      }
      try {
        Duration start = startLimit == null ? stallLimit : startLimit;
        return new ForkedJvm(Scratch.start(builder), start, stallLimit);
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
