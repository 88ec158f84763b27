package org.revenantdb.suite.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.Thread.UncaughtExceptionHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.recovery.format.PageHeaderLayout;

/** A trial finds each planted fault and gives it the right outcome. */
class TrialTest {

  private static final int PAGE = PageHeaderLayout.PAGE_SIZE;
  private static final int SECTOR = 512;

  /** The wait for a thread that will never begin or end. */
  private static final Duration IMPATIENT = Duration.ofMillis(100);

  private static Family family = new Family(List.of());

  private @Nullable UncaughtExceptionHandler before;

  @BeforeAll
  static void populate() {
    family = Population.make(Population.Kind.FLUSHING, 7);
  }

  @BeforeEach
  void keepHandler() {
    before = Thread.getDefaultUncaughtExceptionHandler();
  }

  @AfterEach
  void restoreHandler() {
    Thread.setDefaultUncaughtExceptionHandler(before);
  }

  private static Outcome outcome(String text, Threads threads) {
    return outcome(family, text, threads);
  }

  private static Outcome outcome(Family of, String text, Threads threads) {
    Variant variant = Variant.parse(text);
    try (TrialDisks.InMemory disk = TrialDisks.InMemory.of(variant.make(of).image())) {
      Trial trial = new Trial(new PlantedOpener(), variant, of, disk, threads);
      trial.run();
      return trial.outcome();
    }
  }

  private static int last() {
    return family.moments().size() - 1;
  }

  private static Threads threads() {
    return threads(new Threads("planted"));
  }

  private static Threads threads(Threads threads) {
    threads.listen();
    return threads;
  }

  @ParameterizedTest
  @CsvSource({
    "none, RIGHT",
    "refuses, REFUSED",
    "told, TOLD",
    "wrong, WRONG",
    "forgets, WRONG",
    "repeats, WRONG",
    "repeats-down, WRONG",
    "repeats-reversed, WRONG",
    "strange-number, WRONG",
    "no-sequence, WRONG",
    "raw, RAW_EXCEPTIONS",
    "memory, OUT_OF_MEMORY",
    "dies, DEAD_THREADS",
    "changes, REFUSALS_THAT_CHANGED_FILES",
    "grows, GROWTH"
  })
  void a_planted_fault_has_its_outcome(String fault, Outcome expected) {
    String text = "1/0/%d stray: create %s%s 1".formatted(last(), PlantedOpener.PLANT, fault);
    assertEquals(expected, outcome(text, threads()));
  }

  @Test
  void a_thread_that_is_missing_while_puts_succeed_is_dead() throws Exception {
    Threads threads = threads(new Threads("planted", IMPATIENT));
    Moment sound = family.moments().get(last());
    try (TrialDisks.InMemory disk = TrialDisks.InMemory.of(sound.image().fork());
        Subject open = new PlantedOpener().open(disk.directory(), /* readOnly= */ false)) {
      threads.learn(/* first= */ true);
    }
    String text = "1/0/%d stray: create %sgone 1".formatted(last(), PlantedOpener.PLANT);
    assertEquals(Outcome.DEAD_THREADS, outcome(text, threads));
  }

  @Test
  void a_thread_that_stays_behind_is_a_leak() {
    String text = "1/0/%d stray: create %sleaks 1".formatted(last(), PlantedOpener.PLANT);
    assertEquals(Outcome.LEAKS, outcome(text, new Threads("planted", IMPATIENT)));
    Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("planted-worker"))
        .forEach(Thread::interrupt);
  }

  @Test
  void a_wrong_answer_after_a_checksum_was_corrected_is_forged() {
    String text =
        "1/0/%d field.map: create %swrong 1; sealpage revenant.data 3"
            .formatted(last(), PlantedOpener.PLANT);
    assertEquals(Outcome.FORGED, outcome(text, threads()));
  }

  /** The sectors that are not copied are the same in both moments. */
  @Test
  void a_page_that_is_torn_into_a_whole_one_of_another_moment_is_forged() {
    Moment sound = family.moments().get(last());
    DiskImage changed = sound.image().fork();
    DamagedDisk then = new DamagedDisk(changed);
    List<String> copies = new ArrayList<>();
    for (int sector : new int[] {2, 3, 9}) {
      long at = 20L * PAGE + sector * SECTOR;
      byte[] bytes = then.bytes("revenant.data", at, SECTOR);
      bytes[7] ^= 1;
      then.set("revenant.data", at, bytes);
      copies.add("copy revenant.data %d %d 0".formatted(at, SECTOR));
    }
    Family both =
        new Family(List.of(new Moment("changed", sound.closed(), changed, sound.states()), sound));
    String planted = "1/0/1 torn: create %swrong 1; ".formatted(PlantedOpener.PLANT);
    assertEquals(Outcome.FORGED, outcome(both, planted + String.join("; ", copies), threads()));
    copies.removeLast();
    assertEquals(Outcome.WRONG, outcome(both, planted + String.join("; ", copies), threads()));
  }

  @Test
  void a_sound_database_of_each_kind_is_right() {
    for (Population.Kind kind :
        List.of(Population.Kind.EVERYTHING, Population.Kind.UNDECIDED, Population.Kind.SPILLED)) {
      Family made = Population.make(kind, 3);
      for (int i = 0; i < made.moments().size(); i++) {
        Moment moment = made.moments().get(i);
        Variant sound = new Variant(0, 0, i, "none", List.of());
        try (TrialDisks.InMemory disk = TrialDisks.InMemory.of(moment.image().fork())) {
          Trial trial =
              new Trial(new RevenantSubject.Opener(), sound, made, disk, new Threads("no"));
          trial.run();
          assertEquals(
              Outcome.RIGHT,
              trial.outcome(),
              () -> kind + ", " + moment.name() + ": " + trial.findings());
        }
      }
    }
  }

  /**
   * Bytes copied wholly from a later moment's log are that log, so their content was right, but
   * later. Found by seed 7, variant 734,467. Whether an open accepts such a log depends on the
   * instants of the family's moments.
   */
  @Test
  void a_log_that_was_copied_whole_from_a_later_moment_is_not_a_wrong_answer() {
    for (int i = 0; i + 1 < family.moments().size(); i++) {
      for (int later = i + 1; later < family.moments().size(); later++) {
        Variant variant = wholeLog(i, later);
        try (TrialDisks.InMemory disk = TrialDisks.InMemory.of(variant.make(family).image())) {
          Trial trial =
              new Trial(new RevenantSubject.Opener(), variant, family, disk, new Threads("no"));
          trial.run();
          assertFalse(
              trial.outcome() == Outcome.WRONG, () -> variant.text() + ": " + trial.findings());
        }
      }
    }
  }

  /** The sectors of each segment that both moments have, except for its header. */
  private static Variant wholeLog(int moment, int later) {
    DamagedDisk from = new DamagedDisk(family.moments().get(later).image());
    DamagedDisk to = new DamagedDisk(family.moments().get(moment).image());
    List<Damage> steps =
        to.files().stream()
            .filter(file -> file.startsWith("log/"))
            .filter(file -> from.file(file) != null)
            .map(file ->
                Damage.of(
                    "copy",
                    file,
                    4096,
                    Math.min(from.file(file).size(), to.file(file).size()) - 4096,
                    later))
            .toList();
    return new Variant(0, 0, moment, "torn", steps);
  }
}
