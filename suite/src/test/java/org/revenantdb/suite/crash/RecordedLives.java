package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.revenantdb.chaos.power.Losses;
import org.revenantdb.chaos.power.NodePaths;
import org.revenantdb.chaos.power.PowerCut;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.run.StateChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.engine.Database;

/** Two recorded lives of a subject, to be cut at many places. */
final class RecordedLives {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /**
   * More deaths than this are wanted. How much of the log one write contains depends on the time:
   * on a busy machine there are fewer writes.
   */
  private static final int FEW = 15;

  /** In usual builds a process dies before the writes at one place of the recording in so many. */
  private static final int EVERY = 3;

  private final Supplier<CrashSubject<Database>> subject;
  private final long seed;
  private final Recording recording;
  private final PowerCut cut;
  private final NodePaths paths;

  private RecordedLives(Supplier<CrashSubject<Database>> subject, long seed, Recording recording) {
    this.subject = subject;
    this.seed = seed;
    this.recording = recording;
    this.cut = new PowerCut(recording.trace(), PlatformProfile.SECTOR_4K.rules());
    this.paths = new NodePaths(recording.trace());
  }

  /** Records the lives; the seed is printed with the test's name. */
  static RecordedLives of(Supplier<CrashSubject<Database>> subject, Class<?> test, long seed)
      throws IOException {
    System.out.println(test.getSimpleName() + " -Drevenant.chaos.seed=" + seed);
    Recording recording = new LifeRecorder<>(subject, seed, 2, LIMIT).record();
    assertTrue(recording.usable(), recording.reason());
    return new RecordedLives(subject, seed, recording);
  }

  /** The operations of the recorded lives, in order. */
  List<Operation> operations() {
    return recording.trace().operations();
  }

  /** Whether an operation belongs to the recorded lives, not to the time before. */
  boolean isOfLives(Operation operation) {
    return operation.seq() >= recording.from();
  }

  /** The path of a file or directory at the time of an operation. */
  String path(int node, long place) {
    return paths.path(node, place);
  }

  /**
   * Cuts the power at many moments, under each profile.
   *
   * @param states the number of images under each profile
   * @param failures directory for images that did not survive
   */
  void assertPowerCutsSurvived(int states, Path failures, PlatformProfile... profiles)
      throws IOException {
    SeenImages seen = new SeenImages();
    long checked = 0;
    for (PlatformProfile profile : profiles) {
      PowerCutOptions options =
          PowerCutOptions.of(profile, seed)
              .withStates(states)
              .withKeep(failures.resolve("failures"));
      Outcome outcome = cutPower(options, seen);
      // A short life has few images: other profiles may have checked all those of a profile.
      boolean hasNoneOfItsOwn =
          outcome.states() == 0 && outcome.failures().isEmpty() && checked > 0;
      if (!hasNoneOfItsOwn) {
        assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
      }
      checked += outcome.states();
    }
  }

  /** Cuts the power with the given options; images that were checked already are skipped. */
  Outcome cutPower(PowerCutOptions options, SeenImages seen) {
    return new PowerCutRun<>(subject, recording, options.withLimit(LIMIT), seen).run();
  }

  /** Opens the files that a process left which died right before an operation. */
  void assertDeathSurvived(StateChecker<Database> checker, long place) {
    StateResult result =
        checker.check(cut.state(place, Losses.none()).image(), recording.promises(), place);
    assertTrue(result.survived(), "dead before the operation at " + place + ": " + result);
  }

  /** In the form of {@link StateChecker} for this subject. */
  StateChecker<Database> checker(boolean resume) {
    return new StateChecker<>(subject, resume);
  }

  /**
   * Lets the process die before each selected write. Lives with few of them are followed by others.
   *
   * @param resume whether a life follows
   * @param which selects by path of the file and place in the recording
   */
  void assertDeathsBeforeWritesSurvived(boolean resume, BiPredicate<String, Long> which)
      throws IOException {
    RecordedLives lives = this;
    for (int deaths = lives.deathsBeforeWrites(resume, which); deaths <= FEW; ) {
      lives = lives.more();
      deaths += lives.deathsBeforeWrites(resume, which);
    }
  }

  /** Lives of the next seed. */
  RecordedLives more() throws IOException {
    Recording next = new LifeRecorder<>(subject, seed + 1, 2, LIMIT).record();
    assertTrue(next.usable(), next.reason());
    return new RecordedLives(subject, seed + 1, next);
  }

  private int deathsBeforeWrites(boolean resume, BiPredicate<String, Long> which) {
    StateChecker<Database> checker = checker(resume);
    int deaths = 0;
    for (Operation operation : operations()) {
      long place = operation.seq();
      if (operation instanceof Operation.Write write
          && isOfLives(operation)
          && which.test(path(write.node(), place), place)) {
        assertDeathSurvived(checker, place);
        deaths++;
      }
    }
    return deaths;
  }

  /**
   * Writes of the log: under {@code -Plong} each, otherwise one place in so many, of which the
   * first is drawn and printed.
   */
  static BiPredicate<String, Long> writesOfTheLog() {
    if (Boolean.getBoolean("revenant.long")) {
      return (path, place) -> isLog(path);
    }
    int first = Integer.getInteger("revenant.chaos.place", new SplittableRandom().nextInt(EVERY));
    System.out.println("deaths before writes: -Drevenant.chaos.place=" + first);
    return (path, place) -> isLog(path) && place % EVERY == first % EVERY;
  }

  /** A file of the log. */
  static boolean isLog(String path) {
    return path.startsWith("db/log/");
  }
}
