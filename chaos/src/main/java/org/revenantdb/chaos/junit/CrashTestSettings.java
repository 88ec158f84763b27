package org.revenantdb.chaos.junit;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.power.PlatformProfile;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.subject.Crash;

/**
 * What a {@link CrashTest} and the system properties say together.
 *
 * @param crashes kinds of crash
 * @param profiles for power cuts
 * @param states at most, for each profile
 * @param kills of processes
 * @param failpoints whether processes die at each place that changes files, too
 * @param zombies processes that are stopped and go on
 * @param seed of all tests of the class
 * @param depth of power cuts
 * @param exhaustive up to how many pending operations every subset is tried
 * @param lives that are recorded
 * @param workers threads
 * @param limit of the lives, and of a state
 * @param directory for the files of failures
 * @param replay a file to look at and nothing else, or null
 */
record CrashTestSettings(
    List<Crash> crashes,
    List<PlatformProfile> profiles,
    int states,
    int kills,
    boolean failpoints,
    int zombies,
    long seed,
    int depth,
    int exhaustive,
    int lives,
    int workers,
    Duration limit,
    Path directory,
    @Nullable Path replay) {

  static final String SEED = "revenant.chaos.seed";
  static final String STATES = "revenant.chaos.states";
  static final String DIR = "revenant.chaos.dir";
  static final String REPLAY = "revenant.chaos.replay";

  /**
   * Reads the two.
   *
   * @throws IllegalArgumentException in a sentence, if something would not be measured at all
   */
  static CrashTestSettings of(CrashTest test) {
    long seed = number(SEED, test.seed());
    long states = number(STATES, test.states());
    demand(test.crash().length > 0, "crash = {} is no crash");
    demand(test.profile().length > 0, "profile = {} is no platform");
    demand(states >= 1 && states <= Integer.MAX_VALUE, "states is 1 or more, not %d", states);
    demand(
        test.kills() >= 1 || test.kills() == 0 && (test.failpoints() || test.zombies() > 0),
        "kills is 1 or more (or 0 beside failpoints or zombies), not %d",
        test.kills());
    demand(test.zombies() >= 0, "zombies is 0 or more, not %d", test.zombies());
    demand(test.depth() >= 1 && test.depth() <= 3, "depth is 1, 2 or 3, not %d", test.depth());
    demand(
        test.exhaustive() >= 0 && test.exhaustive() <= 16,
        "exhaustive is 0 to 16, not %d",
        test.exhaustive());
    demand(test.lives() >= 1, "lives is 1 or more, not %d", test.lives());
    demand(test.workers() >= 0, "workers is 0 or more, not %d", test.workers());
    demand(
        test.timeoutSeconds() >= 1, "timeoutSeconds is 1 or more, not %d", test.timeoutSeconds());
    demand(
        List.of(test.crash()).contains(Crash.PROCESS_DEATH)
            || !test.failpoints() && test.zombies() == 0,
        "it asks for failpoints or zombies and for no %s",
        Crash.PROCESS_DEATH);
    String replay = System.getProperty(REPLAY);
    return new CrashTestSettings(
        List.of(test.crash()),
        List.of(test.profile()),
        (int) states,
        test.kills(),
        test.failpoints(),
        test.zombies(),
        seed == CrashTest.FRESH_SEED ? Seeds.fresh() : seed,
        test.depth(),
        test.exhaustive(),
        test.lives(),
        test.workers() == 0 ? Runtime.getRuntime().availableProcessors() : test.workers(),
        Duration.ofSeconds(test.timeoutSeconds()),
        Path.of(System.getProperty(DIR, "target/chaos")),
        replay == null ? null : Path.of(replay));
  }

  private static void demand(boolean holds, String otherwise, Object... values) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise.formatted(values));
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
          "-D%s takes a number, not \"%s\"".formatted(property, value), e);
    }
  }

  Options processDeath(Path scratch) {
    Options options = Options.of(scratch, seed, kills).withStallLimit(limit).withZombies(zombies);
    return failpoints ? options.withFailpoints() : options;
  }

  PowerCutOptions powerCut(PlatformProfile profile) {
    return new PowerCutOptions(
        profile, seed, states, exhaustive, depth, workers, limit, /* budget= */ null, directory);
  }
}
