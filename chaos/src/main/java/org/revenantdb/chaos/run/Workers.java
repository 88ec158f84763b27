package org.revenantdb.chaos.run;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.crash.Watchdog;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.ImageCodec;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.Verdict;

/**
 * Checkers that open images in JVMs of their own, which are used again: on a disk in memory, or in
 * a real directory for a store that uses its files by any means. Two images are never open at the
 * same time in one JVM, and every image has a path of its own.
 *
 * <p>A JVM is replaced when it has ended or hung, after a state that failed, and after a certain
 * number of images. What a store does to its JVM, such as {@code System.exit}, is a failure of the
 * state that it was opening.
 *
 * <p>Threads: any may take a checker; a checker belongs to one thread.
 */
public final class Workers implements Supplier<ImageChecker>, AutoCloseable {
  /*
   * A JVM is idle (in IDLE), or belongs to one checker, or is killed. A checker takes one when it
   * first needs one and gives it back when it is closed.
   *
   * A state that fails in a JVM which has opened other images is checked again in a fresh one, and
   * the fresh answer counts: what remained of other images in static fields is no state that a crash
   * leaves. A start takes longer than hundreds of small images, and a broken store may fail in
   * thousands of states. So if a fresh JVM has confirmed failures of one kind, only the second, the
   * fourth, the eighth and so on of that kind are checked again. When one of them is not confirmed,
   * or when anything else showed that static state leaks, every failure is checked again.
   */

  /** The usual number of images that one JVM opens. */
  public static final int IMAGES = 500;

  /** The number of promise logs whose files are kept though no check uses them. */
  private static final int LOGS_KEPT = 16;

  private static final String READY = "ready";
  private static final int OUTPUT_SHOWN = 4_000;

  /** How long the start of a JVM may take at least. It depends on the machine, not on the store. */
  private static final Duration START = Duration.ofSeconds(60);

  private final Class<?> subject;
  private final Path scratch;
  private final boolean inMemory;
  private final List<String> flags;
  private final Duration limit;
  private final int images;
  private final AtomicLong places = new AtomicLong();
  private final AtomicLong leaks = new AtomicLong();
  private final AtomicLong started = new AtomicLong();

  // Guarded by this.
  // The least recently used log first. A log is equal only to itself.
  private final LinkedHashMap<PromiseLog, LogFile> promises =
      new LinkedHashMap<>(LOGS_KEPT, 0.75f, /* accessOrder= */ true);
  private final Map<String, Long> confirmed = new HashMap<>();
  private final Deque<Jvm> idle = new ArrayDeque<>();
  private boolean closed;

  private Workers(
      Class<?> subject,
      Path scratch,
      boolean inMemory,
      List<String> flags,
      Duration limit,
      int images) {
    this.subject = subject;
    this.scratch = scratch;
    this.inMemory = inMemory;
    this.flags = List.copyOf(flags);
    this.limit = limit;
    this.images = images;
  }

  /**
   * Creates checkers for a store that uses its files by any means.
   *
   * @param subject class of the subject
   * @param scratch a directory for images; exists
   * @param flags further flags of the JVMs
   * @param limit how long a step of a check may take
   * @param images the number of images that one JVM opens, 1 or more
   * @return the source of checkers
   */
  public static Workers onDisk(
      Class<?> subject, Path scratch, List<String> flags, Duration limit, int images) {
    return new Workers(subject, scratch, /* inMemory= */ false, flags, limit, images);
  }

  /**
   * Creates checkers for a store that uses its files through the given path.
   *
   * @param subject class of the subject
   * @param flags further flags of the JVMs
   * @param limit how long a step of a check may take
   * @param images the number of images that one JVM opens, 1 or more
   * @return the source of checkers
   * @throws IOException if there is no place for images
   */
  public static Workers inMemory(Class<?> subject, List<String> flags, Duration limit, int images)
      throws IOException {
    return new Workers(subject, imagesDirectory(null), /* inMemory= */ true, flags, limit, images);
  }

  /**
   * Creates a directory for images, which are written and deleted by the thousand: in memory, where
   * that is possible.
   *
   * @param otherwise the parent of the directory if not; null: the usual place for temporary files
   * @return the directory
   * @throws IOException if it cannot be created
   */
  public static Path imagesDirectory(@Nullable Path otherwise) throws IOException {
    Path memory = Path.of("/dev/shm");
    if (Files.isDirectory(memory) && Files.isWritable(memory)) {
      return Scratch.directory(memory, "revenant-images");
    }
    return otherwise == null
        ? Scratch.directory("revenant-images")
        : Scratch.directory(otherwise, "images");
  }

  /** The file of a log, and the number of checks that use it. Guarded by the {@link Workers}. */
  private static final class LogFile {
    private final Path path;
    private int users;

    LogFile(Path path) {
      this.path = path;
    }
  }

  /** The file of a log, until {@link #release}. The log must not change afterwards. */
  private synchronized Path file(PromiseLog log) throws IOException {
    LogFile known = promises.get(log);
    if (known == null) {
      known = new LogFile(Files.createTempFile(scratch, "promises", null));
      try (DataOutputStream out = write(known.path)) {
        log.writeTo(out);
      }
      promises.put(log, known);
    }
    known.users++;
    return known.path;
  }

  /** Each recorded recovery and each life with a fault has a log of its own: few are kept. */
  private synchronized void release(PromiseLog log) throws IOException {
    LogFile used = promises.get(log);
    if (used != null) {
      used.users--;
    }
    Iterator<LogFile> eldest = promises.values().iterator();
    for (int extra = promises.size() - LOGS_KEPT; extra > 0 && eldest.hasNext(); ) {
      LogFile file = eldest.next();
      if (file.users == 0) {
        eldest.remove();
        Files.deleteIfExists(file.path);
        extra--;
      }
    }
  }

  private static DataOutputStream write(Path file) throws IOException {
    return new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)));
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

  /**
   * Returns how many JVMs were started.
   *
   * @return a count
   */
  public long started() {
    return started.get();
  }

  /**
   * Opens one image several times in one fresh JVM, until a check fails.
   *
   * @return the results, one or more; only the last one may be a failure
   */
  List<StateResult> alone(DiskImage image, PromiseLog log, long seq, int times) {
    List<StateResult> results = new ArrayList<>();
    Worker worker = new Worker();
    try {
      worker.restart();
      Path file = file(log);
      try {
        do {
          results.add(worker.once(image.fork(), file, seq, "whole").result());
        } while (results.size() < times && results.getLast().survived());
      } finally {
        release(log);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      worker.drop();
    }
    return results;
  }

  /** Whether a failure counts though the JVM had opened other images. */
  private synchronized boolean isBelieved(String kind) {
    Long seen = confirmed.computeIfPresent(kind, (_, count) -> count + 1);
    return seen != null && leaks.get() == 0 && Long.bitCount(seen) > 1;
  }

  /** Notes a failure in a fresh JVM. */
  private synchronized void confirm(String kind) {
    confirmed.putIfAbsent(kind, 1L);
  }

  private synchronized @Nullable Jvm takeIdle() {
    if (closed) {
      throw new IllegalStateException("the JVMs for images are closed");
    }
    return idle.poll();
  }

  private void giveBack(Jvm jvm) {
    boolean kept;
    synchronized (this) {
      kept = !closed;
      if (kept) {
        idle.push(jvm);
      }
    }
    if (!kept) {
      jvm.process.close();
    }
  }

  /** Ends all JVMs that no checker uses; those in use end when their checker is closed. */
  @Override
  public void close() {
    List<Jvm> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(idle);
      idle.clear();
    }
    all.forEach(jvm -> jvm.process.close());
    if (inMemory) {
      Scratch.delete(scratch);
    }
  }

  /** A JVM, and what it has done. */
  private static final class Jvm {

    private final ForkedJvm process;
    private int opened;

    Jvm(ForkedJvm process) {
      this.process = process;
    }
  }

  private Jvm start() throws IOException {
    ForkedJvm process =
        ForkedJvm.of(WorkerMain.class)
            .shortLived()
            .flags("--enable-native-access=ALL-UNNAMED")
            .flags(flags.toArray(String[]::new))
            .withCodeOf(subject)
            .passProperties()
            .startLimit(limit.compareTo(START) > 0 ? limit : START)
            .stallLimit(limit)
            .argument(subject.getName())
            .argument(inMemory ? WorkerMain.IN_MEMORY : WorkerMain.ON_DISK)
            .fork();
    started.incrementAndGet();
    if (!READY.equals(process.readLine()) || !process.rest(true)) {
      process.drain();
      int code = process.awaitEnd();
      process.close();
      throw new IllegalStateException(
          "a JVM that opens images of %s did not start: %s\n%s"
              .formatted(
                  subject.getName(),
                  process.stalled() ? "it hangs" : "it ended with exit code " + code,
                  endOf(process.stderr())));
    }
    return new Jvm(process);
  }

  private static String endOf(String output) {
    String text = output.strip();
    return text.substring(Math.max(0, text.length() - OUTPUT_SHOWN));
  }

  /** The answer of a JVM; with the recording only if one was requested. */
  private record Answer(StateResult result, @Nullable Recording recording) {}

  private final class Worker implements ImageChecker {

    private @Nullable Jvm jvm;
    private @Nullable Watchdog watchdog;

    /** How many images the JVM of the last check had opened, that one included. */
    private int opened;

    private volatile String phase = "nothing yet";

    @Override
    public StateResult check(DiskImage image, PromiseLog of, long seq) {
      return checked(image, of, seq, "whole").result();
    }

    @Override
    public StateResult glance(DiskImage image, PromiseLog of, long seq) {
      return checked(image, of, seq, "short").result();
    }

    @Override
    public StateResult look(DiskImage image, PromiseLog of, long seq) {
      return checked(image, of, seq, "look").result();
    }

    @Override
    public StateChecker.Recorded checkRecorded(DiskImage image, PromiseLog of, long seq) {
      if (!inMemory) {
        throw new UnsupportedOperationException("recoveries are not recorded on a real disk");
      }
      Answer answer = checked(image, of, seq, WorkerMain.RECORDED);
      Recording recording = answer.recording();
      return new StateChecker.Recorded(
          answer.result(), recording == null ? Recording.nothing(of) : recording);
    }

    @Override
    public boolean records() {
      return inMemory;
    }

    @Override
    public void watchedBy(Watchdog other) {
      watchdog = other;
    }

    /** The watches of the JVMs find what hangs in them, so the caller's watch rests meanwhile. */
    private Answer checked(DiskImage image, PromiseLog of, long seq, String how) {
      Watchdog watch = watchdog;
      if (watch == null) {
        return checkedInTurn(image, of, seq, how);
      }
      watch.rest(true);
      try {
        return checkedInTurn(image, of, seq, how);
      } finally {
        watch.rest(false);
      }
    }

    private Answer checkedInTurn(DiskImage image, PromiseLog of, long seq, String how) {
      try {
        Path log = file(of);
        try {
          return checked(image, log, seq, how);
        } finally {
          release(of);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Answer checked(DiskImage image, Path log, long seq, String how) throws IOException {
      Answer first = once(image, log, seq, how);
      if (first.result().survived()) {
        return first;
      }
      String kind = first.result().signature();
      if (isBelieved(kind)) {
        return first;
      }
      boolean fresh = opened == 1;
      drop();
      if (fresh) {
        confirm(kind);
        return first;
      }
      restart();
      Answer second = once(image, log, seq, how);
      if (second.result().survived()) {
        leaks.incrementAndGet();
      } else {
        confirm(second.result().signature());
        drop();
      }
      return second;
    }

    Answer once(DiskImage image, Path log, long seq, String how) throws IOException {
      return once(image, log, seq, how, /* again= */ true);
    }

    private Answer once(DiskImage image, Path log, long seq, String how, boolean again)
        throws IOException {
      Path place = scratch.resolve("image" + places.incrementAndGet());
      if (inMemory) {
        try (DataOutputStream out = write(place)) {
          ImageCodec.write(image, out);
        }
      } else {
        Files.createDirectory(place);
        image.writeTo(place);
      }
      Jvm with = jvm();
      opened = ++with.opened;
      ForkedJvm process = with.process;
      phase = "open";
      process.rest(false);
      @Nullable String line = null;
      try {
        process.tell(seq + "\t" + how + "\t" + log + "\t" + place);
        line = process.readLine();
        while (line != null && line.startsWith(WorkerMain.PHASE)) {
          phase = line.substring(WorkerMain.PHASE.length());
          line = process.readLine();
        }
      } catch (IOException e) {
        process.drain(); // it has ended; see below
      }
      boolean inTime = process.rest(true);
      FileTrees.delete(place);
      if (WorkerMain.BROKEN.equals(line)) {
        process.drain();
        String output = endOf(process.output());
        drop();
        throw new IllegalStateException(
            "a JVM that opens images cannot read the files for it in " + scratch + ":\n" + output);
      }
      if (line == null) {
        return new Answer(ended(process), null);
      }
      Answer answer = answer(line, place);
      if (inTime) {
        return answer;
      }
      // The answer came while the JVM was about to be killed, which the next image must not meet.
      drop();
      return again ? once(image, log, seq, how, /* again= */ false) : answer;
    }

    private Answer answer(String line, Path place) throws IOException {
      Path recorded = WorkerMain.recording(place);
      StateResult result = ResultCodec.decode(line);
      if (!Files.exists(recorded)) {
        return new Answer(result, null);
      }
      try (DataInputStream in =
          new DataInputStream(new BufferedInputStream(Files.newInputStream(recorded)))) {
        return new Answer(result, RecordingCodec.read(in));
      } finally {
        Files.delete(recorded);
      }
    }

    /** The store has ended its JVM, or it hangs. */
    private StateResult ended(ForkedJvm process) {
      int code = process.awaitEnd();
      drop();
      AssertionError failure;
      if (process.stalled()) {
        failure = new Hang(limit, process.mainStack());
      } else {
        failure = new AssertionError("the JVM ended with exit code " + code);
        failure.setStackTrace(new StackTraceElement[0]);
      }
      String output = endOf(process.output());
      if (!output.isEmpty()) {
        AssertionError said = new AssertionError("the end of its output:\n" + output);
        said.setStackTrace(new StackTraceElement[0]);
        failure.initCause(said);
      }
      return new StateResult(Verdict.CORRUPT, List.of(), failure, phase, 0, 0);
    }

    private Jvm jvm() throws IOException {
      Jvm mine = jvm;
      if (mine != null && mine.opened >= images) {
        drop();
        mine = null;
      }
      if (mine == null) {
        mine = takeIdle();
      }
      if (mine == null) {
        mine = start();
      }
      jvm = mine;
      return mine;
    }

    /** Takes a JVM that has opened nothing. */
    void restart() throws IOException {
      drop();
      jvm = start();
    }

    /** Kills the JVM: nothing of what it did remains. */
    void drop() {
      Jvm mine = jvm;
      jvm = null;
      if (mine != null) {
        mine.process.close();
      }
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
      Jvm mine = jvm;
      jvm = null;
      if (mine != null) {
        giveBack(mine);
      }
    }
  }
}
