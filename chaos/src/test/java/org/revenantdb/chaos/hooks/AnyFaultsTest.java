package org.revenantdb.chaos.hooks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/** Operations of stores that use real files fail (§57), and forces are taken away. */
@Tag("slow")
@EnabledIf("canHook")
class AnyFaultsTest {

  private static final long SEED = 7;
  private static final int LIVES = 2;

  /** Of the kinds of faults a build makes one in so many; the seed draws which. */
  private static final int KINDS = Boolean.getBoolean("revenant.long") ? 1 : 5;

  /** Forces of the directory and of files: with so many lives, one of each kind fails. */
  private static final int FORCES = 4;

  @TempDir private Path scratch;

  static boolean canHook() {
    return AnyRecorder.missingHooks().isEmpty();
  }

  /** A value in a file that is replaced as a whole. Every step may be left out by a subclass. */
  public static class Replaced implements CrashSubject<Path> {

    private static final int VALUES = 8;

    /** After a failed force, what can be read need not be on the disk. */
    @Override
    public Path open(Path dir) throws IOException {
      forceNames(dir);
      return dir;
    }

    void write(RandomAccessFile file, String value) throws IOException {
      file.setLength(0);
      file.write(value.getBytes(UTF_8));
    }

    void force(RandomAccessFile file) throws IOException {
      file.getFD().sync();
    }

    void rename(File next, File to) throws IOException {
      if (!next.renameTo(to)) {
        throw new IOException("cannot rename " + next);
      }
    }

    void forceNames(Path dir) throws IOException {
      try (FileChannel names = FileChannel.open(dir)) {
        names.force(true);
      }
    }

    void put(Path dir, String value) throws IOException {
      File next = new File(dir.toString(), "next");
      try (RandomAccessFile file = new RandomAccessFile(next, "rw")) {
        write(file, value);
        force(file);
      }
      rename(next, new File(dir.toString(), "value"));
      forceNames(dir);
    }

    @Override
    public void work(Path dir, Promises promises) throws Exception {
      for (int i = 0; i < VALUES; i++) {
        String value = "value " + i + " of life " + promises.seed();
        promises.attempt("key", value);
        put(dir, value);
        promises.durable("key", value);
      }
    }

    @Override
    public void check(Path dir, Recovered recovered) throws Exception {
      File file = new File(dir.toString(), "value");
      @Nullable String value = file.exists() ? Files.readString(file.toPath()) : null;
      recovered.verify(key -> value);
    }
  }

  private AnyRun run(Class<?> subject) {
    return new AnyRun(subject, SEED, 1, Duration.ofMinutes(10), List.of(), scratch);
  }

  private static PowerCutOptions options() {
    return PowerCutOptions.of(PlatformProfile.EXT4_ORDERED, SEED).withStates(20).withWorkers(1);
  }

  private Outcome fault(Class<?> subject, FaultKind kind) throws IOException {
    return fault(subject, kind, LIVES);
  }

  private Outcome fault(Class<?> subject, FaultKind kind, int lives) throws IOException {
    try (AnyRun run = run(subject)) {
      return run.faults(kind, lives, options().withKeep(scratch));
    }
  }

  /** Every {@link #KINDS}th kind, from one that the seed chooses. */
  private static List<FaultKind> drawn(FaultKind... kinds) {
    long seed = Seeds.fresh();
    System.out.println("AnyFaultsTest, kinds of faults by seed " + seed);
    List<FaultKind> drawn = new ArrayList<>();
    for (int i = (int) Math.floorMod(seed, Math.min(KINDS, kinds.length));
        i < kinds.length;
        i += KINDS) {
      drawn.add(kinds[i]);
    }
    return drawn;
  }

  private static void assertFound(Outcome outcome) {
    assertTrue(
        outcome.verdict() == Verdict.LOST || outcome.verdict() == Verdict.CORRUPT,
        outcome::toString);
  }

  @Test
  @Drawn(oneIn = 2)
  void a_correct_store_survives_every_fault_that_a_hook_can_make() throws IOException {
    try (AnyRun run = run(Replaced.class)) {
      for (FaultKind kind : drawn(FaultKind.values())) {
        Outcome outcome = run.faults(kind, LIVES, options());
        boolean possible = Faults.impossible(kind).isEmpty() && kind != FaultKind.DELETE_FAILS;
        assertEquals(
            possible ? Verdict.SURVIVED : Verdict.NOT_MEASURED,
            outcome.verdict(),
            () -> kind + ": " + outcome);
        assertTrue(!possible || outcome.states() > LIVES, () -> kind + ": " + outcome);
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void a_fault_that_no_hook_can_make_is_not_measured_and_the_reason_is_given() throws IOException {
    Outcome outcome = fault(Replaced.class, FaultKind.READ_FAILS);
    assertEquals(Verdict.NOT_MEASURED, outcome.verdict());
    assertTrue(outcome.reason().contains("reads are not hooked"), outcome.reason());
    outcome = fault(Replaced.class, FaultKind.DELETE_FAILS);
    assertEquals(Verdict.NOT_MEASURED, outcome.verdict());
    assertTrue(outcome.reason().contains("no operation of the store"), outcome.reason());
  }

  /** Takes a failed force for a success. */
  public static final class SwallowsFailedForce extends Replaced {
    @Override
    void force(RandomAccessFile file) {
      try {
        super.force(file);
      } catch (IOException e) {
        // It will be all right.
      }
    }
  }

  @Test
  @Drawn(oneIn = 3)
  void a_store_that_swallows_a_failed_force_is_found_and_its_file_fails_again() throws IOException {
    Outcome outcome = fault(SwallowsFailedForce.class, FaultKind.FORCE_FAILS_CLEAN, FORCES);
    assertFound(outcome);
    String title = outcome.failures().getFirst().title();
    assertTrue(title.contains("a force fails, its pages clean (operation "), title);
    assertTrue(title.contains(" in " + Replaced.class.getName() + ".force:"), title);
    Path file = outcome.failures().getFirst().file();
    assertTrue(file != null);
    Verdict again = FailureFile.read(file).replayOnDisk(Duration.ofMinutes(10)).verdict();
    assertTrue(again == Verdict.LOST || again == Verdict.CORRUPT, again::toString);
  }

  /** Takes a failed force of its directory for a success. */
  public static final class SwallowsFailedForceOfNames extends Replaced {
    @Override
    void forceNames(Path dir) {
      try {
        super.forceNames(dir);
      } catch (IOException e) {
        // It will be all right.
      }
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void a_store_that_swallows_a_failed_force_of_its_directory_is_found() throws IOException {
    assertFound(fault(SwallowsFailedForceOfNames.class, FaultKind.FORCE_FAILS, 2 * FORCES));
  }

  /** A file for each value. The one with the greatest number counts. */
  public static class Numbered extends Replaced {

    @Override
    void put(Path dir, String value) throws IOException {
      File next = new File(dir.toString(), "next");
      try (RandomAccessFile file = new RandomAccessFile(next, "rw")) {
        write(file, value);
        force(file);
      }
      rename(next, new File(dir.toString(), Integer.toString(1 + newest(dir))));
      forceNames(dir);
    }

    String[] names(File dir) throws IOException {
      String[] names = dir.list();
      if (names == null) {
        throw new IOException("cannot list " + dir);
      }
      return names;
    }

    private int newest(Path dir) throws IOException {
      int newest = 0;
      for (String name : names(dir.toFile())) {
        newest = name.equals("next") ? newest : Math.max(newest, Integer.parseInt(name));
      }
      return newest;
    }

    @Override
    public void check(Path dir, Recovered recovered) throws Exception {
      int newest = newest(dir);
      Path file = dir.resolve(Integer.toString(newest));
      @Nullable String value = newest == 0 ? null : Files.readString(file);
      recovered.verify(key -> value);
    }
  }

  /** Takes a directory that cannot be listed for an empty one. */
  public static final class ListsBlindly extends Numbered {
    @Override
    String[] names(File dir) {
      String[] names = dir.list();
      return names == null ? new String[0] : names;
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true")
  void a_store_that_takes_a_directory_that_cannot_be_listed_for_an_empty_one_is_found()
      throws IOException {
    assertEquals(
        Verdict.SURVIVED, fault(Numbered.class, FaultKind.OPEN_FAILS, 2 * FORCES).verdict());
    assertFound(fault(ListsBlindly.class, FaultKind.OPEN_FAILS, 3 * FORCES));
  }

  /** Tries again when a force fails, which writes nothing if the pages count as clean. */
  public static final class ForcesAgain extends Replaced {
    @Override
    void force(RandomAccessFile file) throws IOException {
      try {
        super.force(file);
      } catch (IOException e) {
        super.force(file);
      }
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void a_second_force_helps_only_if_the_pages_are_still_dirty() throws IOException {
    assertEquals(Verdict.SURVIVED, fault(ForcesAgain.class, FaultKind.FORCE_FAILS).verdict());
    assertFound(fault(ForcesAgain.class, FaultKind.FORCE_FAILS_CLEAN, FORCES));
  }

  /** Does not look how much was written. */
  public static final class WritesOnce extends Replaced {
    @Override
    void write(RandomAccessFile file, String value) throws IOException {
      file.setLength(0);
      var _ = file.getChannel().write(ByteBuffer.wrap(value.getBytes(UTF_8)));
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void a_store_that_does_not_complete_a_short_write_is_found() throws IOException {
    assertFound(fault(WritesOnce.class, FaultKind.SHORT_WRITE));
  }

  /** Does not look whether the rename succeeded. */
  public static final class RenamesBlindly extends Replaced {
    @Override
    void rename(File next, File to) {
      var _ = next.renameTo(to);
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void a_store_that_ignores_a_failed_rename_is_found() throws IOException {
    assertFound(fault(RenamesBlindly.class, FaultKind.RENAME_FAILS));
  }

  /** Promises the message of an exception if it is not the one that the fault causes. */
  public static class Expects extends Replaced {

    private final String message;

    Expects(String message) {
      this.message = message;
    }

    @Override
    public void work(Path dir, Promises promises) throws Exception {
      try {
        super.work(dir, promises);
      } catch (IOException e) {
        if (!String.valueOf(e.getMessage()).contains(message)) {
          promises.durable("another message", String.valueOf(e.getMessage()));
        }
      }
    }
  }

  /** For a failed device. */
  public static final class ExpectsFailure extends Expects {
    ExpectsFailure() {
      super("Input/output error");
    }
  }

  /** For a full disk. */
  public static final class ExpectsFullDisk extends Expects {
    ExpectsFullDisk() {
      super("No space left on device");
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void the_program_sees_the_error_number_of_the_fault() throws IOException {
    try (AnyRun run = run(ExpectsFailure.class)) {
      for (FaultKind kind :
          drawn(FaultKind.WRITE_FAILS, FaultKind.OPEN_FAILS, FaultKind.TRUNCATE_FAILS)) {
        Outcome outcome = run.faults(kind, /* lives= */ 1, options());
        assertEquals(Verdict.SURVIVED, outcome.verdict(), () -> kind + ": " + outcome);
      }
    }
    Outcome full = fault(ExpectsFullDisk.class, FaultKind.DISK_FULL, /* lives= */ 1);
    assertEquals(Verdict.SURVIVED, full.verdict(), full::toString);
    assertFound(fault(ExpectsFullDisk.class, FaultKind.WRITE_FAILS));
  }

  /** Hangs when a write fails. */
  public static final class Hangs extends Replaced {
    @Override
    void write(RandomAccessFile file, String value) throws IOException {
      try {
        super.write(file, value);
      } catch (IOException e) {
        while (true) {
          Thread.onSpinWait();
        }
      }
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true") // it waits for limits
  void a_store_that_hangs_after_a_fault_is_found() throws IOException {
    // The limit also holds for the start of a JVM on a busy machine.
    try (AnyRun run =
        new AnyRun(Hangs.class, SEED, 1, Duration.ofSeconds(30), List.of(), scratch)) {
      Outcome outcome = run.faults(FaultKind.WRITE_FAILS, 1, options());
      assertEquals(Verdict.CORRUPT, outcome.verdict(), outcome::toString);
      assertTrue(outcome.reason().contains("did not end"), outcome::reason);
    }
  }

  /** Tries again for as long as a disk is full. */
  public static final class TriesAgain extends Replaced {
    @Override
    void write(RandomAccessFile file, String value) throws IOException {
      file.setLength(0);
      while (true) {
        try {
          file.write(value.getBytes(UTF_8));
          return;
        } catch (IOException e) {
          Thread.onSpinWait();
        }
      }
    }
  }

  @Test
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true") // it waits for limits
  void a_store_that_tries_again_for_ever_on_a_full_disk_hangs() throws IOException {
    try (AnyRun run =
        new AnyRun(TriesAgain.class, SEED, 1, Duration.ofSeconds(30), List.of(), scratch)) {
      List<String> seen = new ArrayList<>();
      Outcome outcome = run.faults(FaultKind.DISK_FULL, 1, options(), seen::add);
      assertEquals(List.of("the fault in 1 of 1 lives"), seen);
      assertEquals(Verdict.CORRUPT, outcome.verdict(), outcome::toString);
      assertTrue(outcome.reason().contains("did not end"), outcome::reason);
    }
  }

  /** Works in no life but the recorded ones. */
  public static final class WorksOnce extends Replaced {
    @Override
    public void work(Path dir, Promises promises) throws Exception {
      if (dir.toString().contains("faults")) {
        throw new IOException("works no more");
      }
      super.work(dir, promises);
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void a_store_that_fails_without_a_fault_has_that_outcome_for_every_kind() throws IOException {
    try (AnyRun run = run(WorksOnce.class)) {
      for (FaultKind kind : List.of(FaultKind.WRITE_FAILS, FaultKind.RENAME_FAILS)) {
        Outcome outcome = run.faults(kind, 1, options());
        assertEquals(Verdict.HARNESS_BROKEN, outcome.verdict(), outcome::toString);
        assertTrue(outcome.reason().contains("work without a fault failed"), outcome::reason);
      }
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void every_force_of_a_correct_store_is_needed() throws IOException {
    try (AnyRun run = run(Replaced.class)) {
      Outcome outcome = run.forceCoverage(/* workers= */ 1);
      assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome::toString);
      assertEquals(2L, outcome.verdicts().get(Verdict.SURVIVED), "places that force");
    }
  }

  /** Forces the file once more when it has its new name. */
  public static final class ForcesTooMuch extends Replaced {
    @Override
    void forceNames(Path dir) throws IOException {
      super.forceNames(dir);
      try (RandomAccessFile file = new RandomAccessFile(new File(dir.toString(), "value"), "rw")) {
        file.getFD().sync();
      }
    }
  }

  @Test
  void a_force_that_no_state_needs_is_told_with_its_place() throws IOException {
    try (AnyRun run = run(ForcesTooMuch.class)) {
      Outcome outcome = run.forceCoverage(/* workers= */ 1);
      assertEquals(Verdict.NOT_MEASURED, outcome.verdict(), outcome::toString);
      assertTrue(outcome.reason().contains("only 2 of 3 places"), outcome.reason());
      assertTrue(outcome.reason().contains("ForcesTooMuch.forceNames"), outcome.reason());
    }
  }
}
