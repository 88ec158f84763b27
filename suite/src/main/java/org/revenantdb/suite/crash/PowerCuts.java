package org.revenantdb.suite.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.engine.Database;

/**
 * Lives of all variants, cut under every profile: many small runs in turn, so that each profile
 * gets its share of any given time.
 *
 * <p>Threads: one; the runs use more.
 */
final class PowerCuts {

  private static final int LIVES = 2;
  private static final int DEATHS = 3;
  private static final double SHARE_OF_A_DEATH = 0.1;
  private static final List<Recording> NONE = List.of();
  private static final int DEPTH = 3;
  private static final int FORCES_OF_DATA = 8;

  /** A seed whose lives need every force; with another seed it might take longer to detect all. */
  private static final long SEED_OF_COVERAGE = 20_261_121;

  private static final int PATIENCE = 4;

  /** Only a few: force coverage makes its own, and each further one takes time from the others. */
  private static final int RECOVERIES = 4;

  /** Few, so that a short run reaches several variants. */
  private static final int FEWEST = 8;

  private static final int AFTER_A_KILL = 24;
  private static final int MOST = 1_500;

  /**
   * The strictest profiles come first: an image counts for the first profile that has it, and what
   * a strict profile allows is allowed by the others, too.
   */
  static final List<PlatformProfile> PROFILES =
      List.of(
          PlatformProfile.SECTOR_4K,
          PlatformProfile.SECTOR_512,
          PlatformProfile.NAMES_LOST,
          PlatformProfile.SIZE_AFTER_DATA,
          PlatformProfile.EXT4_ORDERED,
          PlatformProfile.SIZE_BEFORE_DATA,
          PlatformProfile.STRICT_POSIX,
          PlatformProfile.SECTOR_GARBAGE);

  /** Used until there is a measurement. */
  private static final double FIRST_GUESS = 60;

  private static final String NOTHING_NEW =
      "all its states had already been tested under other profiles";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** A variant, and its share of the states; states of large images take longer. */
  private record Share(Supplier<CrashSubject<Database>> maker, double share) {}

  private static final List<Share> VARIANTS =
      List.of(
          new Share(MixedSubject::new, 0.26),
          new Share(LargeValuesSubject::new, 0.17),
          new Share(LazySubject::new, 0.23),
          new Share(CompactSubject::new, 0.05),
          new Share(EvictionSubject::new, 0.04),
          new Share(LoadSubject::new, 0.07),
          new Share(SequenceSubject::new, 0.02),
          new Share(DropSubject::new, 0.03),
          new Share(PreparedSubject::new, 0.03),
          new Share(SchemaSubject::new, 0.04),
          new Share(VersionsSubject::new, 0.02),
          new Share(ThrottleSubject::new, 0.02),
          new Share(UnsortedLoadSubject::new, 0.02));

  private static final Share SHORT = new Share(ShortSubject::new, 0);

  /** A recorded life and its images that were checked. */
  private record Life(Share variant, Recording recording, SeenImages seen, double share) {
    Life(Share variant, Recording recording) {
      this(variant, recording, new SeenImages(), variant.share);
    }
  }

  private final long seed;
  private final Path keep;
  private final List<Life> lives = new ArrayList<>();
  private final Map<PlatformProfile, List<Outcome>> cuts = new EnumMap<>(PlatformProfile.class);

  /** Profiles under which a run checked all its states. */
  private final Set<PlatformProfile> ended = EnumSet.noneOf(PlatformProfile.class);

  private final List<Outcome> deep = new ArrayList<>();
  private final List<Outcome> killed = new ArrayList<>();
  private final List<Recording> recoveries = new ArrayList<>();
  private final List<Outcome> unusable = new ArrayList<>();
  private long states;
  private long nanos;

  PowerCuts(long seed, Path keep) {
    this.seed = seed;
    this.keep = keep;
  }

  /** Records a life of each variant. An unusable one becomes a part of its own. */
  void record() throws IOException {
    for (Share variant : VARIANTS) {
      long lifeSeed = Seeds.of(seed, lives.size());
      Recording recording = new LifeRecorder<>(variant.maker, lifeSeed, LIVES, LIMIT).record();
      if (recording.usable()) {
        lives.add(new Life(variant, recording));
      } else {
        unusable.add(Outcome.of("recording", recording.verdict(), recording.reason()));
      }
    }
    recordDeaths();
  }

  /** Lives of the first variant after the death of a process. */
  private void recordDeaths() throws IOException {
    Share variant = VARIANTS.getFirst();
    LifeRecorder<Database> recorder =
        new LifeRecorder<>(variant.maker, Seeds.of(seed, VARIANTS.size()), 1, LIMIT);
    for (Recording recording : unusable.isEmpty() ? recorder.recordDeaths(DEATHS) : NONE) {
      if (recording.usable()) {
        lives.add(new Life(variant, recording, new SeenImages(), variant.share * SHARE_OF_A_DEATH));
      } else {
        unusable.add(Outcome.of("life after a death", recording.verdict(), recording.reason()));
      }
    }
  }

  /**
   * Cuts the recorded lives until the time is over and a number of states was checked. On a slow
   * machine the wait for this number is limited.
   */
  void cut(Duration budget, long owed, SuiteProgress progress) {
    long begun = System.nanoTime();
    long end = begun + budget.toNanos();
    long last = begun + PATIENCE * budget.toNanos();
    for (int round = 0;
        System.nanoTime() < (states < owed ? last : end) && !lives.isEmpty();
        round++) {
      for (Life life : lives) {
        for (PlatformProfile profile : PROFILES) {
          long left = (states < owed ? last : end) - System.nanoTime();
          if (left > 0) {
            long begunOne = System.nanoTime();
            int count = count(budget, life.share / PROFILES.size());
            Outcome outcome =
                run(life, options(profile, round, count).withBudget(Duration.ofNanos(left)));
            cuts.computeIfAbsent(profile, p -> new ArrayList<>()).add(outcome);
            if (System.nanoTime() < begunOne + left) {
              ended.add(profile);
            }
            progress.note(describe());
          }
        }
      }
    }
  }

  /** Cuts the lives after killed ones. */
  void cutAfterKills() throws IOException {
    for (Recording recording : KilledLives.record(seed, FORCES_OF_DATA)) {
      Life life = new Life(SHORT, recording);
      killed.add(run(life, options(PlatformProfile.STRICT_POSIX, killed.size(), AFTER_A_KILL)));
    }
  }

  /** Cuts recoveries, and their recoveries. */
  void cutDeep(Duration budget, SuiteProgress progress) {
    long end = System.nanoTime() + budget.toNanos();
    for (int round = 0; System.nanoTime() < end && !lives.isEmpty(); round++) {
      for (PlatformProfile profile :
          List.of(PlatformProfile.STRICT_POSIX, PlatformProfile.EXT4_ORDERED)) {
        Duration left = Duration.ofNanos(end - System.nanoTime());
        if (left.isPositive()) {
          PowerCutOptions options =
              options(profile, 1_000 + round, Math.max(60, count(budget, 0.2)))
                  .withDepth(DEPTH)
                  .withBudget(left);
          deep.add(run(lives.get(round % Math.min(2, lives.size())), options));
          progress.note(describe());
        }
      }
    }
  }

  private Outcome run(Life life, PowerCutOptions options) {
    long begun = System.nanoTime();
    PowerCutRun<Database> run =
        new PowerCutRun<>(life.variant.maker, life.recording, options, life.seen);
    Outcome outcome = run.run();
    // Each holds a disk and everything written to it.
    List<Recording> more = run.recoveries();
    recoveries.addAll(more.subList(0, Math.min(RECOVERIES - recoveries.size(), more.size())));
    nanos += System.nanoTime() - begun;
    states += outcome.states();
    return outcome;
  }

  private PowerCutOptions options(PlatformProfile profile, int round, int count) {
    return PowerCutOptions.of(profile, Seeds.of(seed, 100L + round))
        .withStates(count)
        .withLimit(LIMIT)
        .withKeep(keep);
  }

  /** The number of states for a share of the budget, at the measured rate. */
  private int count(Duration budget, double share) {
    double rate = states == 0 ? FIRST_GUESS : statesPerSecond();
    return (int) Math.clamp(rate * budget.toMillis() / 1_000 * share, FEWEST, MOST);
  }

  /** How many distinct states were opened and checked in a second. */
  double statesPerSecond() {
    return nanos == 0 ? 0 : states / (nanos / 1e9);
  }

  private String describe() {
    Outcome sum = sum("", runs());
    double[] millis = sum.recoveryMillis();
    Arrays.sort(millis);
    return "%,d states, %s, recovery %.1f ms"
        .formatted(sum.states(), sum.verdict(), millis.length == 0 ? 0 : millis[millis.length / 2]);
  }

  private List<Outcome> runs() {
    List<Outcome> runs = new ArrayList<>();
    cuts.values().forEach(runs::addAll);
    runs.addAll(killed);
    runs.addAll(deep);
    return runs;
  }

  /** One outcome for each profile, and one for the recoveries. */
  List<Outcome> outcomes() {
    List<Outcome> result = new ArrayList<>(unusable);
    if (!lives.isEmpty()) {
      for (PlatformProfile profile : PlatformProfile.values()) {
        result.add(sumOf(profile));
      }
    }
    if (!killed.isEmpty()) {
      result.add(sum("power cut after a killed life", killed));
    }
    if (!lives.isEmpty()) {
      result.add(sum("power cut in recovery, to depth " + DEPTH, deep));
    }
    return result;
  }

  /** A profile whose images were all checked under other profiles counts as checked. */
  private Outcome sumOf(PlatformProfile profile) {
    String name = "power cut, " + profile;
    List<Outcome> some = cuts.getOrDefault(profile, List.of());
    return ended.contains(profile) && some.stream().allMatch(PowerCuts::isSilent)
        ? new Outcome(name, Verdict.SURVIVED, NOTHING_NEW, Map.of(), 0, 0, new double[0], List.of())
        : sum(name, some);
  }

  private static Outcome sum(String name, List<Outcome> some) {
    return Outcomes.sum(name, some.stream().filter(one -> !isSilent(one)).toList());
  }

  /** Whether all images of a run had been checked before. */
  static boolean isSilent(Outcome one) {
    return one.states() == 0 && one.recoveryMillis().length == 0 && one.failures().isEmpty();
  }

  /** Recordings for force coverage: short lives, those of the variants, and recoveries. */
  List<Recording> forCoverage() throws IOException {
    List<Recording> all = new ArrayList<>();
    all.add(new LifeRecorder<>(SHORT.maker, seed, LIVES, LIMIT).record());
    all.addAll(CoverageLives.record(SEED_OF_COVERAGE, LIMIT));
    all.addAll(KilledLives.record(SEED_OF_COVERAGE, FORCES_OF_DATA));
    lives.stream().limit(2).map(Life::recording).forEach(all::add);
    all.addAll(recoveries);
    return all;
  }

  /** The recording of the first variant. */
  @Nullable Recording first() {
    return lives.isEmpty() ? null : lives.getFirst().recording;
  }
}
