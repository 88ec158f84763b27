package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.record.RecordingFileSystem;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Trace;

/**
 * Lets a subject live on an intact disk in memory and records it: the run that crash states are
 * built from.
 *
 * <p>Each life opens the store, works, and closes it. Afterwards the subject's own check must hold
 * on what is there; a subject that fails here says nothing about crashes and is {@link
 * Verdict#HARNESS_BROKEN}.
 *
 * @param <S> the open store
 */
public final class LifeRecorder<S> {

  private final Supplier<CrashSubject<S>> subjects;
  private final long seed;
  private final int lives;
  private final Duration limit;

  /**
   * Creates a recorder.
   *
   * @param subjects makes subjects
   * @param seed of the first life; each further one has the next
   * @param lives how often the store is opened, worked with and closed, 1 or more
   * @param limit how long all of them together may take
   */
  public LifeRecorder(Supplier<CrashSubject<S>> subjects, long seed, int lives, Duration limit) {
    this.subjects = subjects;
    this.seed = seed;
    this.lives = lives;
    this.limit = limit;
  }

  /**
   * Records the lives.
   *
   * @return the recording, usable or with the reason why not
   * @throws IOException if the disk in memory cannot be made
   */
  public Recording record() throws IOException {
    DiskImage disk = new DiskImage();
    MemoryFileSystem memory = MemoryFileSystem.of(disk);
    Path directory = Files.createDirectory(memory.root().resolve("store"));
    RecordingFileSystem recorder = RecordingFileSystem.over(directory).start();
    PromiseLog log = new PromiseLog();
    TimedCall call =
        TimedCall.run("a life of the subject", limit, step -> live(recorder, log, step));
    Trace trace = recorder.trace();
    String reason = call.complaint();
    Verdict verdict = reason.isEmpty() ? Verdict.SURVIVED : Verdict.HARNESS_BROKEN;
    if (!trace.gaps().isEmpty()) {
      verdict = Verdict.NOT_MEASURED;
      reason = "what the store does to its files cannot all be seen: " + trace.gaps().getFirst();
    } else if (!trace.escapes().isEmpty()) {
      verdict = Verdict.HARNESS_BROKEN;
      reason = "the subject writes outside its directory: " + trace.escapes().getFirst();
    } else if (verdict == Verdict.SURVIVED && log.isEmpty()) {
      verdict = Verdict.HARNESS_BROKEN;
      reason = "the subject's work promised nothing";
    } else if (verdict == Verdict.SURVIVED && trace.operations().isEmpty()) {
      verdict = Verdict.HARNESS_BROKEN;
      reason = "the store did nothing to the directory it was given";
    }
    long end = recorder.clock().next();
    Recording recording = new Recording(trace, log, verdict, reason, end);
    return recording.usable() ? checkedIntact(recording, directory) : recording;
  }

  private void live(RecordingFileSystem recorder, PromiseLog log, TimedCall.Step step)
      throws Exception {
    for (int life = 0; life < lives; life++) {
      CrashSubject<S> subject = subjects.get();
      String which = " in life " + (life + 1) + ", on an intact disk";
      step.now("open" + which);
      S store = subject.open(recorder.directory());
      boolean worked = false;
      try {
        step.now("work" + which);
        subject.work(store, log.promises(recorder.clock(), seed + life));
        worked = true;
      } finally {
        closeAfter(subject, store, worked, step, which);
      }
    }
  }

  private void closeAfter(
      CrashSubject<S> subject, S store, boolean worked, TimedCall.Step step, String which)
      throws Exception {
    if (worked) {
      step.now("close" + which);
      subject.close(store);
      return;
    }
    try {
      subject.close(store);
    } catch (Exception e) { // the failure of the work is on its way and says more
      step.now("work" + which);
    }
  }

  /** The check itself must hold where nothing was lost. */
  private Recording checkedIntact(Recording recording, Path directory) throws IOException {
    DiskImage image = DiskImage.of(directory);
    StateChecker<S> checker = new StateChecker<>(subjects, /* resume= */ false);
    @Nullable StateResult[] result = new StateResult[1];
    TimedCall call =
        TimedCall.run(
            "the check of an intact store",
            limit,
            step -> result[0] = checker.check(image, recording.promises(), recording.end()));
    StateResult found = result[0];
    String reason = call.complaint();
    if (found != null && !found.survived()) {
      reason =
          "the subject's own check does not hold on an intact disk: "
              + found.summary()
              + (found.failure() == null ? "" : "\n" + Stacks.text(found.failure()));
    }
    return reason.isEmpty()
        ? recording
        : new Recording(
            recording.trace(),
            recording.promises(),
            Verdict.HARNESS_BROKEN,
            reason,
            recording.end());
  }
}
