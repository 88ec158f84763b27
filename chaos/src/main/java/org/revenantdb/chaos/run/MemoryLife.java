package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.oracle.RecoveredState;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * A life with a fault on a disk in memory.
 *
 * @param <S> the open store
 */
class MemoryLife<S> implements FaultLife {

  private final Supplier<CrashSubject<S>> subjects;
  private final PowerCutOptions options;
  private final FaultCase fault;
  private final TraceClock clock = new TraceClock();
  private final Strikes strikes;
  private final PromiseLog log = new PromiseLog().withStacks();

  /** The promises from the place where the second life began; null before. */
  private @Nullable PromiseLog later;

  private long laterFrom = Long.MAX_VALUE;
  private final Path directory;
  private RecordingFileSystem recorder;

  MemoryLife(Supplier<CrashSubject<S>> subjects, PowerCutOptions options, FaultCase fault)
      throws IOException {
    this.subjects = subjects;
    this.options = options;
    this.fault = fault;
    this.strikes = new Strikes(fault.injector().get(), clock);
    this.directory =
        Files.createDirectory(MemoryFileSystem.apart(new DiskImage()).root().resolve("store"));
    this.recorder = RecordingFileSystem.over(directory).clock(clock).faults(strikes).start();
  }

  PowerCutOptions options() {
    return options;
  }

  TraceClock clock() {
    return clock;
  }

  /** Late operations of the process must not reach the disk any more. */
  final void endProcess() throws IOException {
    strikes.end();
    recorder = recorder.nextProcess(FaultInjector.NOTHING);
  }

  /** The directory of the store in the present process. */
  Path store() {
    return recorder.directory();
  }

  @Override
  public Lived live() throws IOException {
    TimedCall call = TimedCall.run("a life with " + fault.title(), options.limit(), this::work);
    return new Lived(
        strikes.struck(),
        strikes.in(),
        strikes.firstAt(),
        call.hangs(),
        call.complaint(),
        call.thrownAnywhere(),
        /* broken= */ "",
        /* unmeasured= */ "");
  }

  private void work(TimedCall.Step step) throws Exception {
    CrashSubject<S> subject = subjects.get();
    step.now("open with " + fault.title());
    S store = subject.open(recorder.directory());
    try {
      step.now("work with " + fault.title());
      subject.work(store, log.promises(clock, options.seed()));
    } finally {
      step.now("close with " + fault.title());
      subject.close(store);
    }
  }

  @Override
  public final DiskImage left() throws IOException {
    return DiskImage.of(directory);
  }

  @Override
  public final PromiseLog promises() {
    return log;
  }

  @Override
  public final long now() {
    return clock.next();
  }

  @Override
  public final LivedOn liveOn() {
    TimedCall call =
        TimedCall.run("a life after " + fault.title(), options.limit(), this::workAgain);
    return new LivedOn(
        call.complaint(),
        call.failure(),
        call.complaint().isEmpty() ? recorder.trace() : Recording.nothing(log).trace(),
        later,
        laterFrom,
        clock.now(),
        /* unmeasured= */ "");
  }

  private void workAgain(TimedCall.Step step) throws Exception {
    endProcess();
    CrashSubject<S> subject = subjects.get();
    step.now("open after " + fault.title());
    S store = subject.open(recorder.directory());
    try {
      // Lazy work may be lost with the first process: the present content counts.
      step.now("check after " + fault.title());
      RecoveredState found = log.at(Long.MAX_VALUE);
      found.during(() -> subject.check(store, found));
      PromiseLog next = log.before(Long.MAX_VALUE).settle(found).withStacks();
      laterFrom = clock.next();
      later = next;
      step.now("resume after " + fault.title());
      subject.resume(store, next.promises(clock, Seeds.of(options.seed(), 1)));
    } finally {
      step.now("close after " + fault.title());
      subject.close(store);
    }
  }
}
