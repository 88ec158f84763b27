package org.revenantdb.chaos.run;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.power.CrashPlan;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.CrashStates;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.run.FaultCase.Contract;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Site;

/**
 * Injects faults into the operations of a living subject, and checks the files afterwards.
 *
 * <p>Each case is a life of its own on a disk in memory, or in a forked JVM with native hooks:
 * open, work and close while the plan injects faults. Then the files as a process death leaves them
 * are opened without faults. If nothing may be lost, the store also lives again on the same disk,
 * and the power is cut at moments of both lives. After a failed force, this is where a store that
 * trusts what it reads fails.
 *
 * <p>Threads: one.
 *
 * @param <S> the open store
 */
public final class FaultRun<S> {

  private static final String NAME = "faults";
  private static final int PROMISES = 4;

  /** Each hang takes as long as the limit of a life, and its threads stay. */
  private static final int MOST_HANGS = 9;

  /** One place in the code that is struck often does not hide the others. */
  private static final int MOST_SITES_OF_HANGS = 3;

  /** Makes the recording of a life without faults. */
  private interface Intact {
    Recording record() throws IOException;
  }

  private final Intact intact;
  private final FaultLife.Source lives;
  private final PowerCutOptions options;
  private final List<FaultCase> cases;
  private final Look checker;
  private final Alone alone;
  private final String subject;
  private final Predicate<StateResult> refused;
  private final Predicate<Throwable> refuses;
  private final Tally tally;
  private final Map<String, FaultRow> rows = new LinkedHashMap<>();
  private final long begun = System.nanoTime();
  private final Set<String> hangSites = new HashSet<>();
  private int hangs;
  private String notRun = "";

  /**
   * Prepares a run on disks in memory.
   *
   * @param subjects creates subjects
   * @param options profile of the power cuts, seed, number of states for each case, limit of a life
   *     and of a state, budget
   * @param cases the faults, one life for each
   */
  public FaultRun(
      Supplier<CrashSubject<S>> subjects, PowerCutOptions options, List<FaultCase> cases) {
    this(fault -> new MemoryLife<>(subjects, options, fault), subjects, options, cases);
  }

  private FaultRun(
      FaultLife.Source lives,
      Supplier<CrashSubject<S>> subjects,
      PowerCutOptions options,
      List<FaultCase> cases) {
    PatientChecker<S> patient = new PatientChecker<>(subjects, /* resume= */ true, options.limit());
    this.lives = lives;
    this.options = options;
    this.tally = new Tally(options.known());
    this.cases = List.copyOf(cases);
    this.checker = patient;
    this.alone = Alone.of(subjects, options.limit());
    this.intact = intact(subjects, alone, options);
    this.subject = patient.checker().subjectClass();
    this.refused = result -> patient.checker().refused(result);
    this.refuses = thrown -> subjects.get().refuses(thrown);
  }

  /**
   * Prepares a run with errors in the code of the store.
   *
   * @param errors begins the lives
   * @param subjects creates subjects, for what comes after the errors
   * @param options as above
   * @param cases of the errors
   * @param <S> the open store
   * @return the run
   */
  static <S> FaultRun<S> errors(
      FaultLife.Source errors,
      Supplier<CrashSubject<S>> subjects,
      PowerCutOptions options,
      List<FaultCase> cases) {
    return new FaultRun<>(errors, subjects, options, cases);
  }

  private FaultRun(
      Intact intact,
      FaultLife.Source lives,
      ImageChecker checker,
      Alone alone,
      PowerCutOptions options,
      List<FaultCase> cases) {
    for (FaultCase each : cases) {
      if (each.contract() != Contract.NOTHING_LOST) {
        throw new IllegalArgumentException("a fault that is not reported: " + each);
      }
    }
    this.intact = intact;
    this.lives = lives;
    this.options = options;
    this.tally = new Tally(options.known());
    this.cases = List.copyOf(cases);
    this.checker = checker::check;
    this.alone = alone;
    this.subject = checker.subjectClass();
    this.refused = _ -> false;
    this.refuses = _ -> false;
  }

  private static <S> Intact intact(
      Supplier<CrashSubject<S>> subjects, Alone alone, PowerCutOptions options) {
    return new LifeRecorder<>(subjects, options.seed(), /* lives= */ 1, options.limit()).with(alone)
        ::record;
  }

  /**
   * Prepares a run on disks in memory, whose images are opened in other JVMs. All its faults must
   * be reported to the store.
   *
   * @param subjects creates subjects
   * @param checker opens images
   * @param flags further flags of the JVMs
   * @param options as above
   * @param cases the faults, one life for each
   * @param <S> the open store
   * @return the run
   */
  public static <S> FaultRun<S> isolated(
      Supplier<CrashSubject<S>> subjects,
      ImageChecker checker,
      List<String> flags,
      PowerCutOptions options,
      List<FaultCase> cases) {
    Alone alone = Alone.of(subjects, options.limit(), flags);
    return new FaultRun<>(
        intact(subjects, alone, options),
        fault -> new MemoryLife<>(subjects, options, fault),
        checker,
        alone,
        options,
        cases);
  }

  /**
   * Prepares a run whose lives happen elsewhere. All its faults must be reported to the store.
   *
   * @param intact a recording without faults
   * @param lives begins lives
   * @param checker opens images
   * @param options as above
   * @param cases the faults, one life for each
   * @return the run
   */
  public static FaultRun<?> with(
      Recording intact,
      FaultLife.Source lives,
      ImageChecker checker,
      PowerCutOptions options,
      List<FaultCase> cases) {
    return new FaultRun<>(() -> intact, lives, checker, Alone.already(), options, cases);
  }

  /**
   * Runs all lives, until the budget is used up, or three of them hang at different places in the
   * code, or nine at fewer places. The first one has no fault, to detect a subject that is itself
   * at fault.
   *
   * @return the result
   * @throws IOException if a disk cannot be made
   */
  public Outcome run() throws IOException {
    Recording without = intact.record();
    if (!without.usable()) {
      return Outcome.of(NAME, without.verdict(), without.reason());
    }
    Duration budget = options.budget();
    int lived = 0;
    for (FaultCase each : cases) {
      boolean hanging = hangs == MOST_HANGS || hangSites.size() == MOST_SITES_OF_HANGS;
      if (hanging || (budget != null && System.nanoTime() - begun > budget.toNanos())) {
        notRun =
            "%d lives were not run, %s"
                .formatted(
                    cases.size() - lived,
                    hanging ? "because %d others hang".formatted(hangs) : "for want of time");
        break;
      }
      lived++;
      FaultRow row = new Trial(each).run();
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

  /**
   * Returns how many lives were not run, and why.
   *
   * @return a sentence; empty if all were run
   */
  public String notRun() {
    return notRun;
  }

  /** Judges one life with one fault. */
  private final class Trial {

    private final FaultCase fault;
    private FaultLife life;
    private final SeenImages seen = new SeenImages();
    private boolean failed;
    private boolean refusal;
    private long states;
    private long struckAt;
    private String site = "";

    Trial(FaultCase fault) throws IOException {
      this.fault = fault;
      this.life = lives.begin(fault);
    }

    FaultRow run() throws IOException {
      FaultLife.Lived lived = life.live();
      if (!lived.struck() && !lived.complaint().isEmpty() && life.inherits()) {
        life = lives.begin(fault); // an earlier life may be why
        lived = life.live();
      }
      boolean worked = lived.complaint().isEmpty();
      struckAt = lived.firstAt();
      site = site(lived.in());
      if (!lived.unmeasured().isEmpty()) {
        tellUnmeasured(lived.unmeasured());
      } else if (!lived.struck()) {
        if (!worked) {
          fail(Verdict.HARNESS_BROKEN, "without any fault: " + lived.complaint(), null);
        }
      } else if (lived.hangs()) {
        hung();
        fail(Verdict.CORRUPT, lived.complaint(), null);
      } else if (!lived.broken().isEmpty()) {
        fail(Verdict.CORRUPT, lived.broken(), null);
      } else if (!life.faultOfSubject().isEmpty()) {
        fail(Verdict.HARNESS_BROKEN, life.faultOfSubject(), null);
      } else {
        afterwards(lived);
      }
      return new FaultRow(
          fault.name(),
          1,
          lived.struck() ? 1 : 0,
          worked ? 1 : 0,
          refusal ? 1 : 0,
          states,
          failed ? 1 : 0);
    }

    private void afterwards(FaultLife.Lived lived) throws IOException {
      boolean silent = fault.contract() != Contract.NOTHING_LOST;
      Throwable thrown = lived.thrown();
      if (silent && thrown != null && !refuses.test(thrown)) {
        fail(
            Verdict.CORRUPT,
            "answered " + title() + " with something other than a clear refusal",
            thrown);
        return;
      }
      PromiseLog owed =
          fault.contract() == Contract.RIGHT_BEFORE_THE_FAULT
              ? life.promises().withoutAnswersFrom(lived.firstAt())
              : life.promises();
      DiskImage left = life.left();
      long end = life.now();
      judge(left.fork(), owed, end, "opened after process death");
      if (!silent && !failed) {
        liveOn(left, end);
      }
    }

    private void liveOn(DiskImage left, long end) throws IOException {
      FaultLife.LivedOn both = life.liveOn();
      if (!both.unmeasured().isEmpty()) {
        tellUnmeasured(both.unmeasured());
        return;
      }
      if (!both.complaint().isEmpty()) {
        // The second life has opened and checked what survived alone: the first one left something.
        if (both.from() == Long.MAX_VALUE
            && alone.isLeak(firstLine(both.complaint()), left, life.promises(), end)) {
          tellUnmeasured(Alone.LEAK_BETWEEN_LIVES + "\n" + both.complaint());
          return;
        }
        String complaint =
            both.from() == Long.MAX_VALUE ? alone.withNote(both.complaint()) : both.complaint();
        fail(Verdict.CORRUPT, complaint, both.failure());
        return;
      }
      PowerCut cut = new PowerCut(both.trace(), options.profile().rules());
      for (long place : behindTheFault(both)) {
        for (Losses losses : List.of(Losses.none(), Losses.of(cut.pending(place)))) {
          if (!failed) {
            judgeCut(both, cut.state(place, losses));
          }
        }
      }
      Iterator<CrashState> cuts =
          new CrashStates(
              both.trace(),
              options.profile().rules(),
              CrashPlan.of(options.seed(), options.states())
                  .exhaustiveTo(options.exhaustive())
                  .preferring(places(both)));
      while (cuts.hasNext() && !failed) {
        judgeCut(both, cuts.next());
      }
    }

    /** Later promises may cover what the fault broke, so the next ones are always tried. */
    private List<Long> behindTheFault(FaultLife.LivedOn both) {
      List<Long> behind = new ArrayList<>();
      behind.add(struckAt + 1);
      places(both).stream()
          .filter(place -> place > struckAt)
          .sorted()
          .limit(PROMISES)
          .forEach(place -> behind.add(place + 1));
      return behind;
    }

    private List<Long> places(FaultLife.LivedOn both) {
      List<Long> places = new ArrayList<>(life.promises().places());
      PromiseLog later = both.later();
      if (later != null) {
        places.addAll(later.places());
      }
      return places;
    }

    /** Reports a failure after a power cut: confirmed and shrunk. */
    private void judgeCut(FaultLife.LivedOn both, CrashState state) throws IOException {
      PromiseLog later = both.later();
      PromiseLog owed = later != null && state.seq() >= both.from() ? later : life.promises();
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
      Recording recording = new Recording(both.trace(), owed, Verdict.SURVIVED, "", both.end());
      new FailedState(where, title(), options, subject, checker, alone, tally)
          .tell(recording, state, spare, result);
    }

    private boolean isKnown(DiskImage image, PromiseLog owed, long seq) {
      return seen.add(image.hash(), /* log= */ 0, owed.answerCount(seq))
          == SeenImages.Known.ALREADY;
    }

    private void countState() {
      states++;
      tally.countState();
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
      } else if (fault.contract() != Contract.NOTHING_LOST && refused.test(result)) {
        refusal = true;
        tally.count(Verdict.SURVIVED);
      } else {
        tell(result, spare, owed, seq, how);
      }
    }

    private void tell(StateResult result, DiskImage image, PromiseLog owed, long seq, String how)
        throws IOException {
      failed = true;
      if (alone.isLeak(result.signature(), image, owed, seq)) {
        FailedState.tellLeak(tally, options.seed(), how + " " + title(), result, Alone.LEAK);
        return;
      }
      tally.count(result.verdict());
      if (!tally.isNew(fault.name() + " " + result.signature())) {
        return;
      }
      String title = "%s after %s: %s".formatted(result.verdict(), title(), result.summary());
      Throwable thrown = result.failure();
      String story = alone.withNote(how + (thrown == null ? "" : "\n" + CallStack.text(thrown)));
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
                      subject,
                      result.verdict(),
                      title,
                      options.seed(),
                      fault.name(),
                      seq,
                      image,
                      owed,
                      story)),
              Set.of(title(), result.signature()),
              List.of()));
    }

    private void tellUnmeasured(String why) {
      tally.count(Verdict.NOT_MEASURED);
      if (tally.isNew("unmeasured")) {
        tally.add(
            new Failure(
                Verdict.NOT_MEASURED, why, List.of(), title(), options.seed(), /* file= */ null));
      }
    }

    /** An error in code has a place, and what happens after it is told once for each place. */
    private boolean isOfCode() {
      return !life.repeats().isEmpty();
    }

    private void hung() {
      hangs++;
      hangSites.add(isOfCode() ? site : site + " " + hangs);
    }

    private void fail(Verdict verdict, String what, @Nullable Throwable thrown) {
      failed = true;
      tally.count(verdict);
      String cause = isOfCode() ? site : firstLine(what);
      if (tally.isNew(fault.name() + " " + verdict + " " + cause)) {
        tally.add(
            new Failure(
                verdict,
                "%s with %s: %s".formatted(verdict, title(), firstLine(what)),
                List.of(),
                what + (thrown == null ? "" : "\n" + CallStack.text(thrown)),
                options.seed(),
                null));
      }
    }

    private static String firstLine(String text) {
      return text.lines().findFirst().orElse("");
    }

    private static String site(CallStack in) {
      Site site = Site.of(in, List.of(), "");
      return in.frames().isEmpty()
          ? ""
          : " in %s.%s:%d".formatted(site.className(), site.method(), site.line());
    }

    private String title() {
      return (isOfCode() ? fault.with(life.repeats()) : fault).title() + site;
    }
  }
}
