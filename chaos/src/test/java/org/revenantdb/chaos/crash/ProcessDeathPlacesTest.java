package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.fault.FailpointListener;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Failpoint;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.testing.Drawn;

/** Processes that die at a failpoint: before and after each operation, and at named places. */
@Tag("slow")
class ProcessDeathPlacesTest extends ProcessDeaths {

  private final List<LifeEntry> entries = new ArrayList<>();

  /**
   * Has places of every kind: only in a first life, in each life, only after a crash, and named.
   */
  static class Named extends CellSubject {
    @Override
    public void work(CellStore store, Promises promises) throws Exception {
      for (int i = 0; i < 2; i++) {
        String value = promises.seed() + "." + i;
        promises.attempt("a", value);
        Failpoint.reach("between");
        store.put("a", value);
        promises.durable("a", value);
      }
    }

    @Override
    public void check(CellStore store, Recovered recovered) {
      super.check(store, recovered);
      Failpoint.reach("after a look");
    }
  }

  @Test
  @Drawn(oneIn = 4)
  void honestStore_survivesDeathAtEachPlace_andAtThoseWithAName() {
    List<String> places = new ArrayList<>();
    Options options =
        options(0).withFailpoints().withListener(progress -> places.add(progress.place()));
    ProcessDeathRun run = new ProcessDeathRun(Named.class, options);
    Outcome outcome = run.run();
    assertEquals(Verdict.SURVIVED, outcome.verdict(), outcome.reason());
    assertEquals(List.of(), run.unreached());
    String all = String.join("\n", places);
    for (String place :
        List.of(
            "before CREATE org.revenantdb.chaos.crash.CellStore.create",
            "after CREATE org.revenantdb.chaos.crash.CellStore.create",
            "before WRITE org.revenantdb.chaos.crash.CellStore.write",
            "after WRITE org.revenantdb.chaos.crash.CellStore.write",
            "before RENAME org.revenantdb.chaos.crash.CellStore.put",
            "after RENAME org.revenantdb.chaos.crash.CellStore.put",
            "before DELETE org.revenantdb.chaos.crash.CellStore.recover",
            "after DELETE org.revenantdb.chaos.crash.CellStore.recover",
            "failpoint between",
            "failpoint after a look")) {
      assertTrue(all.contains(place), () -> place + " is not among\n" + all);
    }
  }

  static final class DeletesFirst extends CellSubject {
    @Override
    public CellStore open(Path dir) throws Exception {
      return CellStore.open(dir, /* deletesFirst= */ true);
    }
  }

  /** A window of one operation, which a random kill hardly ever hits. */
  @Test
  @Drawn(oneIn = 3)
  void storeThatDeletesItsFileBeforeTheNextHasItsName_isFound_atThatPlace() {
    Outcome outcome = run(DeletesFirst.class, options(0).withFailpoints());
    assertEquals(Verdict.LOST, outcome.verdict(), outcome.reason());
    assertReason("died at a failpoint in ", outcome);
    assertReason("CellStore.put", outcome);
    Map<String, Long> seen = outcome.seen().counts();
    assertTrue(seen.get("places") >= 4, seen::toString);
    assertTrue(seen.get("operations") > seen.get("forces"), seen::toString);
    assertEquals(1, seen.get("files"), seen::toString);
    assertEquals(0, seen.get("deaths_left_out"), seen::toString);
  }

  /** Uses the given path as a text, as most stores do that have no {@code Path} in their API. */
  static class UsesText implements CrashSubject<File> {

    @Override
    public File open(Path dir) throws Exception {
      return new File(dir.toString(), "values");
    }

    @Override
    public void work(File store, Promises promises) throws Exception {
      for (int i = 0; i < 2; i++) {
        String value = promises.seed() + "." + i;
        try (RandomAccessFile file = new RandomAccessFile(store, "rw")) {
          file.seek(file.length());
          file.writeBytes(value + "\n");
        }
        promises.durable("a", value);
      }
    }

    @Override
    public void check(File store, Recovered recovered) {
      recovered.verify(key -> last(store));
    }

    private static @Nullable String last(File store) {
      String last = null;
      try (RandomAccessFile file = new RandomAccessFile(store, "r")) {
        for (String line; (line = file.readLine()) != null; ) {
          last = line;
        }
      } catch (FileNotFoundException e) {
        return null;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return last;
    }
  }

  @Test
  void a_store_that_passes_no_recorded_place_is_not_measured() {
    Outcome outcome = run(UsesText.class, options(0).withFailpoints());
    assertEquals(Verdict.NOT_MEASURED, outcome.verdict(), outcome.reason());
    assertReason("Use files = ANY", outcome);
    assertReason("something was created outside the recording", outcome);
    assertEquals(0, outcome.seen().counts().get("places"), outcome.seen()::text);
    assertEquals(1, outcome.seen().counts().get("files"), outcome.seen()::text);
  }

  /** The change of a file is hidden behind a creation that is recorded. */
  static final class CreatesByPath extends UsesText {
    @Override
    public File open(Path dir) throws Exception {
      Path file = dir.resolve("values");
      if (!Files.exists(file)) {
        Files.createFile(file);
      }
      return super.open(dir);
    }
  }

  static final class MakesAFile extends UsesText {
    @Override
    public File open(Path dir) {
      return dir.resolve("values").toFile();
    }
  }

  @Test
  void a_recorded_life_tells_which_changes_it_has_not_seen() {
    assertEquals(List.of(), missed(CellSubject.class));
    assertEquals(
        List.of("something was created outside the recording: "),
        starts(missed(UsesText.class), scratch.toString()));
    assertEquals(
        List.of("bytes were written outside the recording: values"), missed(CreatesByPath.class));
    assertEquals(
        "something was created outside the recording: ",
        starts(missed(MakesAFile.class), scratch.toString()).getFirst());
  }

  @Test
  void places_that_were_seen_are_reported_also_if_failpoints_are_not_measured() {
    Outcome outcome = run(CreatesByPath.class, options(0).withFailpoints().withZombies(1));
    assertEquals(Verdict.NOT_MEASURED, outcome.verdict(), outcome.reason());
    // The creation and its opening.
    assertEquals(2, outcome.seen().counts().get("places"), outcome.seen()::text);
    assertEquals(1, outcome.seen().counts().get("operations"), outcome.seen()::text);
    assertTrue(outcome.seen().notes().contains("failpoints were not measured"));
    assertTrue(outcome.kills() > 0, "the zombies are not measured");
  }

  /** Asks the directory for something that changes nothing. */
  static final class AsksTheFile extends CellSubject {
    @Override
    public CellStore open(Path dir) throws Exception {
      if (dir.toFile().getUsableSpace() < 0) {
        throw new IOException("no space");
      }
      return super.open(dir);
    }
  }

  @Test
  void a_java_io_file_that_changes_nothing_is_a_note() {
    assertEquals(List.of(), missed(AsksTheFile.class));
    assertTrue(
        entries.stream()
            .anyMatch(entry ->
                entry instanceof LifeEntry.Noted(String what)
                    && what.startsWith("operations on a java.io.File cannot be recorded: ")));
  }

  /** Changes its files by the given path, and cleans up behind a crash by another one. */
  static final class RecoversByText extends CellSubject {
    @Override
    public CellStore open(Path dir) throws Exception {
      Files.deleteIfExists(Path.of(dir.toString(), "next"));
      return super.open(dir);
    }
  }

  @Test
  void a_recovery_that_is_not_recorded_is_not_measured() {
    Outcome outcome = run(RecoversByText.class, options(0).withFailpoints());
    assertEquals(Verdict.NOT_MEASURED, outcome.verdict(), outcome.reason());
    assertReason("Use files = ANY", outcome);
  }

  /** Fails once after a crash; when the same files are opened again, its check asks nothing. */
  static final class AsksNothingAgain extends CellSubject {

    private boolean crashed;

    @Override
    public CellStore open(Path dir) throws Exception {
      crashed |= Files.exists(dir.resolve("next"));
      return super.open(dir);
    }

    @Override
    public void check(CellStore store, Recovered recovered) {
      Path marker = Path.of(System.getProperty("java.io.tmpdir"), "failed");
      if (!crashed) {
        super.check(store, recovered);
      } else if (!Files.exists(marker)) {
        create(marker);
        throw new IllegalStateException("by chance");
      }
    }

    private static void create(Path file) {
      try {
        Files.createFile(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Test
  void a_subject_that_breaks_in_the_life_that_confirms_a_failure_is_at_fault() {
    Options options = options(0).withFailpoints();
    Outcome outcome = run(AsksNothingAgain.class, options);
    assertEquals(Verdict.HARNESS_BROKEN, outcome.verdict(), outcome.reason());
    assertReason("the same files again: the subject's check verifies nothing", outcome);
  }

  /** Passes its check after a crash and then accepts no work. */
  static final class RefusesWork extends CellSubject {

    private boolean crashed;

    @Override
    public CellStore open(Path dir) throws Exception {
      crashed |= Files.exists(dir.resolve("next"));
      return super.open(dir);
    }

    @Override
    public void resume(CellStore store, Promises promises) throws Exception {
      if (crashed) {
        throw new IllegalStateException("no more work");
      }
      super.resume(store, promises);
    }
  }

  @Test
  void a_life_that_fails_behind_its_check_counts_once() {
    Outcome outcome = run(RefusesWork.class, options(0).withFailpoints());
    assertEquals(Verdict.CORRUPT, outcome.verdict(), outcome.reason());
    assertEquals(outcome.recoveryMillis().length, outcome.checks(), outcome.verdicts()::toString);
  }

  @Test
  void no_death_before_the_time_is_over_is_not_measured() {
    Options options = options(0).withFailpoints().withLimit(Duration.ZERO);
    ProcessDeathRun run = new ProcessDeathRun(CellSubject.class, options);
    Outcome outcome = run.run();
    assertEquals(Verdict.NOT_MEASURED, outcome.verdict(), outcome.reason());
    assertEquals(run.unreached().size(), outcome.seen().counts().get("deaths_left_out"));
    assertTrue(
        run.unreached().stream().anyMatch(death -> death.startsWith("after CREATE ")),
        run.unreached()::toString);
    assertTrue(
        outcome.seen().text().contains("the time was over, or enough had failed, before a death: "),
        outcome.seen()::text);
  }

  private static List<String> starts(List<String> texts, String end) {
    return texts.stream().map(text -> text.split(Pattern.quote(end), 2)[0]).toList();
  }

  /** Lives in this process, without a death. */
  private <S> List<String> missed(Class<? extends CrashSubject<S>> subject) {
    Path store = scratch.resolve(subject.getSimpleName());
    entries.clear();
    try {
      Files.createDirectory(store);
      LifeOrder order =
          new LifeOrder(
              subject.getName(),
              store,
              scratch.resolve("ledger"),
              /* promises= */ null,
              scratch.resolve("settled"),
              seed,
              /* works= */ 1,
              /* closeEvery= */ 1,
              /* checkLast= */ true,
              /* recorded= */ true,
              /* judged= */ true,
              /* death= */ null,
              /* control= */ false);
      new Life<>(order, Life.subject(subject.getName()), entries::add).live();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      FailpointListener.set(name -> {});
    }
    assertEquals(new LifeEntry.Done(), entries.getLast());
    return entries.stream()
        .filter(LifeEntry.Missed.class::isInstance)
        .map(entry -> ((LifeEntry.Missed) entry).what().lines().findFirst().orElse(""))
        .toList();
  }
}
