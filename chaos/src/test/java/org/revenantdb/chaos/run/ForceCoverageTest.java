package org.revenantdb.chaos.run;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;

/** Every missing force of a correct store is detected; places that were not tried are reported. */
class ForceCoverageTest {

  private static final long SEED = 5;

  private static Recording recording(Supplier<CrashSubject<TinyStore>> subjects)
      throws IOException {
    return new LifeRecorder<>(subjects, SEED, /* lives= */ 2, Duration.ofMinutes(1)).record();
  }

  private static ForceCoverage<TinyStore> coverage(
      Supplier<CrashSubject<TinyStore>> subjects, List<Recording> recordings, Duration budget) {
    return new ForceCoverage<>(subjects, recordings, SEED, /* workers= */ 2, budget);
  }

  private static List<String> missed(List<CoverageRow> rows) {
    return rows.stream().filter(row -> !row.detected()).map(row -> row.site().toString()).toList();
  }

  @Test
  void honestStore_needsEveryForce_andRowsCountThem() throws IOException {
    Supplier<CrashSubject<TinyStore>> subjects = BrokenSubjects.Honest::new;
    // The folder of the store also contains the framework, so some places are never reached.
    List<CoverageRow> rows =
        coverage(subjects, List.of(recording(subjects)), Duration.ofSeconds(20)).run().stream()
            .filter(row -> row.forces() > 0)
            .toList();
    assertFalse(rows.isEmpty());
    assertEquals(List.of(), missed(rows));
    for (CoverageRow row : rows) {
      assertTrue(row.states() > 0, row::toString);
    }
  }

  /** The forces of a directory never happened, so none of them can be removed. */
  @Test
  void place_thatNoRecordingReaches_isReportedAsUndetected() throws IOException {
    Supplier<CrashSubject<TinyStore>> subjects = BrokenSubjects.NoDirectoryForce::new;
    List<CoverageRow> rows = coverage(subjects, List.of(), Duration.ofSeconds(1)).run();
    assertFalse(rows.isEmpty());
    for (CoverageRow row : rows) {
      assertEquals("never reached", row.site().fileKind());
      assertEquals(0, row.forces());
      assertEquals(CoverageRow.Loss.NOT_REACHED, row.loss());
      assertFalse(row.detected(), row::toString);
    }
  }

  @Test
  void budget_thatIsUsedUp_leavesPlacesUndetected() throws IOException {
    Supplier<CrashSubject<TinyStore>> subjects = BrokenSubjects.Honest::new;
    List<CoverageRow> rows = coverage(subjects, List.of(recording(subjects)), Duration.ZERO).run();
    assertEquals(rows.size(), missed(rows).size());
    for (CoverageRow row : rows) {
      if (row.forces() > 0) {
        assertEquals(CoverageRow.Loss.UNDECIDED, row.loss(), row::toString);
      }
    }
  }

  /**
   * Of two forces in a row the second is superfluous; that may be reported only after a thorough
   * search.
   */
  @Test
  void superfluousForce_isReportedAsUndetected_afterAThoroughSearch() throws IOException {
    Recording recording =
        new LifeRecorder<>(ForcesTwice::new, SEED, /* lives= */ 1, Duration.ofMinutes(1)).record();
    List<CoverageRow> rows =
        new ForceCoverage<>(
                ForcesTwice::new,
                List.of(recording),
                SEED,
                /* workers= */ 2,
                Duration.ofSeconds(20))
            .run().stream().filter(row -> row.site().fileKind().equals("value")).toList();
    assertEquals(2, rows.size(), rows::toString);
    CoverageRow second = rows.getLast();
    assertEquals(CoverageRow.Loss.UNNOTICED, second.loss(), second::toString);
  }

  /** One value in one file, forced twice. */
  private static final class ForcesTwice implements CrashSubject<Path> {

    @Override
    public Path open(Path dir) {
      return dir.resolve("value");
    }

    @Override
    public void work(Path file, Promises promises) throws IOException {
      for (int i = 0; i < 3; i++) {
        String value = "value " + i;
        promises.attempt("key", value);
        try (FileChannel channel = FileChannel.open(file, CREATE, WRITE)) {
          channel.write(StandardCharsets.UTF_8.encode(value));
          channel.force(true);
          channel.force(true);
        }
        try (FileChannel names = FileChannel.open(file.resolveSibling("."), READ)) {
          names.force(true);
        }
        promises.durable("key", value);
      }
    }

    @Override
    public void check(Path file, Recovered recovered) {
      recovered.verify(key -> {
        try {
          return Files.exists(file) ? Files.readString(file) : null;
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      });
    }

    @Override
    public String kindOf(String path) {
      return path.equals("value") ? "value" : "directory";
    }
  }

  /** A worker that died would leave rows out, and the rest would look complete. */
  @Test
  void worker_thatDies_breaksTheRun() throws IOException {
    AtomicInteger made = new AtomicInteger();
    Supplier<CrashSubject<TinyStore>> subjects =
        () -> {
          if (made.getAndIncrement() == 1) {
            throw new IllegalStateException("planted");
          }
          return new BrokenSubjects.Honest();
        };
    List<Recording> recordings = List.of(recording(BrokenSubjects.Honest::new));
    ForceCoverage<TinyStore> coverage = coverage(subjects, recordings, Duration.ofSeconds(1));
    IllegalStateException e = assertThrows(IllegalStateException.class, coverage::run);
    assertTrue(String.valueOf(e.getMessage()).contains("a worker died"), e::toString);
  }
}
