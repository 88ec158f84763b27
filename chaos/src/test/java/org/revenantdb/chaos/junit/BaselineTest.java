package org.revenantdb.chaos.junit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;
import org.revenantdb.chaos.hooks.AnyRecorder;
import org.revenantdb.chaos.run.KnownFailures;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;
import org.revenantdb.testing.Drawn;

/** Failures that a project knows of are accepted, and no others. */
@Tag("slow") // each run confirms its failures in JVMs of their own
class BaselineTest {

  private static final String FILE = "target/baseline-test/known-failures.txt";

  /** Properties reach the JVM that confirms a failure as well. */
  private static final String FLAW_OF_NAMES = "baseline.test.flaw.of.names";

  private static final String FLAW_OF_VALUES = "baseline.test.flaw.of.values";

  /** With it, a crash between the two files is not survived: nothing has to be lost for that. */
  private static final String FLAW_OF_OPENING = "baseline.test.flaw.of.opening";

  private static final String OPEN = TwoFilesSubject.class.getName() + ".open";

  @TempDir private Path kept;
  private final Path file = Path.of(FILE);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  @Test
  void lines_of_a_name_that_had_every_boundary_in_it_are_still_accepted() throws IOException {
    Path former = kept.resolve("former.txt");
    Files.writeString(
        former,
        TwoFilesSubject.class.getName()
            + " | PROCESS_DEATH, every boundary, files = ANY | check LOST\n");
    KnownFailures known =
        new Baseline(former, /* learns= */ false)
            .of(TwoFilesSubject.class, "PROCESS_DEATH, files = ANY");
    assertEquals(List.of(Set.of("check LOST")), known.unseen());
  }

  @BeforeEach
  void noBaseline() throws IOException {
    Files.deleteIfExists(file);
    System.setProperty(CrashTestSettings.DIR, kept.toString());
  }

  @AfterEach
  void forgetProperties() {
    List.of(
            CrashTestSettings.DIR,
            CrashTestSettings.WRITE_BASELINE,
            FLAW_OF_NAMES,
            FLAW_OF_VALUES,
            FLAW_OF_OPENING)
        .forEach(System::clearProperty);
  }

  /** A file for names and one for values, both forced unless a property takes the force away. */
  @CrashTest(states = 120, baseline = FILE)
  static class TwoFilesSubject implements CrashSubject<TwoFilesSubject.TwoFiles> {

    @Override
    public TwoFiles open(Path dir) {
      TwoFiles store = new TwoFiles(dir);
      if (Boolean.getBoolean(FLAW_OF_OPENING)
          && !Objects.equals(store.get("name"), store.get("value"))) {
        throw new IllegalStateException("a name without its value");
      }
      return store;
    }

    @Override
    public void work(TwoFiles store, Promises promises) throws IOException {
      for (int i = 0; i < 6; i++) {
        String text = "%d of life %020d".formatted(i, promises.seed());
        promises.attempt("name", text);
        promises.attempt("value", text);
        store.putName(text);
        store.putValue(text);
        promises.durable("name", text);
        promises.durable("value", text);
      }
    }

    @Override
    public void check(TwoFiles store, Recovered recovered) {
      recovered.verify(store::get);
    }

    record TwoFiles(Path dir) {

      @Nullable String get(String key) {
        try {
          Path found = dir.resolve(key);
          String text = Files.exists(found) ? Files.readString(found) : "";
          return text.isEmpty() ? null : text;
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }

      void putName(String text) throws IOException {
        try (FileChannel names = FileChannel.open(dir.resolve("name"), CREATE, WRITE)) {
          names.write(UTF_8.encode(text), 0);
          if (!Boolean.getBoolean(FLAW_OF_NAMES)) {
            names.force(true);
          }
        }
      }

      void putValue(String text) throws IOException {
        try (FileChannel values = FileChannel.open(dir.resolve("value"), CREATE, WRITE)) {
          values.write(UTF_8.encode(text), 0);
          if (!Boolean.getBoolean(FLAW_OF_VALUES)) {
            values.force(true);
          }
        }
      }
    }
  }

  @CrashTest(states = 120, isolated = true, baseline = FILE)
  static class InWorkers extends TwoFilesSubject {}

  /** The work of the framework's own broken stores. */
  abstract static class Broken implements CrashSubject<TinyStore> {

    private final CrashSubject<TinyStore> broken;

    Broken(CrashSubject<TinyStore> broken) {
      this.broken = broken;
    }

    @Override
    public TinyStore open(Path dir) throws Exception {
      return broken.open(dir);
    }

    @Override
    public void work(TinyStore store, Promises promises) throws Exception {
      broken.work(store, promises);
    }

    @Override
    public void check(TinyStore store, Recovered recovered) throws Exception {
      broken.check(store, recovered);
    }
  }

  @CrashTest(crash = Crash.PROCESS_DEATH, kills = 4, baseline = FILE)
  static class FromHeap extends Broken {
    FromHeap() {
      super(new BrokenSubjects.AcknowledgedFromHeap());
    }
  }

  @CrashTest(states = 60, faults = true, faultKinds = FaultKind.FORCE_FAILS_CLEAN, baseline = FILE)
  static class Swallowed extends Broken {
    Swallowed() {
      super(new BrokenSubjects.ForceErrorSwallowed());
    }
  }

  @CrashTest(states = 40, files = FileAccess.ANY, baseline = FILE)
  static class OnRealFiles extends Broken {
    OnRealFiles() {
      super(new BrokenSubjects.NoForce());
    }
  }

  /** Values in slots, one behind the other. The end is moved before the record is made. */
  static final class Slots implements AutoCloseable {

    private static final int SLOT = 64;

    private final FileChannel file;
    private final ByteBuffer buffer = ByteBuffer.allocate(SLOT);
    private @Nullable String last;
    private long end;

    Slots(Path file) throws IOException {
      this.file = FileChannel.open(file, CREATE, READ, WRITE);
      while (this.file.read(buffer.clear(), end) == SLOT && buffer.get(0) != 0) {
        last = new String(buffer.array(), UTF_8).strip();
        end += SLOT;
      }
    }

    void put(byte[] value) throws IOException {
      long at = end;
      end += SLOT;
      byte[] record = new byte[SLOT];
      Arrays.fill(record, (byte) ' ');
      System.arraycopy(value, 0, record, 0, value.length);
      buffer.clear().put(record).flip();
      file.write(buffer, at);
      file.force(true);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  @CrashTest(
      states = 20,
      faults = true,
      faultKinds = FaultKind.ALLOCATION_FAILS,
      faultLives = 12,
      errorsIn = "org.revenantdb.chaos.junit.BaselineTest$Slots",
      baseline = FILE,
      seed = 5)
  static class InCode implements CrashSubject<Slots> {

    @Override
    public Slots open(Path dir) throws IOException {
      return new Slots(dir.resolve("slots"));
    }

    @Override
    public void work(Slots store, Promises promises) throws IOException {
      for (int i = 0; i < 6; i++) {
        String value = promises.seed() + "." + i;
        promises.attempt("a", value);
        store.put(value.getBytes(UTF_8));
        promises.durable("a", value);
      }
    }

    @Override
    public void check(Slots store, Recovered recovered) {
      recovered.verify(key -> store.last);
    }
  }

  @Test
  void a_failure_after_an_error_in_code_is_known_by_the_place_of_the_error() throws IOException {
    String why = fails(InCode.class);
    assertTrue(why.contains("BaselineTest$Slots.put:"), why);
    write(InCode.class);
    List<String> known = lines();
    assertFalse(known.isEmpty());
    for (String line : known) {
      assertTrue(line.contains(" | FAULT, ALLOCATION_FAILS | "), line);
      assertTrue(line.contains("in=org.revenantdb.chaos.junit.BaselineTest$Slots.put:#of="), line);
    }
    assertTrue(passes(InCode.class).contains(", accepted by " + FILE + ": "));
    assertEquals(known, lines());
  }

  @Test
  @Drawn(oneIn = 6)
  void a_failure_in_a_worker_JVM_is_known_and_a_new_one_fails() throws IOException {
    System.setProperty(FLAW_OF_NAMES, "true");
    write(InWorkers.class);
    assertTrue(passes(InWorkers.class).contains("POWER_CUT, EXT4_ORDERED: LOST, accepted by "));
    System.setProperty(FLAW_OF_VALUES, "true");
    String why = fails(InWorkers.class);
    assertTrue(why.contains("$TwoFiles.putValue("), why);
  }

  @Test
  @Drawn(oneIn = 6)
  void a_failure_of_a_store_on_real_files_is_known_by_the_methods_that_wrote() throws IOException {
    assumeTrue(AnyRecorder.missingHooks().isEmpty(), AnyRecorder.missingHooks());
    write(OnRealFiles.class);
    List<String> known = lines();
    assertFalse(known.isEmpty());
    for (String line : known) {
      assertTrue(line.contains(" | POWER_CUT, EXT4_ORDERED, files = ANY | "), line);
      assertTrue(line.contains(" at org.revenantdb.chaos.teeth.TinyStore."), line);
    }
    passes(OnRealFiles.class);
  }

  @Test
  @Drawn(oneIn = 2)
  void a_known_failure_is_accepted_with_another_seed_and_is_told() throws IOException {
    System.setProperty(FLAW_OF_NAMES, "true");
    fails(TwoFilesSubject.class);
    assertFalse(Files.exists(file), "only the property writes a baseline");
    write(TwoFilesSubject.class);
    List<String> known = lines();
    assertFalse(known.isEmpty());
    assertTrue(
        known.stream()
            .allMatch(line ->
                line.startsWith(TwoFilesSubject.class.getName() + " | POWER_CUT, EXT4_ORDERED | ")
                    && line.contains("$TwoFiles.putName < at ")),
        known::toString);
    String said = passes(TwoFilesSubject.class);
    assertTrue(said.contains(", accepted by " + FILE + ": "), said);
    assertTrue(said.contains("$TwoFiles.putName < at "), said);
    assertEquals(known, lines());
  }

  @Test
  @Drawn(oneIn = 2)
  void a_new_failure_that_looks_like_a_known_one_fails_the_test() throws IOException {
    System.setProperty(FLAW_OF_NAMES, "true");
    write(TwoFilesSubject.class);
    List<String> known = lines();
    System.setProperty(FLAW_OF_VALUES, "true");
    String why = fails(TwoFilesSubject.class);
    assertTrue(why.contains("$TwoFiles.putValue("), why);
    assertEquals(known, lines());
  }

  @Test
  @Drawn(oneIn = 6)
  void a_failure_that_needs_no_loss_explains_only_states_that_fail_without_one()
      throws IOException {
    System.setProperty(FLAW_OF_OPENING, "true");
    write(TwoFilesSubject.class);
    String known = Files.readString(file);
    String end = "\n"; // nothing has to be lost beside it
    assertTrue(known.contains("IllegalStateException at " + OPEN + end), known);
    assertFalse(known.contains("$TwoFiles.putName"), known);
    passes(TwoFilesSubject.class);
    // The same exception, and now of crash points at which the whole state survives.
    System.setProperty(FLAW_OF_NAMES, "true");
    String why = fails(TwoFilesSubject.class);
    assertTrue(why.contains("$TwoFiles.putName("), why);
  }

  @Test
  @Drawn(oneIn = 6)
  void writing_finds_both_of_two_failures_that_look_alike() throws IOException {
    System.setProperty(FLAW_OF_NAMES, "true");
    System.setProperty(FLAW_OF_VALUES, "true");
    write(TwoFilesSubject.class);
    String text = Files.readString(file);
    assertTrue(text.contains("$TwoFiles.putName <") && text.contains("$TwoFiles.putValue <"), text);
    passes(TwoFilesSubject.class);
  }

  @Test
  @Drawn(oneIn = 2)
  void a_known_failure_that_is_not_seen_is_told_and_fails_nothing() throws IOException {
    System.setProperty(FLAW_OF_NAMES, "true");
    write(TwoFilesSubject.class);
    System.clearProperty(FLAW_OF_NAMES);
    String said = passes(TwoFilesSubject.class);
    assertTrue(said.contains("POWER_CUT, EXT4_ORDERED: not seen, though it is in " + FILE), said);
    List<String> before = lines();
    write(TwoFilesSubject.class);
    assertEquals(before, lines(), "writing deletes nothing");
  }

  @Test
  @Drawn(oneIn = 6)
  void failures_of_another_test_are_not_accepted() throws IOException {
    System.setProperty(FLAW_OF_NAMES, "true");
    write(TwoFilesSubject.class);
    Files.writeString(file, Files.readString(file).replace("EXT4_ORDERED", "STRICT_POSIX"));
    fails(TwoFilesSubject.class);
  }

  @Test
  @Drawn(oneIn = 6)
  void a_failure_after_a_kill_is_known_by_what_was_found() throws IOException {
    write(FromHeap.class);
    assertEquals(List.of(FromHeap.class.getName() + " | PROCESS_DEATH | check LOST"), lines());
    String said = passes(FromHeap.class);
    assertTrue(said.contains("PROCESS_DEATH: LOST, accepted by " + FILE), said);
  }

  @Test
  void a_failure_after_a_fault_is_known_by_the_place_of_the_fault() throws IOException {
    write(Swallowed.class);
    List<String> known = lines();
    assertFalse(known.isEmpty());
    for (String line : known) {
      assertTrue(line.contains(" | FAULT, FORCE_FAILS_CLEAN | "), line);
      assertTrue(line.contains(" in org.revenantdb.chaos.teeth.TinyStore."), line);
    }
  }

  @Test
  void a_line_of_another_form_is_refused_with_its_number() throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, "# comment\n\norg.example.Test | POWER_CUT\n");
    String why = fails(TwoFilesSubject.class);
    assertTrue(why.contains(FILE + ":3: a line is \"class | test | place & place\""), why);
  }

  @Test
  void lines_written_by_hand_and_without_an_end_stay() throws IOException {
    Files.createDirectories(file.toAbsolutePath().getParent());
    Files.writeString(file, "# mine\norg.example.Test | POWER_CUT | a & b & a");
    System.setProperty(FLAW_OF_NAMES, "true");
    write(TwoFilesSubject.class);
    String text = Files.readString(file);
    assertTrue(text.startsWith("# mine\norg.example.Test | POWER_CUT | a & b & a\norg."), text);
  }

  private Events run(Class<?> type) {
    PrintStream console = System.out;
    System.setOut(new PrintStream(out, true, UTF_8));
    try {
      return EngineTestKit.engine("junit-jupiter")
          .selectors(selectClass(type))
          .execute()
          .allEvents();
    } finally {
      System.setOut(console);
    }
  }

  private static String thrown(Events events) {
    return events.failed().stream()
        .flatMap(event -> event.getPayload(TestExecutionResult.class).stream())
        .flatMap(result -> result.getThrowable().stream())
        .map(throwable -> String.valueOf(throwable.getMessage()))
        .collect(Collectors.joining("\n"));
  }

  private String passes(Class<?> type) {
    out.reset();
    Events events = run(type);
    assertEquals(0, events.failed().count(), () -> thrown(events));
    return out.toString(UTF_8);
  }

  private String fails(Class<?> type) {
    out.reset();
    Events events = run(type);
    assertTrue(events.failed().count() > 0, () -> out.toString(UTF_8));
    return thrown(events);
  }

  private List<String> lines() throws IOException {
    return Files.readAllLines(file).stream().filter(line -> !line.startsWith("#")).toList();
  }

  private void write(Class<?> type) {
    System.setProperty(CrashTestSettings.WRITE_BASELINE, "true");
    passes(type);
    System.clearProperty(CrashTestSettings.WRITE_BASELINE);
  }
}
