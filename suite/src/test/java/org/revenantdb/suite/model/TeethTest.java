package org.revenantdb.suite.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.suite.model.ModelOptions.Kind;

/**
 * Self-test of the model: a correct store passes, and each store that is broken in one way is
 * found, by the same children and the same kills as for a real store.
 *
 * <p>The kind of finding depends on what sees the error first: the check of the parent, or a
 * session of the next life. A lost deletion is reported as {@code RESURRECTED}. {@code
 * CrashOracleTest} plants each error alone and expects exactly one kind.
 */
@Tag("slow")
class TeethTest {

  private static final int HONEST_ROUNDS = Boolean.getBoolean("revenant.long") ? 12 : 4;

  @TempDir private Path dir;

  private ModelRun run(Class<?> opener, Kind kind, int episodes) {
    return run(opener, kind, 1, episodes);
  }

  private ModelRun run(Class<?> opener, Kind kind, long seed, int episodes) {
    return new ModelRun(options(opener, kind, seed, episodes));
  }

  private ModelOptions options(Class<?> opener, Kind kind, long seed, int episodes) {
    return new ModelOptions(seed, Duration.ZERO, 0, episodes, kind, dir, 1 << 20, opener.getName());
  }

  @Test
  void honest_store_passes_kills() {
    ModelRun run = new ModelRun(options(ToyStore.Honest.class, Kind.KILLS, 1, 1), HONEST_ROUNDS);
    run.run(_ -> {});
    assertTrue(run.kills() > 0, () -> run.table().toString());
  }

  @Test
  void honest_store_passes_steps() {
    run(ToyStore.Honest.class, Kind.STEPS, 1).run(_ -> {});
  }

  /** Steps cannot find these. */
  @ParameterizedTest
  @CsvSource({
    "LateLog, LOST|RESURRECTED|_READ",
    "RowByRow, TORN|LOST|RESURRECTED|_READ",
    "Interruptible, ClosedByInterruptException|ClosedChannelException"
  })
  void broken_store_is_found_by_kills_alone(String lie, String finding) throws Exception {
    assertFoundByKills(lie, finding);
  }

  /** A usual build finds one of these by kills, whichever the time gives, and all by steps. */
  @ParameterizedTest
  @MethodSource
  void broken_store_is_found_by_kills(String lie, String finding) throws Exception {
    assertFoundByKills(lie, finding);
  }

  static Stream<Arguments> broken_store_is_found_by_kills() {
    List<Arguments> all =
        List.of(
            Arguments.of("DeletionsUnlogged", "RESURRECTED|LOST_UPDATE|_READ"),
            Arguments.of("RollbackLogged", "UNCOMMITTED|LOST_UPDATE|RESURRECTED|_READ"),
            Arguments.of("MixedBytes", "differs from it at byte"),
            Arguments.of("NoConflicts", "LOST_UPDATE|_READ"),
            Arguments.of("NoSnapshot", "_READ|upwards there are|returned false"));
    return Boolean.getBoolean("revenant.long")
        ? all.stream()
        : Stream.of(all.get(Math.floorMod(Seeds.fresh(), all.size())));
  }

  private void assertFoundByKills(String lie, String finding) throws Exception {
    ModelFailure failure = failsByKills(lie);
    String message = failure.getMessage();
    assertNotNull(message);
    assertTrue(Stream.of(finding.split("\\|")).anyMatch(message::contains), message);
    assertTrue(message.contains("repeat: ./revenant model --seed "), message);
    try (var kept = Files.list(dir)) {
      Path episode = kept.findAny().orElseThrow();
      assertTrue(message.contains(episode.toString()), message);
      assertTrue(Files.readString(episode.resolve("failure.txt")).contains(message));
      // A failure in the first life has no earlier life.
      assertTrue(
          message.contains("life 1:")
              || Files.exists(episode.resolve("before-open").resolve("toy.log")));
      assertTrue(Files.size(episode.resolve("said.txt")) > 0);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "DeletionsUnlogged, is expected",
    "RollbackLogged, is expected",
    "MixedBytes, is expected",
    "NoConflicts, met no conflict",
    "NoSnapshot, is expected"
  })
  void broken_store_is_found_by_steps(String lie, String finding) throws Exception {
    String message = fails(lie, Kind.STEPS, 1).getMessage();
    assertNotNull(message);
    assertTrue(Stream.of(finding.split("\\|")).anyMatch(message::contains), message);
    // The same seed fails at the same step.
    String again = fails(lie, Kind.STEPS, 1).getMessage();
    assertEquals(message, again);
  }

  private static Class<?> opener(String lie) throws ClassNotFoundException {
    return Class.forName(ToyStore.class.getName() + "$" + lie);
  }

  private ModelFailure fails(String lie, Kind kind, int episodes) throws Exception {
    Class<?> opener = opener(lie);
    return assertThrows(ModelFailure.class, () -> run(opener, kind, episodes).run(_ -> {}));
  }

  /** What a life does before it is killed depends on the machine, so until one shows the lie. */
  private ModelFailure failsByKills(String lie) throws Exception {
    for (long seed = 1; ; seed++) {
      try {
        run(opener(lie), Kind.KILLS, seed, 1).run(_ -> {});
      } catch (ModelFailure found) {
        return found;
      }
    }
  }
}
