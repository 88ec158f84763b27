package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.CoverageRow;
import org.revenantdb.chaos.run.FaultCase;
import org.revenantdb.chaos.run.FaultCatalogue;
import org.revenantdb.chaos.run.FaultRun;
import org.revenantdb.chaos.run.ForceCoverage;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.Seen;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.run.Workers;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.Bite;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.BrokenSubjects.Broken;

/**
 * The crashes of a subject that uses its files by any means: it is recorded once, with native hooks
 * or by the agent, and then crashed in several ways.
 *
 * <p>Threads: any; they take turns.
 */
public final class AnyRun implements AutoCloseable {

  private static final int STATES_OF_A_PROOF = 64;
  private static final int LIVES_OF_A_PROOF = 4;

  private final Class<?> subject;
  private final long seed;
  private final int lives;
  private final Duration limit;
  private final List<String> flags;
  private final Path parent;
  private int imagesPerJvm = Workers.IMAGES;
  private Recorders by = Recorders.chosen();
  private @Nullable AnyRecorder recorder;
  private @Nullable Recording recording;
  private @Nullable Path scratch;
  private @Nullable AnyFaults faults;
  private AnyFaults.@Nullable Counted counted;

  /**
   * Prepares a run; nothing happens yet.
   *
   * @param subject class of the subject
   * @param seed of the first life
   * @param lives the number of recorded lives
   * @param limit the time limit of each step, and of each check
   * @param flags further flags of the forked JVMs
   * @param parent an existing directory; the run works in a directory of its own in it
   */
  public AnyRun(
      Class<?> subject, long seed, int lives, Duration limit, List<String> flags, Path parent) {
    this.subject = subject;
    this.seed = seed;
    this.lives = lives;
    this.limit = limit;
    this.flags = List.copyOf(flags);
    this.parent = parent;
  }

  /**
   * Changes the number of images that one JVM opens.
   *
   * @param most 1 or more
   * @return this
   */
  public synchronized AnyRun imagesPerJvm(int most) {
    imagesPerJvm = most;
    return this;
  }

  /** Changes what records, which is usually what works here. */
  synchronized AnyRun by(Recorders recorder) {
    by = recorder;
    return this;
  }

  /**
   * Returns the recording, which is made if there is none yet.
   *
   * @return usable, or with the reason why not
   * @throws IOException if a file cannot be written
   */
  public synchronized Recording recording() throws IOException {
    Recording made = recording;
    if (made == null) {
      made = recorder().record();
      recording = made;
    }
    return made;
  }

  private AnyRecorder recorder() throws IOException {
    AnyRecorder made = recorder;
    if (made == null) {
      Path directory = Scratch.directory(parent, "any");
      scratch = directory;
      made =
          new AnyRecorder(subject, seed, lives, limit, flags, directory)
              .imagesPerJvm(imagesPerJvm)
              .by(by);
      recorder = made;
    }
    return made;
  }

  /**
   * Crashes the subject.
   *
   * @param crash the kind of crash
   * @param options the settings of power cuts; of a process death the profile is not used
   * @return the result
   * @throws IOException if a file cannot be written
   */
  public synchronized Outcome run(Crash crash, PowerCutOptions options) throws IOException {
    Recording of = recording();
    if (!of.usable()) {
      return unusable(of);
    }
    PowerCutOptions limited = options.withLimit(limit);
    Workers workers = recorder().workers();
    Outcome outcome =
        crash == Crash.PROCESS_DEATH
            ? PowerCutRun.deaths(workers, of, limited).run()
            : PowerCutRun.with(workers, of, limited).run();
    return seenIn(outcome);
  }

  private Outcome seenIn(Outcome outcome) {
    return outcome.withSeen(what().and(outcome.seen()));
  }

  private Outcome unusable(Recording of) {
    return Outcome.of("files = ANY", of.verdict(), of.reason()).withSeen(what());
  }

  /**
   * Lets operations of the subject fail, each in a life of its own.
   *
   * @param kind the fault
   * @param lives the number of lives, each with the fault at another operation
   * @param options profile and number of the power cuts for each life
   * @param seen receives in how many lives the fault occurred, in a sentence; nothing if there was
   *     none
   * @return the result
   * @throws IOException if a file cannot be written
   */
  public synchronized Outcome faults(
      FaultKind kind, int lives, PowerCutOptions options, Consumer<String> seen)
      throws IOException {
    Outcome outcome = struck(kind, lives, options);
    String text = outcome.seen().text();
    if (!text.isEmpty()) {
      seen.accept(text);
    }
    return seenIn(outcome);
  }

  /**
   * Lets operations of the subject fail, each in a life of its own.
   *
   * @param kind the fault
   * @param lives the number of lives, each with the fault at another operation
   * @param options profile and number of the power cuts for each life
   * @return the result
   * @throws IOException if a file cannot be written
   */
  public Outcome faults(FaultKind kind, int lives, PowerCutOptions options) throws IOException {
    return faults(kind, lives, options, _ -> {});
  }

  private Outcome struck(FaultKind kind, int lives, PowerCutOptions options) throws IOException {
    String impossible =
        by == Recorders.HOOKS
            ? Faults.impossible(kind)
            : "faults need native hooks, and files are recorded by " + Recorders.AGENT.title();
    if (!impossible.isEmpty()) {
      return Outcome.of(kind.title(), Verdict.NOT_MEASURED, impossible);
    }
    Recording of = recording();
    if (!of.usable()) {
      return Outcome.of("files = ANY", of.verdict(), of.reason());
    }
    AnyFaults source = faults;
    if (source == null) {
      source = recorder().faults();
      faults = source;
    }
    AnyFaults.Counted possible = counted;
    if (possible == null) {
      possible = source.count();
      counted = possible;
    }
    if (possible.verdict() != Verdict.SURVIVED) {
      return Outcome.of(kind.title(), possible.verdict(), possible.reason());
    }
    List<FaultCase> cases =
        FaultCatalogue.cases(
            kind, possible.possible().getOrDefault(kind, 0L), options.seed(), lives);
    if (cases.isEmpty()) {
      return FaultCatalogue.nowhere(kind);
    }
    try (ImageChecker checker = recorder().workers().get()) {
      return FaultCatalogue.run(kind, FaultRun.with(of, source, checker, options, cases));
    }
  }

  /**
   * Removes the forces of one place after the other from the recording, and requires that this
   * causes a failure.
   *
   * @param workers the number of threads
   * @return the result
   * @throws IOException if a file cannot be written
   */
  public synchronized Outcome forceCoverage(int workers) throws IOException {
    Recording of = recording();
    if (!of.usable()) {
      return unusable(of);
    }
    return seenIn(ForceCoverage.outcome(forces(workers)));
  }

  /**
   * Removes the forces of one place after the other from the recording, which must be usable.
   *
   * @param workers the number of threads
   * @return a row for each place
   * @throws IOException if a file cannot be written
   */
  public synchronized List<CoverageRow> forces(int workers) throws IOException {
    return ForceCoverage.with(
            Subjects.of(subject).get(), recorder().workers(), List.of(recording()), seed, workers)
        .run();
  }

  /**
   * Returns what was seen, for reports.
   *
   * @return a sentence; empty before a usable recording was made
   */
  public synchronized String seen() {
    Recording made = recording;
    return made == null || !made.usable() ? "" : what().text();
  }

  /** What was seen, also in a recording that is not usable. */
  private Seen what() {
    Recording made = recording;
    AnyRecorder with = recorder;
    return made == null || with == null
        ? Seen.NOTHING
        : made.seen()
            .with("recorded by " + by.title())
            .with("the model was equal to the directory at %d moments".formatted(with.controls()));
  }

  /**
   * How long the work of the subject takes.
   *
   * @param plain without hooks, in nanoseconds
   * @param recorded with hooks, in nanoseconds
   */
  public record Durations(long plain, long recorded) {}

  /**
   * Measures how long the work of the subject takes, with and without hooks: the median of some
   * lives behind the first one. The looks at the directory do not count.
   *
   * @return the medians
   * @throws IOException if a file cannot be written, or a life fails
   */
  public synchronized Durations durations() throws IOException {
    return new Durations(
        median(recorder().durations(/* hooked= */ false)),
        median(recorder().durations(/* hooked= */ true)));
  }

  private static long median(List<Long> nanos) {
    return nanos.stream().sorted().toList().get(nanos.size() / 2);
  }

  /**
   * Returns how often the model was compared with the directory and was equal.
   *
   * @return moments; 0 before a recording was made
   */
  public synchronized int controls() {
    AnyRecorder with = recorder;
    return with == null ? 0 : with.controls();
  }

  /** Deletes the files of the run. */
  @Override
  public synchronized void close() {
    AnyRecorder made = recorder;
    Path directory = scratch;
    recorder = null;
    recording = null;
    faults = null;
    counted = null;
    scratch = null;
    if (made != null) {
      made.close();
    }
    if (directory != null) {
      Scratch.delete(directory);
    }
  }

  /**
   * Proves that a store which is broken on purpose is found this way.
   *
   * @param crash the kind of crash
   * @param parent an existing directory for files
   * @return the result
   */
  public static Bite prove(Crash crash, Path parent) {
    Broken broken =
        BrokenSubjects.all().stream()
            .filter(one -> one.trigger().crash() == crash)
            .findFirst()
            .orElseThrow();
    return prove(broken, parent, (run, options) -> run.run(crash, options));
  }

  /**
   * Proves that a store which takes a failed force for a success is found.
   *
   * @param parent an existing directory for files
   * @return the result
   */
  public static Bite proveFaults(Path parent) {
    return prove(
        BrokenSubjects.of(BrokenSubjects.Trigger.FAILED_FORCE),
        parent,
        (run, options) -> run.faults(FaultKind.FORCE_FAILS_CLEAN, LIVES_OF_A_PROOF, options));
  }

  private interface Proof {
    Outcome of(AnyRun run, PowerCutOptions options) throws IOException;
  }

  private static Bite prove(Broken broken, Path parent, Proof proof) {
    long begun = System.nanoTime();
    Outcome outcome;
    try (AnyRun run =
        new AnyRun(broken.type(), broken.seed(), 1, Duration.ofSeconds(60), List.of(), parent)) {
      PowerCutOptions options =
          PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, broken.seed())
              .withStates(STATES_OF_A_PROOF)
              .withWorkers(1);
      outcome = proof.of(run, options);
    } catch (IOException e) {
      outcome = Outcome.of(broken.name(), Verdict.HARNESS_BROKEN, String.valueOf(e));
    }
    boolean found = outcome.verdict() == Verdict.LOST || outcome.verdict() == Verdict.CORRUPT;
    return new Bite(
        broken.name(),
        broken.broken(),
        broken.seed(),
        found,
        outcome.verdict(),
        outcome.states(),
        Duration.ofNanos(System.nanoTime() - begun),
        outcome.failures().isEmpty() ? outcome.reason() : outcome.failures().getFirst().title());
  }
}
