package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.oracle.RecoveredState;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * Opens an image, asks the subject to look at it, has it go on working, and opens it once more.
 *
 * <p>Threads: one; each thread has a checker of its own. Failure: none of the subject's leave it;
 * they are the result.
 *
 * @param <S> the open store
 */
public final class StateChecker<S> {

  private static final long AFTER_A_CRASH = -2;
  private static final String OUR_DISK = MemoryFileSystem.class.getPackageName() + ".";

  private final CrashSubject<S> subject;
  private final boolean resume;
  private volatile String phase = "nothing yet";

  /**
   * Creates a checker with a subject of its own.
   *
   * @param subjects makes subjects
   * @param resume whether the store must prove that it accepts new work
   */
  public StateChecker(Supplier<CrashSubject<S>> subjects, boolean resume) {
    this.subject = subjects.get();
    this.resume = resume;
  }

  /** A recovery that was recorded itself, so that it can be crashed. */
  record Recorded(StateResult result, Recording recording) {}

  /**
   * Checks an image.
   *
   * @param image is used up: the store writes to it
   * @param log what was promised
   * @param seq the crash point: what was said before it counts
   * @return what came of it
   */
  public StateResult check(DiskImage image, PromiseLog log, long seq) {
    Path root = MemoryFileSystem.of(image).root();
    // Making the copy that new work is told to costs as much as a check,
    // so only who goes on gets one.
    return run(root, log, seq, resume ? log.before(seq) : null, new TraceClock());
  }

  /**
   * Checks an image as {@link #check} does, but for the last step: that new work is accepted is
   * seen, that it is there at the next opening is not. It takes about half the time.
   *
   * @param image is used up
   * @param log what was promised
   * @param seq the crash point
   * @return what came of it
   */
  StateResult glance(DiskImage image, PromiseLog log, long seq) {
    return run(MemoryFileSystem.of(image).root(), log, seq, null, new TraceClock());
  }

  /**
   * Checks an image and records what its recovery does.
   *
   * @param image is used up
   * @param log what was promised
   * @param seq the crash point
   * @return what came of it, and the recording with the promises that it is bound by
   * @throws IOException if the recording cannot be made
   */
  Recorded checkRecorded(DiskImage image, PromiseLog log, long seq) throws IOException {
    RecordingFileSystem recorder =
        RecordingFileSystem.over(MemoryFileSystem.of(image).root()).start();
    PromiseLog inner = log.before(seq);
    StateResult result = run(recorder.directory(), log, seq, inner, recorder.clock());
    Trace trace = recorder.trace();
    boolean seen = trace.gaps().isEmpty();
    String reason =
        seen
            ? ""
            : "what recovery does to its files cannot all be seen: " + trace.gaps().getFirst();
    Verdict usable = seen ? Verdict.SURVIVED : Verdict.NOT_MEASURED;
    return new Recorded(
        result, new Recording(trace, inner, usable, reason, recorder.clock().now()));
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
      return failed(death, result.openNanos());
    }
  }

  private StateResult live(
      Path root, PromiseLog log, long seq, @Nullable PromiseLog more, TraceClock clock) {
    RecoveredState recovered = log.at(seq);
    @Nullable S store = null;
    long nanos = 0;
    try {
      phase = "open";
      long begun = System.nanoTime();
      store = subject.open(root);
      nanos = System.nanoTime() - begun;
      phase = "check";
      subject.check(store, recovered);
      if (!recovered.asked() || recovered.verdict() != Verdict.SURVIVED) {
        return judged(recovered, nanos, recovered.answers());
      }
      if (more == null) {
        if (resume) {
          phase = "resume";
          subject.resume(store, new PromiseLog().promises(clock, seedAfter(log, seq)));
        }
        phase = "close";
        close(store);
        store = null;
        return done(nanos, recovered.answers());
      }
      phase = "resume";
      more.settle(recovered);
      subject.resume(store, more.promises(clock, seedAfter(log, seq)));
      phase = "close";
      close(store);
      store = null;
      phase = "open again";
      store = subject.open(root);
      phase = "check again";
      RecoveredState again = more.at(clock.next());
      subject.check(store, again);
      if (again.verdict() != Verdict.SURVIVED) {
        return judged(again, nanos, recovered.answers());
      }
      phase = "close";
      close(store);
      store = null;
      return done(nanos, recovered.answers());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failed(e, nanos);
    } catch (Exception | Error e) { // whatever a subject throws is what we are here to see
      return failed(e, nanos);
    } finally {
      if (store != null) {
        closeQuietly(store);
      }
    }
  }

  /** Unlike that of any life before the crash: subjects make their values from it. */
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

  private StateResult failed(Throwable failure, long nanos) {
    Verdict verdict = isBeyondOurDisk(failure) ? Verdict.NOT_MEASURED : Verdict.CORRUPT;
    return new StateResult(verdict, List.of(), failure, phase, nanos, 0);
  }

  /**
   * The store wants what a disk in memory does not have, such as a mapping: no fault of its own.
   */
  private static boolean isBeyondOurDisk(Throwable failure) {
    StackTraceElement[] stack = failure.getStackTrace();
    // The death of a thread has what it died of as its cause, and the stack of that.
    return (failure instanceof UnsupportedOperationException
            || failure.getCause() instanceof UnsupportedOperationException)
        && stack.length > 0
        && stack[0].getClassName().startsWith(OUR_DISK);
  }

  private void close(S store) throws Exception {
    subject.close(store);
  }

  /** The result stands already; a store in such a state may well fail to close. */
  private void closeQuietly(S store) {
    try {
      subject.close(store);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception | Error e) {
      // Nothing more is to be learnt from it.
    }
  }

  /**
   * The subject's class.
   *
   * @return its binary name
   */
  String subjectClass() {
    return subject.getClass().getName();
  }

  /**
   * Tells, for whoever watches from another thread, what is being done.
   *
   * @return the phase
   */
  String phase() {
    return phase;
  }

  /**
   * Tells whether a failure is the store's clear word that its files are damaged.
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
