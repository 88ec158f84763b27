package org.revenantdb.chaos.junit;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.inject.Target;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.ErrorFaults;
import org.revenantdb.chaos.run.KnownFailures;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.Workers;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.FileAccess;

/**
 * The settings from a {@link CrashTest} and the system properties together.
 *
 * @param crashes kinds of crash
 * @param files how the store uses its files
 * @param isolated whether images are opened in worker JVMs
 * @param imagesPerJvm the number of images that one of them opens
 * @param jvmFlags of forked JVMs
 * @param profiles used for power cuts
 * @param states the maximum for each profile
 * @param kills the number of killed processes
 * @param failpoints whether processes also die at each place that changes files
 * @param zombies the number of processes that are stopped and continue
 * @param faults the kinds of fault, none if operations do not fail
 * @param faultLives the number of lives for each of them
 * @param errorsIn the beginnings of the names of the classes in which errors are thrown
 * @param forceCoverage whether forces are removed
 * @param seed used by all tests of the class
 * @param baseline the failures that are accepted, or null
 * @param depth the depth of power cuts
 * @param exhaustive the number of pending operations up to which every subset is tried
 * @param lives the number of recorded lives
 * @param workers the number of threads
 * @param budget the time after which a test begins no more states, or null
 * @param limit the time limit of the lives, and of a state
 * @param directory where the files of failures go
 * @param replay the only file to open again, or null
 * @param debug the port at which a replay waits for a debugger, or 0
 * @param error the only error to throw, or null if all tests run
 */
record CrashTestSettings(
    List<Crash> crashes,
    FileAccess files,
    boolean isolated,
    int imagesPerJvm,
    List<String> jvmFlags,
    List<PlatformProfile> profiles,
    int states,
    int kills,
    boolean failpoints,
    int zombies,
    List<FaultKind> faults,
    int faultLives,
    List<String> errorsIn,
    boolean forceCoverage,
    long seed,
    @Nullable Baseline baseline,
    int depth,
    int exhaustive,
    int lives,
    int workers,
    @Nullable Duration budget,
    Duration limit,
    Path directory,
    @Nullable Path replay,
    int debug,
    @Nullable Target error) {

  private static final int LEAST_OF_A_FAULT = 20;
  private static final int SHARE_OF_A_FAULT = 25;
  private static final int MOST_PORT = 65_535;

  static final String SEED = "revenant.chaos.seed";
  static final String STATES = "revenant.chaos.states";
  static final String SECONDS = "revenant.chaos.seconds";
  static final String DIR = "revenant.chaos.dir";
  static final String WRITE_BASELINE = "revenant.chaos.baseline.write";
  static final String REPLAY = "revenant.chaos.replay";
  static final String DEBUG = "revenant.chaos.debug";

  /**
   * Combines the annotation and the system properties.
   *
   * @throws IllegalArgumentException with a message for people, if the test would measure nothing
   */
  static CrashTestSettings of(CrashTest test) {
    long seed = number(SEED, test.seed());
    long states = number(STATES, test.states());
    boolean beside = test.failpoints() || test.zombies() != 0;
    List<Crash> crashes = List.of(test.crash());
    demand(!crashes.isEmpty(), "crash = {} names no kind of crash");
    demand(test.profile().length > 0, "profile = {} names no platform profile");
    long seconds = number(SECONDS, 1);
    within("-D" + SECONDS, seconds, 1, Integer.MAX_VALUE);
    within("states", states, 1, Integer.MAX_VALUE);
    demand(
        test.kills() >= (beside ? 0 : 1),
        "kills must be 1 or more (or 0 with failpoints or zombies), but is " + test.kills());
    within("zombies", test.zombies(), 0, Integer.MAX_VALUE);
    within("faultLives", test.faultLives(), 1, Integer.MAX_VALUE);
    demand(
        !test.faults() || test.faultKinds().length > 0, "faultKinds = {} names no kind of fault");
    within("depth", test.depth(), 1, 3);
    within("exhaustive", test.exhaustive(), 0, 16);
    within("lives", test.lives(), 1, Integer.MAX_VALUE);
    within("workers", test.workers(), 0, Integer.MAX_VALUE);
    within("timeoutSeconds", test.timeoutSeconds(), 1, Integer.MAX_VALUE);
    demand(
        !beside || crashes.contains(Crash.PROCESS_DEATH),
        "failpoints and zombies need crash = " + Crash.PROCESS_DEATH);
    demand(
        test.files() == FileAccess.PATH || (!beside && test.depth() == 1),
        "failpoints, zombies and a depth of 2 or 3 need files = " + FileAccess.PATH);
    boolean forks = test.isolated() || test.files() == FileAccess.ANY;
    demand(
        forks || test.jvmFlags().length == 0,
        "jvmFlags need isolated = true or files = " + FileAccess.ANY);
    within("imagesPerJvm", test.imagesPerJvm(), 1, Integer.MAX_VALUE);
    demand(
        forks || test.imagesPerJvm() == Workers.IMAGES,
        "imagesPerJvm needs isolated = true or files = " + FileAccess.ANY);
    demand(
        test.errorsIn().length == 0 || test.faults(),
        "errorsIn needs faults = true: it is for the faults in code");
    String replay = System.getProperty(REPLAY);
    long debug = number(DEBUG, 0);
    demand(
        debug == 0 || replay != null,
        "-D" + DEBUG + " needs -D" + REPLAY + ": only a replay stops in a debugger");
    demand(debug >= 0 && debug <= MOST_PORT, "-D" + DEBUG + " is a port, at most " + MOST_PORT);
    return new CrashTestSettings(
        List.of(test.crash()),
        test.files(),
        test.isolated(),
        test.imagesPerJvm(),
        List.of(test.jvmFlags()),
        List.of(test.profile()),
        (int) states,
        test.kills(),
        test.failpoints(),
        test.zombies(),
        faults(test),
        test.faultLives(),
        List.of(test.errorsIn()),
        test.forceCoverage(),
        seed == CrashTest.FRESH_SEED ? Seeds.fresh() : seed,
        baseline(test.baseline()),
        test.depth(),
        test.exhaustive(),
        test.lives(),
        test.workers() == 0 ? Runtime.getRuntime().availableProcessors() : test.workers(),
        System.getProperty(SECONDS) == null ? null : Duration.ofSeconds(seconds),
        Duration.ofSeconds(test.timeoutSeconds()),
        Path.of(System.getProperty(DIR, "target/chaos")),
        replay == null ? null : Path.of(replay),
        (int) debug,
        error(test));
  }

  /** A class that tests other code than the place of the error, or other faults, runs as usual. */
  private static @Nullable Target error(CrashTest test) {
    String text = System.getProperty(ErrorFaults.ERROR);
    Target error = text == null ? null : Target.parse(text);
    return error != null
            && faults(test).contains(error.fault())
            && Stream.of(test.errorsIn())
                .anyMatch(code -> error.in().startsWith(code) || code.startsWith(error.in()))
        ? error
        : null;
  }

  private static List<FaultKind> faults(CrashTest test) {
    if (!test.faults()) {
      return List.of();
    }
    EnumSet<FaultKind> kinds = EnumSet.copyOf(List.of(test.faultKinds()));
    if (test.errorsIn().length == 0) {
      kinds.removeIf(FaultKind::isInCode);
      demand(!kinds.isEmpty(), "faultKinds names only faults in code, and errorsIn no code");
    }
    return List.copyOf(kinds);
  }

  private static @Nullable Baseline baseline(String path) {
    if (path.isEmpty()) {
      return null;
    }
    Baseline baseline = new Baseline(Path.of(path), Boolean.getBoolean(WRITE_BASELINE));
    baseline.check();
    return baseline;
  }

  private static void within(String attribute, long value, int least, int most) {
    String range = most == Integer.MAX_VALUE ? least + " or more" : least + " to " + most;
    demand(value >= least && value <= most, attribute + " must be " + range + ", but is " + value);
  }

  private static void demand(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  private static long number(String property, long otherwise) {
    String value = System.getProperty(property);
    if (value == null) {
      return otherwise;
    }
    try {
      return Long.parseLong(value.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "-D%s must be a number, but is \"%s\"".formatted(property, value), e);
    }
  }

  Options processDeath(Path scratch) {
    Options options = Options.of(scratch, seed, kills).withStallLimit(limit).withZombies(zombies);
    return failpoints ? options.withFailpoints() : options;
  }

  /** For each life with a fault. A worker JVM is not worth its start for fewer states. */
  PowerCutOptions faultCuts() {
    return powerCut(profiles.getFirst())
        .withStates(Math.max(LEAST_OF_A_FAULT, states / SHARE_OF_A_FAULT));
  }

  PowerCutOptions powerCut(PlatformProfile profile) {
    return new PowerCutOptions(
        profile,
        seed,
        states,
        exhaustive,
        depth,
        workers,
        limit,
        budget,
        directory,
        KnownFailures.NONE);
  }
}
