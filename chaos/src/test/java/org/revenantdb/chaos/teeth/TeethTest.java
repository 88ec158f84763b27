package org.revenantdb.chaos.teeth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.teeth.BrokenSubjects.Broken;
import org.revenantdb.chaos.teeth.BrokenSubjects.CacheTrusted;
import org.revenantdb.chaos.teeth.BrokenSubjects.Honest;
import org.revenantdb.chaos.teeth.BrokenSubjects.RecordWithoutCrc;
import org.revenantdb.chaos.teeth.BrokenSubjects.Trigger;

/** Every store that is broken on purpose is found, the correct one never. */
class TeethTest {

  private final long seed = Seeds.fresh();

  @Test
  void list_hasEveryFlawOnce() {
    Set<Flaw> flaws =
        BrokenSubjects.all().stream()
            .map(Broken::flaw)
            .collect(Collectors.toCollection(() -> EnumSet.noneOf(Flaw.class)));
    assertEquals(EnumSet.complementOf(EnumSet.of(Flaw.NONE)), flaws);
    assertEquals(flaws.size(), BrokenSubjects.all().size());
  }

  @Test
  void brokenSubjects_fromStoredSeeds_areFoundAndShrunkToTheirCause() {
    List<Bite> bites = Teeth.fromStoredSeeds();
    assertEquals(6, bites.size());
    for (Bite bite : bites) {
      System.out.println(bite.line());
      assertTrue(bite.found(), bite::toString);
      assertTrue(bite.story().contains("TinyStore."), bite::toString);
    }
    assertFewLosses(bites.get(0), "lost: write log-");
    assertFewLosses(bites.get(1), "lost: ");
    assertFewLosses(bites.get(2), "torn, units ");
    assertFewLosses(bites.get(3), "lost: write log-");
    assertFewLosses(bites.get(4), "lost: write log-");
    assertFewLosses(bites.get(5), "lost: rename current");
  }

  /** One is enough, or two if a file's size can only be lost from its end. */
  private static void assertFewLosses(Bite bite, String beginning) {
    List<String> losses =
        bite.story().lines().filter(line -> line.matches("(lost|torn).*")).toList();
    assertTrue(losses.size() == 1 || losses.size() == 2, bite::toString);
    assertTrue(losses.getFirst().startsWith(beginning), bite::toString);
  }

  @Test
  void brokenSubjects_fromFreshSeeds_areFound() {
    for (Bite bite : Teeth.fromFreshSeeds(seed)) {
      System.out.println(bite.line());
      assertTrue(bite.found(), bite::toString);
    }
  }

  @ParameterizedTest
  @EnumSource
  void honestStore_underEachProfile_survives(PlatformProfile profile) throws IOException {
    Recording recording =
        new LifeRecorder<>(Honest::new, seed, /* lives= */ 2, Duration.ofMinutes(1)).record();
    PowerCutOptions options = PowerCutOptions.of(profile, seed).withStates(200).withDepth(2);
    Outcome outcome = new PowerCutRun<>(Honest::new, recording, options, new SeenImages()).run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> "seed " + seed + " " + outcome);
  }

  @ParameterizedTest
  @EnumSource
  void honestStore_whoseProcessDiesAndPowerIsCutLater_survives(PlatformProfile profile)
      throws IOException {
    List<Recording> recordings =
        new LifeRecorder<>(Honest::new, seed, /* lives= */ 2, Duration.ofMinutes(1))
            .recordDeaths(6);
    assertEquals(6, recordings.size());
    for (Recording recording : recordings) {
      PowerCutOptions options = PowerCutOptions.of(profile, seed).withStates(60);
      Outcome outcome = new PowerCutRun<>(Honest::new, recording, options, new SeenImages()).run();
      assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> "seed " + seed + " " + outcome);
    }
  }

  @Test
  void storeWithoutAChecksum_isFound_whereTornSectorsHoldGarbage() throws IOException {
    Recording recording =
        new LifeRecorder<>(RecordWithoutCrc::new, seed, /* lives= */ 2, Duration.ofMinutes(1))
            .record();
    PowerCutOptions options =
        PowerCutOptions.of(PlatformProfile.SECTOR_GARBAGE, seed).withStates(200);
    Outcome outcome =
        new PowerCutRun<>(RecordWithoutCrc::new, recording, options, new SeenImages()).run();
    assertEquals(Verdict.CORRUPT, outcome.verdict(), () -> "seed " + seed + " " + outcome);
  }

  @Test
  void storeThatTrustsTheCache_whereNoProcessDies_isNotFound() throws IOException {
    Recording recording =
        new LifeRecorder<>(CacheTrusted::new, seed, /* lives= */ 2, Duration.ofMinutes(1)).record();
    for (PlatformProfile profile : PlatformProfile.values()) {
      PowerCutOptions options = PowerCutOptions.of(profile, seed).withStates(200).withDepth(2);
      Outcome outcome =
          new PowerCutRun<>(CacheTrusted::new, recording, options, new SeenImages()).run();
      assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> "seed " + seed + " " + outcome);
    }
  }

  @Test
  void honestStore_whoseForcesFail_isNotFound() {
    Broken honest =
        new Broken(
            Flaw.NONE,
            "nothing",
            Trigger.FAILED_FORCE,
            PlatformProfile.STRICT_POSIX,
            seed,
            Honest.class,
            Honest::new);
    int rounds = Boolean.getBoolean("revenant.long") ? 5 : 3;
    Bite bite = Teeth.hunt(honest, seed, rounds, /* patience= */ Duration.ZERO);
    assertFalse(bite.found(), bite::toString);
    assertEquals(Verdict.SURVIVED, bite.verdict(), bite::toString);
  }

  @Test
  @Tag("slow")
  void firstOfEachKindOfCrash_isFound() {
    for (Crash crash : Crash.values()) {
      Bite bite = Teeth.proveOne(crash);
      System.out.println(bite.line());
      assertTrue(bite.found(), bite::toString);
    }
  }
}
