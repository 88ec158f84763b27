package org.revenantdb.chaos.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.oracle.RecoveredState;
import org.revenantdb.chaos.power.CrashPlan;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.CrashStates;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.run.FaultCase.Contract;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * Injects faults into the operations of a living subject, and checks the files afterwards.
 *
 * <p>Each case is a life of its own on a disk in memory: open, work and close while the plan
 * injects faults. Then the files as a process death leaves them are opened without faults. If
 * nothing may be lost, the store also lives again on the same disk, and the power is cut at moments
 * of both lives. After a failed force, this is where a store that trusts what it reads fails.
 *
 * <p>Threads: one.
 *
 * @param <S> the open store
 */
public final class FaultRun<S> {

  private static final String NAME = "faults";

  private final Supplier<CrashSubject<S>> subjects;
  private final PowerCutOptions options;
  private final List<FaultCase> cases;
  private final Tally tally = new Tally();
  private final Map<String, FaultRow> rows = new LinkedHashMap<>();
  private final PatientChecker<S> checker;
  private final long begun = System.nanoTime();

  /**
   * Prepares a run.
   *
   * @param subjects creates subjects
   * @param options profile of the power cuts, seed, number of states for each case, limit of a life
   *     and of a state, budget
   * @param cases the faults, one life for each
   */
  public FaultRun(
      Supplier<CrashSubject<S>> subjects, PowerCutOptions options, List<FaultCase> cases) {
    this.subjects = subjects;
    this.options = options;
    this.cases = List.copyOf(cases);
    this.checker = new PatientChecker<>(subjects, /* resume= */ true, options.limit());
  }

  /**
   * Runs all lives, until the budget is used up. The first one has no fault, to detect a subject
   * that is itself at fault.
   *
   * @return the result
   * @throws IOException if a disk in memory cannot be made
   */
  public Outcome run() throws IOException {
    Recording intact =
        new LifeRecorder<>(subjects, options.seed(), /* lives= */ 1, options.limit()).record();
    if (!intact.usable()) {
      return Outcome.of(NAME, intact.verdict(), intact.reason());
    }
    Duration budget = options.budget();
    for (FaultCase each : cases) {
      if (budget != null && System.nanoTime() - begun > budget.toNanos()) {
        break;
      }
      FaultRow row = new Life(each).live();
      rows.merge(row.name(), row, FaultRow::plus);
    }
    return tally.outcome(NAME, 0);
  }

  /**
   * Returns the results of each kind of fault.
   *
   * @return a row for each name, in the order of the cases
   */
  public List<FaultRow> rows() {
    return List.copyOf(rows.values());
  }

  /** One life with one fault. */
  private final class Life {

    private final FaultCase fault;
    private final TraceClock clock = new TraceClock();
    private final Strikes strikes;
    private final PromiseLog log = new PromiseLog();

    /** The promises from the place where the second life began; null before. */
    private @Nullable PromiseLog later;

    private long laterFrom = Long.MAX_VALUE;
    private final MemoryFileSystem memory = MemoryFileSystem.of(new DiskImage());
    private final Path directory = Files.createDirectory(memory.root().resolve("store"));
    private RecordingFileSystem recorder;
    private final SeenImages seen = new SeenImages();
    private boolean failed;
    private boolean refused;
    private long states;

    Life(FaultCase fault) throws IOException {
      this.fault = fault;
      this.strikes = new Strikes(fault.injector().get(), clock);
      this.recorder = RecordingFileSystem.over(directory).clock(clock).faults(strikes).start();
    }

    FaultRow live() throws IOException {
      TimedCall call = TimedCall.run("a life with " + title(), options.limit(), this::work);
      boolean worked = call.complaint().isEmpty();
      boolean struck = strikes.struck();
      if (call.hangs()) {
        fail(Verdict.CORRUPT, call.complaint(), null);
      } else if (!struck) {
        if (!call.complaint().isEmpty()) {
          fail(Verdict.HARNESS_BROKEN, "without any fault: " + call.complaint(), null);
        }
      } else {
        afterwards(call.thrownAnywhere());
      }
      return new FaultRow(
          fault.name(), 1, struck ? 1 : 0, worked ? 1 : 0, refused ? 1 : 0, states, failed ? 1 : 0);
    }

    private void work(TimedCall.Step step) throws Exception {
      CrashSubject<S> subject = subjects.get();
      step.now("open with " + title());
      S store = subject.open(recorder.directory());
      try {
        step.now("work with " + title());
        subject.work(store, log.promises(clock, options.seed()));
      } finally {
        step.now("close with " + title());
        subject.close(store);
      }
    }

    private void afterwards(@Nullable Throwable thrown) throws IOException {
      boolean silent = fault.contract() != Contract.NOTHING_LOST;
      if (silent && thrown != null && !subjects.get().refuses(thrown)) {
        fail(
            Verdict.CORRUPT,
            "answered " + title() + " with something other than a clear refusal",
            thrown);
        return;
      }
      PromiseLog owed =
          fault.contract() == Contract.RIGHT_BEFORE_THE_FAULT
              ? log.withoutAnswersFrom(strikes.firstAt())
              : log;
      judge(DiskImage.of(directory), owed, clock.next(), "opened after process death");
      if (!silent && !failed) {
        liveOn();
      }
    }

    private void liveOn() throws IOException {
      TimedCall call = TimedCall.run("a life after " + title(), options.limit(), this::workAgain);
      if (!call.complaint().isEmpty()) {
        fail(Verdict.CORRUPT, call.complaint(), call.failure());
        return;
      }
      Iterator<CrashState> cuts =
          new CrashStates(
              recorder.trace(),
              options.profile().rules(),
              CrashPlan.of(options.seed(), options.states())
                  .exhaustiveTo(options.exhaustive())
                  .preferring(places()));
      while (cuts.hasNext() && !failed) {
        judgeCut(cuts.next());
      }
    }

    private List<Long> places() {
      List<Long> places = new ArrayList<>(log.places());
      if (later != null) {
        places.addAll(later.places());
      }
      return places;
    }

    /** Reports a failure after a power cut: confirmed and shrunk. */
    private void judgeCut(CrashState state) throws IOException {
      PromiseLog owed = later != null && state.seq() >= laterFrom ? later : log;
      DiskImage spare = state.image().fork();
      if (isKnown(spare, owed, state.seq())) {
        return;
      }
      StateResult result = checker.at(state.image(), owed, state.seq());
      countState();
      if (result.survived()) {
        tally.count(result);
        return;
      }
      failed = true;
      String where =
          "after %s, power cut under %s at %d".formatted(title(), options.profile(), state.seq());
      Recording lives =
          new Recording(recorder.trace(), owed, Verdict.SURVIVED, "", recorder.clock().now());
      new FailedState(where, options, checker.checker().subjectClass(), checker, tally)
          .tell(lives, state, spare, result);
    }

    private boolean isKnown(DiskImage image, PromiseLog owed, long seq) {
      return seen.add(image.hash(), /* log= */ 0, owed.answerCount(seq))
          == SeenImages.Known.ALREADY;
    }

    private void countState() {
      states++;
      tally.countState();
    }

    private void workAgain(TimedCall.Step step) throws Exception {
      strikes.end();
      // Late operations of the first process must not reach the disk beside the second.
      recorder = recorder.nextProcess(FaultInjector.NOTHING);
      CrashSubject<S> subject = subjects.get();
      step.now("open after " + title());
      S store = subject.open(recorder.directory());
      try {
        // Lazy work may be lost with the first process: the present content counts.
        RecoveredState found = log.at(Long.MAX_VALUE);
        subject.check(store, found);
        PromiseLog next = log.before(Long.MAX_VALUE).settle(found);
        laterFrom = clock.next();
        later = next;
        step.now("resume after " + title());
        subject.resume(store, next.promises(clock, Seeds.of(options.seed(), 1)));
      } finally {
        step.now("close after " + title());
        subject.close(store);
      }
    }

    private void judge(DiskImage image, PromiseLog owed, long seq, String how) throws IOException {
      DiskImage spare = image.fork();
      if (isKnown(spare, owed, seq)) {
        return;
      }
      StateResult result = checker.at(image, owed, seq);
      countState();
      if (result.survived()) {
        tally.count(result);
      } else if (fault.contract() != Contract.NOTHING_LOST && checker.checker().refused(result)) {
        refused = true;
        tally.count(Verdict.SURVIVED);
      } else {
        tell(result, spare, owed, seq, how);
      }
    }

    private void tell(StateResult result, DiskImage image, PromiseLog owed, long seq, String how)
        throws IOException {
      failed = true;
      tally.count(result.verdict());
      if (!tally.isNew(fault.name() + " " + result.signature())) {
        return;
      }
      String title = "%s after %s: %s".formatted(result.verdict(), title(), result.summary());
      Throwable thrown = result.failure();
      String story = how + (thrown == null ? "" : "\n" + CallStack.text(thrown));
      tally.add(
          new Failure(
              result.verdict(),
              title,
              result.findings(),
              story,
              options.seed(),
              FailureFile.keep(
                  options.keep(),
                  new FailureFile(
                      checker.checker().subjectClass(),
                      result.verdict(),
                      title,
                      options.seed(),
                      fault.name(),
                      seq,
                      image,
                      owed,
                      story))));
    }

    private void fail(Verdict verdict, String what, @Nullable Throwable thrown) {
      failed = true;
      tally.count(verdict);
      if (tally.isNew(fault.name() + " " + verdict + " " + what.lines().findFirst().orElse(""))) {
        tally.add(
            new Failure(
                verdict,
                "%s with %s: %s"
                    .formatted(
                        verdict,
                        title(),
                        Objects.requireNonNullElse(what.lines().findFirst().orElse(null), "")),
                List.of(),
                what + (thrown == null ? "" : "\n" + CallStack.text(thrown)),
                options.seed(),
                null));
      }
    }

    private String title() {
      return fault.name() + " (" + fault.detail() + ")";
    }
  }
}
