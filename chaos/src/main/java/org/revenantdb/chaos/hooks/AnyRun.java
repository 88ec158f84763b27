package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.Bite;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.BrokenSubjects.Broken;

/**
 * The crashes of a subject that uses its files by any means: it is recorded once, with native
 * hooks, and then crashed in several ways.
 *
 * <p>Threads: any; they take turns.
 */
public final class AnyRun implements AutoCloseable {

  private static final int STATES_OF_A_PROOF = 64;

  private final Class<?> subject;
  private final long seed;
  private final int lives;
  private final Duration limit;
  private final List<String> flags;
  private final Path parent;
  private @Nullable AnyRecorder recorder;
  private @Nullable Recording recording;
  private @Nullable Path scratch;

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
      made = new AnyRecorder(subject, seed, lives, limit, flags, directory);
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
      return Outcome.of("files = ANY", of.verdict(), of.reason());
    }
    // A check that hangs is found by the worker; the watch of the thread is only the second one.
    PowerCutOptions patient = options.withLimit(limit.multipliedBy(4));
    Workers workers = recorder().workers(of);
    return crash == Crash.PROCESS_DEATH
        ? PowerCutRun.deaths(workers, of, patient).run()
        : PowerCutRun.with(workers, of, patient).run();
  }

  /**
   * Returns what was seen, for reports.
   *
   * @return a sentence; empty before a recording was made
   */
  public synchronized String seen() {
    Recording made = recording;
    AnyRecorder by = recorder;
    return made == null || by == null || !made.usable()
        ? ""
        : made.seen() + "; the model was equal to the directory at " + by.controls() + " moments";
  }

  /**
   * Returns how often the model was compared with the directory and was equal.
   *
   * @return moments; 0 before a recording was made
   */
  public synchronized int controls() {
    AnyRecorder by = recorder;
    return by == null ? 0 : by.controls();
  }

  /** Deletes the files of the run. */
  @Override
  public synchronized void close() {
    AnyRecorder made = recorder;
    Path directory = scratch;
    recorder = null;
    recording = null;
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
    long begun = System.nanoTime();
    Outcome outcome;
    try (AnyRun run =
        new AnyRun(broken.type(), broken.seed(), 1, Duration.ofSeconds(60), List.of(), parent)) {
      PowerCutOptions options =
          PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, broken.seed())
              .withStates(STATES_OF_A_PROOF)
              .withWorkers(1);
      outcome = run.run(crash, options);
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
