package org.revenantdb.chaos.run;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.inject.ErrorDraw;
import org.revenantdb.chaos.inject.ErrorSite;
import org.revenantdb.chaos.inject.InjectedClasses;
import org.revenantdb.chaos.inject.Injector;
import org.revenantdb.chaos.inject.Target;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;

/**
 * Lives with errors of the virtual machine in the code of a store that runs in this JVM.
 *
 * <p>Threads: any; they take turns. A {@link #run(List)} has the turn of its caller.
 *
 * @param <S> the open store
 */
public final class ErrorFaults<S> {

  /** The property that repeats one life. */
  public static final String ERROR = "revenant.chaos.error";

  /** Classes serve so many lives: it takes long to load those of a large store. */
  private static final int LIVES_OF_CLASSES = 50;

  private static final FaultCase NONE =
      new FaultCase("no error", "", () -> FaultInjector.NOTHING, FaultCase.Contract.NOTHING_LOST);

  private final Supplier<CrashSubject<S>> subjects;
  private final PowerCutOptions options;
  private final InjectedClasses.Source source;
  private @Nullable InjectedClasses classes;
  private int used;
  private int idle;
  private @Nullable Injector counted;
  private String complaint = "";

  /**
   * Prepares lives.
   *
   * @param subject the class of the subject, with a constructor without parameters
   * @param prefixes the beginnings of the names of the store's classes; behind {@code !} of classes
   *     that stay as they are
   * @param options seed and limit of the lives; profile and number of the power cuts after each
   */
  public ErrorFaults(Class<?> subject, List<String> prefixes, PowerCutOptions options) {
    this.subjects = Subjects.of(subject);
    this.options = options;
    this.source = new InjectedClasses.Source(subject, prefixes);
  }

  /** What a case has instead of an injector of file operations. */
  private record OfTarget(Target target) implements FaultInjector {

    @Override
    public Fault before(FileOperation operation) {
      return Fault.NONE;
    }
  }

  /** Lives once without errors, and counts what is reached. */
  private Injector counted() throws IOException {
    Injector known = counted;
    if (known != null) {
      return known;
    }
    Injector counts = Injector.counting(source.sites());
    complaint = life(NONE, _ -> counts).live().complaint();
    counted = counts;
    return counts;
  }

  /**
   * Draws cases.
   *
   * @param kind the fault, one of those in code
   * @param lives how many
   * @return the cases; none if nothing of the kind is reached, or no life can be had
   * @throws IOException if a disk cannot be made
   */
  public synchronized List<FaultCase> cases(FaultKind kind, int lives) throws IOException {
    Map<ErrorSite, Long> counts =
        counted()
            .counts(
                kind == FaultKind.CALL_OVERFLOWS ? ErrorSite.Kind.CALL : ErrorSite.Kind.ALLOCATION);
    if (!complaint.isEmpty()) {
      return List.of();
    }
    List<FaultCase> cases = new ArrayList<>();
    for (Target target : ErrorDraw.draw(kind, counts, options.seed(), lives)) {
      cases.add(of(target));
    }
    return cases;
  }

  /**
   * Returns the case of one target.
   *
   * @param target where errors are thrown
   * @return the case
   */
  public static FaultCase of(Target target) {
    return new FaultCase(
        target.fault().title(),
        repeating(target),
        () -> new OfTarget(target),
        FaultCase.Contract.NOTHING_LOST);
  }

  /** The property that throws an error again. */
  static String repeating(Target target) {
    return "-D" + ERROR + "='" + target + "'";
  }

  /**
   * Prepares a run.
   *
   * @param cases made here
   * @return the run
   */
  public FaultRun<S> run(List<FaultCase> cases) {
    return run(cases, KnownFailures.NONE);
  }

  private FaultRun<S> run(List<FaultCase> cases, KnownFailures known) {
    return FaultRun.errors(this::begin, subjects, options.withKnown(known), cases);
  }

  /**
   * Runs cases of one kind.
   *
   * @param kind the fault
   * @param cases made here
   * @param known the failures that are accepted
   * @return the outcome; not measured if nothing could be struck
   * @throws IOException if a disk cannot be made
   */
  public synchronized Outcome run(FaultKind kind, List<FaultCase> cases, KnownFailures known)
      throws IOException {
    if (!complaint.isEmpty()) {
      return Outcome.of(
          kind.title(),
          Verdict.HARNESS_BROKEN,
          "in a life without errors, with the store's classes loaded once more: " + complaint);
    }
    if (cases.isEmpty()) {
      return Outcome.of(
          kind.title(),
          Verdict.NOT_MEASURED,
          "errorsIn chooses no code that is reached: " + kind.title());
    }
    Outcome outcome = FaultCatalogue.run(kind, run(cases, known));
    return outcome.withSeen(outcome.seen().with(seen()));
  }

  /**
   * Returns the points of the store's classes.
   *
   * @return how many there are, and which classes have none
   */
  public String seen() {
    return source.sites().size()
        + " points"
        + (source.sites().unchanged().isEmpty() ? "" : ", unchanged: " + source.sites().unchanged())
        + (complaint.isEmpty() ? "" : ", without errors: " + complaint);
  }

  private FaultLife begin(FaultCase fault) throws IOException {
    if (!(fault.injector().get() instanceof OfTarget(Target target))) {
      throw new IllegalArgumentException("no error in code: " + fault);
    }
    return life(fault, places -> Injector.at(source.sites(), target, places));
  }

  private ErrorLife<S> life(FaultCase fault, Function<LongSupplier, Injector> injector)
      throws IOException {
    InjectedClasses made = classes;
    if (made == null || used == LIVES_OF_CLASSES) {
      made = source.load();
      // The first life runs through code that later ones do not reach: static initializers, and
      // what is made when it is first needed. No error occurs in it, so counts of hits are those of
      // any later life, whichever it is. If it fails, so does the next one, which is judged.
      Injector counts = Injector.counting(source.sites());
      new ErrorLife<>(subjects, options, NONE, made, false, 0, _ -> counts, () -> {}).live();
      idle = made.threads();
      classes = made;
      used = 0;
    }
    boolean inherits = used > 0;
    used++;
    // Threads and static state of a life that failed stay.
    return new ErrorLife<>(
        subjects, options, fault, made, inherits, idle, injector, () -> classes = null);
  }
}
