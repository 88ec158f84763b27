package org.revenantdb.chaos.hooks;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.Verdict;

/**
 * Checkers that open images on a real disk, each in a JVM of its own that is used again. Every
 * image has a directory of its own, so that a store which remembers paths in static fields does not
 * confuse them.
 *
 * <p>Threads: any may take a checker; a checker belongs to one thread.
 */
public final class Workers implements Supplier<ImageChecker> {
  /*
   * The first state that fails in a certain way in a JVM which has opened other images is checked
   * again in a fresh one, and the fresh answer counts: what remained of other images in static
   * fields is no state that a crash leaves. If the fresh JVM confirms the failure, later failures of
   * the same kind are believed at once; otherwise each of them is checked again.
   */

  private final Class<?> subject;
  private final Path scratch;
  private final List<String> flags;
  private final Duration limit;
  private final AtomicLong directories = new AtomicLong();
  private final Set<String> confirmed = ConcurrentHashMap.newKeySet();
  private final AtomicLong leaks = new AtomicLong();
  private final IdentityHashMap<PromiseLog, Path> promises = new IdentityHashMap<>();

  /**
   * Creates a source of checkers.
   *
   * @param subject class of the subject
   * @param scratch a directory for images; exists
   * @param flags further flags of the JVMs
   * @param limit how long a check may take
   */
  public Workers(Class<?> subject, Path scratch, List<String> flags, Duration limit) {
    this.subject = subject;
    this.scratch = scratch;
    this.flags = flags;
    this.limit = limit;
  }

  /** The file of a log. The log must not change afterwards. */
  private Path file(PromiseLog log) throws IOException {
    synchronized (promises) {
      Path known = promises.get(log);
      if (known == null) {
        known = Files.createTempFile(scratch, "promises", null);
        try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(known))) {
          log.writeTo(out);
        }
        promises.put(log, known);
      }
      return known;
    }
  }

  @Override
  public ImageChecker get() {
    return new Worker();
  }

  /**
   * Returns how many states failed in a JVM that had opened other images, and not in a fresh one.
   *
   * @return a count
   */
  public long leaks() {
    return leaks.get();
  }

  private final class Worker implements ImageChecker {

    private @Nullable ForkedJvm child;
    private int images;
    private volatile String phase = "nothing yet";

    @Override
    public StateResult check(DiskImage image, PromiseLog of, long seq) {
      return checked(image, of, seq, "whole");
    }

    @Override
    public StateResult glance(DiskImage image, PromiseLog of, long seq) {
      return checked(image, of, seq, "short");
    }

    @Override
    public StateResult look(DiskImage image, PromiseLog of, long seq) {
      return checked(image, of, seq, "look");
    }

    @Override
    public StateChecker.Recorded checkRecorded(DiskImage image, PromiseLog of, long seq) {
      throw new UnsupportedOperationException("recoveries are not recorded on a real disk");
    }

    private StateResult checked(DiskImage image, PromiseLog of, long seq, String how) {
      try {
        Path log = file(of);
        StateResult result = once(image, log, seq, how);
        if (result.survived() || images <= 1 || confirmed.contains(result.signature())) {
          return result;
        }
        close();
        StateResult fresh = once(image, log, seq, how);
        if (fresh.survived()) {
          leaks.incrementAndGet();
        } else {
          confirmed.add(fresh.signature());
        }
        return fresh;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private StateResult once(DiskImage image, Path log, long seq, String how) throws IOException {
      Path directory = scratch.resolve("image" + directories.incrementAndGet());
      Files.createDirectory(directory);
      image.writeTo(directory);
      ForkedJvm jvm = child();
      images++;
      phase = "a check";
      jvm.rest(false);
      String line = null;
      try {
        jvm.tell(seq + "\t" + how + "\t" + log + "\t" + directory);
        line = jvm.readLine();
      } catch (IOException e) {
        jvm.drain(); // it has ended; see below
      }
      jvm.rest(true);
      if (line != null) {
        FileTrees.delete(directory);
        return ResultCodec.decode(line);
      }
      int code = jvm.awaitEnd();
      String what =
          jvm.stalled()
              ? "it did not end within " + limit.toSeconds() + " s"
              : "the process ended with exit code " + code;
      close();
      FileTrees.delete(directory);
      AssertionError failure = new AssertionError(what + "\n" + jvm.stderr().strip());
      failure.setStackTrace(new StackTraceElement[0]);
      return new StateResult(Verdict.CORRUPT, List.of(), failure, "open or check", 0, 0);
    }

    private ForkedJvm child() {
      ForkedJvm jvm = child;
      if (jvm == null) {
        jvm =
            ForkedJvm.of(WorkerMain.class)
                .shortLived()
                .flags("--enable-native-access=ALL-UNNAMED")
                .flags(flags.toArray(String[]::new))
                .withCodeOf(subject)
                .stallLimit(limit)
                .argument(subject.getName())
                .fork();
        child = jvm;
        images = 0;
      }
      return jvm;
    }

    @Override
    public String subjectClass() {
      return subject.getName();
    }

    @Override
    public String phase() {
      return phase;
    }

    @Override
    public void close() {
      ForkedJvm jvm = child;
      if (jvm != null) {
        jvm.close();
        child = null;
      }
    }
  }
}
