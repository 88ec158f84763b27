package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;

/**
 * A checker with a time limit: an image on which the subject hangs is {@link Verdict#CORRUPT}, and
 * a subject that ends the JVM does not pass. Each check has its own thread.
 *
 * <p>Threads: one.
 *
 * @param <S> the open store
 */
final class PatientChecker<S> implements Look {

  private final Supplier<CrashSubject<S>> subjects;
  private final boolean resume;
  private final Duration limit;
  private StateChecker<S> checker;

  PatientChecker(Supplier<CrashSubject<S>> subjects, boolean resume, Duration limit) {
    this.subjects = subjects;
    this.resume = resume;
    this.limit = limit;
    this.checker = new StateChecker<>(subjects, resume);
  }

  /** A task for a checker. */
  private interface Task<R> {
    R on(StateChecker<?> checker) throws IOException;
  }

  @Override
  public StateResult at(DiskImage image, PromiseLog log, long seq) {
    return patiently(one -> one.check(image, log, seq), hanging -> hanging);
  }

  /** Checks a directory of a real disk, which the store then changes. */
  StateResult in(Path directory, PromiseLog log, long seq) {
    return patiently(
        one -> one.checkIn(directory, log, seq, /* readBack= */ true), hanging -> hanging);
  }

  /** A check with new work, whatever the setting for other checks, and its file operations. */
  StateChecker.Recorded recorded(DiskImage image, PromiseLog log, long seq) {
    return patiently(
        one -> one.checkRecorded(image, log, seq),
        hanging -> new StateChecker.Recorded(hanging, Recording.nothing(log)));
  }

  private <R> R patiently(Task<R> task, Function<StateResult, R> hangs) {
    StateChecker<S> current = checker;
    AtomicReference<@Nullable R> result = new AtomicReference<>();
    TimedCall call = TimedCall.run("a check", limit, step -> result.set(task.on(current)));
    R found = result.get();
    if (!call.hangs() && found != null) {
      return found;
    }
    if (!call.hangs()) {
      throw new IllegalStateException("the framework failed in a check", call.failure());
    }
    // The hanging thread keeps its subject.
    checker = new StateChecker<>(subjects, resume);
    Hang hanging = new Hang(limit, call.standsAt());
    return hangs.apply(new StateResult(Verdict.CORRUPT, List.of(), hanging, current.phase(), 0, 0));
  }

  /** The present checker. */
  StateChecker<S> checker() {
    return checker;
  }
}
