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
 * @param seed of all tests of the class; never 0
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

  static CrashTestSettings of(CrashTest test) {
    long seed = Long.getLong(SEED, test.seed());
    String replay = System.getProperty(REPLAY);
    return new CrashTestSettings(
        List.of(test.crash()),
        List.of(test.profile()),
        Integer.getInteger(STATES, test.states()),
        test.kills(),
        test.failpoints(),
        test.zombies(),
        seed == 0 ? Seeds.fresh() : seed,
        test.depth(),
        test.exhaustive(),
        test.lives(),
        test.workers() == 0 ? Runtime.getRuntime().availableProcessors() : test.workers(),
        Duration.ofSeconds(test.timeoutSeconds()),
        Path.of(System.getProperty(DIR, "target/chaos")),
        replay == null ? null : Path.of(replay));
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
