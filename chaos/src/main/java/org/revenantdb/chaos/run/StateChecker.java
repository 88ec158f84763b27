package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.oracle.RecoveredState;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * Opens an image, lets the subject check it and continue working, and opens it again.
 *
 * <p>Threads: one; each thread has its own checker. Failure: none; failures of the subject are the
 * result.
 *
 * @param <S> the open store
 */
public final class StateChecker<S> implements ImageChecker {

  private static final long AFTER_A_CRASH = -2;
  private static final String OUR_DISK = MemoryFileSystem.class.getPackageName() + ".";

  private final CrashSubject<S> subject;
  private final boolean resume;
  private final Consumer<String> phases;
  private volatile String phase = "nothing yet";

  /**
   * Creates a checker with its own subject.
   *
   * @param subjects creates subjects
   * @param resume whether the store must prove that it accepts new work
   */
  public StateChecker(Supplier<CrashSubject<S>> subjects, boolean resume) {
    this(subjects, resume, _ -> {});
  }

  /**
   * Creates a checker with its own subject.
   *
   * @param subjects creates subjects
   * @param resume whether the store must prove that it accepts new work
   * @param phases receives each phase before it begins
   */
  StateChecker(Supplier<CrashSubject<S>> subjects, boolean resume, Consumer<String> phases) {
    this.subject = subjects.get();
    this.resume = resume;
    this.phases = phases;
  }

  /**
   * A recorded recovery, which can be crashed in turn.
   *
   * @param result of the check
   * @param recording of the recovery
   */
  public record Recorded(StateResult result, Recording recording) {}

  /**
   * Checks an image.
   *
   * @param image is changed: the store writes to it
   * @param log the promises
   * @param seq the crash point: promises before it count
   * @return the result
   */
  @Override
  public StateResult check(DiskImage image, PromiseLog log, long seq) {
    Path root = MemoryFileSystem.apart(image).root();
    // The copy of the log for new work costs as much as a check, so it is made only if needed.
    return run(root, log, seq, resume ? log.before(seq) : null, new TraceClock());
  }

  /**
   * Checks an image like {@link #check}, without the last step: new work must be accepted, but is
   * not checked at another opening. It takes about half the time.
   *
   * @param image is changed
   * @param log the promises
   * @param seq the crash point
   * @return the result
   */
  @Override
  public StateResult glance(DiskImage image, PromiseLog log, long seq) {
    return run(MemoryFileSystem.apart(image).root(), log, seq, null, new TraceClock());
  }

  /**
   * Checks an image and records its recovery.
   *
   * @param image is changed
   * @param log the promises
   * @param seq the crash point
   * @return the result, and the recording with the promises that apply to it
   * @throws IOException if the recording cannot be made
   */
  @Override
  public Recorded checkRecorded(DiskImage image, PromiseLog log, long seq) throws IOException {
    RecordingFileSystem recorder =
        RecordingFileSystem.over(MemoryFileSystem.apart(image).root()).start();
    PromiseLog inner = log.before(seq).withStacks();
    StateResult result = run(recorder.directory(), log, seq, inner, recorder.clock());
    Trace trace = recorder.trace();
    boolean seen = trace.gaps().isEmpty();
    String reason =
        seen
            ? ""
            : "not all file operations of the recovery can be recorded: " + trace.gaps().getFirst();
    Verdict usable = seen ? Verdict.SURVIVED : Verdict.NOT_MEASURED;
    return new Recorded(
        result, new Recording(trace, inner, usable, reason, recorder.clock().now()));
  }

  /**
   * Checks a directory of any file system, which the store then changes.
   *
   * @param directory what a crash left
   * @param log the promises
   * @param seq the crash point
   * @param readBack whether new work is checked at another opening
   * @return the result
   */
  public StateResult checkIn(Path directory, PromiseLog log, long seq, boolean readBack) {
    return run(directory, log, seq, readBack && resume ? log.before(seq) : null, new TraceClock());
  }

  private StateResult run(
      Path root, PromiseLog log, long seq, @Nullable PromiseLog more, TraceClock clock) {
    try (UncaughtExceptions threads = UncaughtExceptions.watch()) {
      StateResult result = live(root, log, seq, more, clock);
      Throwable death = threads.first();
      if (death == null || !result.survived()) {
        return result;
      }
      phase = StateResult.OF_A_THREAD;
      return failed(death, result.openNanos(), /* asking= */ null);
    }
  }

  private StateResult live(
      Path root, PromiseLog log, long seq, @Nullable PromiseLog more, TraceClock clock) {
    RecoveredState recovered = log.at(seq);
    @Nullable RecoveredState asking = null;
    @Nullable S store = null;
    long nanos = 0;
    try {
      begin("open");
      long begun = System.nanoTime();
      store = subject.open(root);
      nanos = System.nanoTime() - begun;
      begin("check");
      asking = recovered;
      subject.check(store, recovered);
      if (!recovered.asked() || recovered.verdict() != Verdict.SURVIVED) {
        return judged(recovered, nanos, recovered.answers());
      }
      asking = null;
      if (more == null) {
        if (resume) {
          begin("resume");
          subject.resume(store, new PromiseLog().promises(clock, seedAfter(log, seq)));
        }
        begin("close");
        close(store);
        store = null;
        return done(nanos, recovered.answers());
      }
      begin("resume");
      more.settle(recovered);
      subject.resume(store, more.promises(clock, seedAfter(log, seq)));
      begin("close");
      close(store);
      store = null;
      begin("open again");
      store = subject.open(root);
      begin("check again");
      RecoveredState again = more.at(clock.next());
      asking = again;
      subject.check(store, again);
      if (again.verdict() != Verdict.SURVIVED) {
        return judged(again, nanos, recovered.answers());
      }
      asking = null;
      begin("close");
      close(store);
      store = null;
      return done(nanos, recovered.answers());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failed(e, nanos, asking);
    } catch (Exception | Error e) { // any exception of a subject is a result
      return failed(e, nanos, asking);
    } finally {
      if (store != null) {
        closeQuietly(store);
      }
    }
  }

  private void begin(String what) {
    phase = what;
    phases.accept(what);
  }

  /** Unlike that of any life before the crash, because subjects derive their values from it. */
  private static long seedAfter(PromiseLog log, long seq) {
    return Seeds.of(Seeds.of(seq, log.lives()), AFTER_A_CRASH);
  }

  private StateResult done(long nanos, long answers) {
    phase = "done";
    return new StateResult(Verdict.SURVIVED, List.of(), null, phase, nanos, answers);
  }

  private StateResult judged(RecoveredState recovered, long nanos, long answers) {
    Verdict verdict = recovered.asked() ? recovered.verdict() : Verdict.HARNESS_BROKEN;
    return new StateResult(
        verdict,
        recovered.findings(),
        recovered.asked()
            ? null
            : new IllegalStateException("the subject's check verifies nothing"),
        phase,
        nanos,
        answers);
  }

  /**
   * What a check found before it failed counts, too: an exception, even a clear refusal, excuses
   * none of it, and it is often the cause.
   */
  private StateResult failed(Throwable failure, long nanos, @Nullable RecoveredState asking) {
    List<Finding> findings = asking == null ? List.of() : asking.findings();
    Verdict verdict = isBeyondOurDisk(failure) ? Verdict.NOT_MEASURED : Verdict.CORRUPT;
    for (Finding finding : findings) {
      verdict = verdict.worse(finding.kind().verdict());
    }
    return new StateResult(verdict, findings, failure, phase, nanos, 0);
  }

  /**
   * The store needs something that a disk in memory does not have, such as a mapping: not its
   * fault.
   */
  private static boolean isBeyondOurDisk(Throwable failure) {
    StackTraceElement[] stack = failure.getStackTrace();
    // The failure of a thread has the exception as its cause, and that exception's stack.
    return (failure instanceof UnsupportedOperationException
            || failure.getCause() instanceof UnsupportedOperationException)
        && stack.length > 0
        && stack[0].getClassName().startsWith(OUR_DISK);
  }

  private void close(S store) throws Exception {
    subject.close(store);
  }

  /** The result is known already; a store in such a state may fail to close. */
  private void closeQuietly(S store) {
    try {
      subject.close(store);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception | Error e) {
      // Nothing more can be learnt from it.
    }
  }

  /**
   * Returns the subject's class.
   *
   * @return its binary name
   */
  @Override
  public String subjectClass() {
    return subject.getClass().getName();
  }

  /**
   * Returns what is being done, for a watcher in another thread.
   *
   * @return the phase
   */
  @Override
  public String phase() {
    return phase;
  }

  /**
   * Returns whether a failure is a clear report of the store that its files are damaged.
   *
   * @param result of a check
   * @return true if it is a refusal and nothing else was found
   */
  boolean refused(StateResult result) {
    return result.failure() != null
        && result.findings().isEmpty()
        && subject.refuses(result.failure());
  }
}
