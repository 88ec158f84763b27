package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.LossControl;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.run.Workers;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * Records lives of a subject that uses a real directory by any means. The lives run in a forked JVM
 * that records itself, with native hooks or an agent ({@link Recorders}).
 *
 * <p>The recording is {@link Verdict#NOT_MEASURED} if the platform cannot do it, if something could
 * not be recorded, and if the model of the directory ever differs from the directory.
 *
 * <p>Threads: one.
 */
public final class AnyRecorder implements AutoCloseable {

  private static final int PAGE = 4096;
  private static final int TIMED_LIVES = 5;

  private final Class<?> subject;
  private final long seed;
  private final int lives;
  private final Duration limit;
  private final List<String> flags;
  private Recorders by = Recorders.chosen();

  /** The flags of the recorded JVMs; empty before the first one. */
  private List<String> recorded = List.of();

  private final Path scratch;
  private final Path images;
  private int controls;
  private int imagesPerJvm = Workers.IMAGES;
  private @Nullable Workers workers;

  /**
   * Creates a recorder.
   *
   * @param subject class of the subject
   * @param seed of the first life; each further one has the next
   * @param lives the number of times the store is opened, worked with and closed, 1 or more
   * @param limit the time limit of each step
   * @param flags further flags of the forked JVMs
   * @param scratch an existing directory for the files of this recorder
   * @throws IOException if a directory cannot be created
   */
  public AnyRecorder(
      Class<?> subject, long seed, int lives, Duration limit, List<String> flags, Path scratch)
      throws IOException {
    this.subject = subject;
    this.seed = seed;
    this.lives = lives;
    this.limit = limit;
    this.flags = List.copyOf(flags);
    this.scratch = scratch.toRealPath();
    this.images = Workers.imagesDirectory(scratch);
  }

  /**
   * Changes the number of images that one JVM opens.
   *
   * @param most 1 or more
   * @return this
   */
  AnyRecorder imagesPerJvm(int most) {
    imagesPerJvm = most;
    return this;
  }

  /**
   * Returns why this platform cannot hook native code. The agent records there instead.
   *
   * @return a sentence, or an empty text if it can
   */
  public static String missingHooks() {
    return Recorders.missingHooks();
  }

  /** Changes what records, which is usually what works here. */
  AnyRecorder by(Recorders recorder) {
    by = recorder;
    return this;
  }

  /** How many times the model was compared with the directory, and was equal. */
  public int controls() {
    return controls;
  }

  /**
   * Records the lives, and makes the controls.
   *
   * @return the recording, usable or with the reason why not
   * @throws IOException if a file of this recorder cannot be written
   */
  public Recording record() throws IOException {
    try {
      var _ = recordedFlags();
    } catch (IOException e) {
      return unusable(Verdict.NOT_MEASURED, String.valueOf(e.getMessage()));
    }
    HookedLives whole = lives("recorded");
    whole.live(HookedMain.RECORD, seed, lives, /* killAt= */ Long.MAX_VALUE);
    TraceBuilder built = whole.built(-1);
    Trace trace = built.trace();
    PromiseLog log = PromiseLog.of(built.promises()).madeIn(built.madeIn());
    // A thread of the store may do something behind the last control.
    long end =
        1 + trace.operations().stream().mapToLong(Operation::seq).reduce(whole.last(), Math::max);
    Recording recording = new Recording(trace, log, Verdict.SURVIVED, "", end);
    String lost = whole.lost();
    if (!whole.unsupported().isEmpty()) {
      String other =
          by == Recorders.HOOKS ? "\nWith -Drevenant.chaos.recorder=agent an agent records." : "";
      return notMeasured(recording, whole.unsupported() + other);
    } else if (!lost.isEmpty()) {
      return notMeasured(recording, lost);
    } else if (!trace.gaps().isEmpty()) {
      return notMeasured(
          recording,
          "not all file operations of the store can be recorded: " + trace.gaps().getFirst());
    } else if (!whole.complaint().isEmpty()) {
      return recording.unusable(Verdict.HARNESS_BROKEN, whole.complaint());
    } else if (log.answerCount(Long.MAX_VALUE) == 0) {
      return recording.unusable(Verdict.HARNESS_BROKEN, LossControl.PROMISED_NOTHING);
    }
    String different = whole.differences(trace, end);
    controls += whole.equal();
    if (different.isEmpty() && trace.operations().isEmpty()) {
      return recording.unusable(
          Verdict.HARNESS_BROKEN, "the store did nothing to the directory it was given");
    }
    if (different.isEmpty()) {
      different = killed(whole.operations() / lives);
    }
    if (!different.isEmpty()) {
      return notMeasured(recording, different);
    }
    String complaint = complaint(recording, whole.left());
    return complaint.isEmpty() ? recording : recording.unusable(Verdict.HARNESS_BROKEN, complaint);
  }

  private List<String> recordedFlags() throws IOException {
    if (recorded.isEmpty()) {
      List<String> all = new ArrayList<>(by.flags(scratch));
      all.addAll(flags);
      recorded = all;
    }
    return recorded;
  }

  private HookedLives lives(String name) throws IOException {
    Path file = images.resolve(name + ".tape");
    return new HookedLives(
        subject,
        limit,
        recordedFlags(),
        Files.createDirectory(scratch.resolve(name)),
        file,
        HookedLives.newTape(file));
  }

  /** Another recorder may see more, so the reason names this one. */
  private Recording notMeasured(Recording seen, String reason) {
    return seen.unusable(Verdict.NOT_MEASURED, reason + "\n(recorded by " + by.title() + ")");
  }

  private static Recording unusable(Verdict verdict, String reason) {
    Trace nothing = new Trace(new DiskImage(), List.of(), List.of(), List.of());
    return new Recording(nothing, new PromiseLog(), verdict, reason, 1);
  }

  /**
   * Returns checkers for images of the subject's directory.
   *
   * @return creates a checker for each thread
   */
  public Workers workers() {
    Workers made = workers;
    if (made == null) {
      made = Workers.onDisk(subject, images, flags, limit, imagesPerJvm);
      workers = made;
    }
    return made;
  }

  /**
   * Returns lives with faults.
   *
   * @return begins them
   * @throws IOException if a file of this recorder cannot be written
   */
  AnyFaults faults() throws IOException {
    return new AnyFaults(
        subject,
        seed,
        limit,
        recordedFlags(),
        Files.createDirectories(scratch.resolve("faults")),
        images);
  }

  /**
   * Measures how long works of the subject take, each in a life of its own behind the same number
   * of other lives.
   *
   * @param hooked whether they are recorded
   * @return nanoseconds without the first life, in which the JVM is cold
   * @throws IOException if a file of this recorder cannot be written, or a life fails
   */
  List<Long> durations(boolean hooked) throws IOException {
    HookedLives timed = lives(hooked ? "timed" : "plain");
    timed.live(hooked ? HookedMain.TIMED : HookedMain.PLAIN, seed, TIMED_LIVES + 1, Long.MAX_VALUE);
    String wrong = timed.unsupported() + timed.complaint() + timed.lost();
    if (!wrong.isEmpty()) {
      throw new IOException("a life whose duration was measured: " + wrong);
    }
    return timed.durations().subList(1, timed.durations().size());
  }

  /** A life of its own is killed, and the model must equal what it leaves. */
  private String killed(long operations) throws IOException {
    HookedLives life = lives("killed");
    long at = new SplittableRandom(seed).nextLong(1, Math.max(2, operations));
    life.live(HookedMain.RECORD, seed, 1, at);
    String lost = life.lost();
    if (!life.complaint().isEmpty() || !life.unsupported().isEmpty() || !lost.isEmpty()) {
      return "the life for the control with a kill: "
          + life.complaint()
          + life.unsupported()
          + lost;
    }
    TraceBuilder built = life.built(-1);
    String different = life.difference(built, life.left(), built.mappedPaths());
    long length = built.inFlight();
    // What the kill interrupted may have been carried out, a write also in part.
    for (long done = 0; !different.isEmpty() && done <= length; ) {
      TraceBuilder further = life.built(done);
      String other = life.difference(further, life.left(), further.mappedPaths());
      different = other.isEmpty() ? "" : different;
      done = done == length ? length + 1 : Math.min(length, (done / PAGE + 1) * PAGE);
    }
    if (different.isEmpty()) {
      controls++;
      return "";
    }
    return "after a kill at operation " + at + ", " + different;
  }

  /** The controls of the subject: it survives if all is kept, and not if all is lost. */
  private String complaint(Recording recording, DiskImage everything) throws IOException {
    PromiseLog promises = recording.promises();
    try (ImageChecker checker = workers().get()) {
      StateResult kept = checker.check(everything, promises, recording.end());
      if (!kept.survived()) {
        Throwable failure = kept.failure();
        return "the subject's own check does not hold on an intact disk: "
            + kept.summary()
            + (failure == null ? "" : "\n" + CallStack.text(failure));
      }
      boolean seesLoss =
          LossControl.seesLoss(
              promises,
              recording.end(),
              crash -> checker.glance(new DiskImage(), promises, crash).verdict());
      return seesLoss ? "" : LossControl.COMPLAINT;
    }
  }

  @Override
  public void close() {
    Workers made = workers;
    if (made != null) {
      made.close();
    }
    Scratch.delete(images);
  }
}
