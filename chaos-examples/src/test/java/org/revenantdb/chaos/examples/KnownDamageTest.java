package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.hooks.AnyReplay;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.testing.Drawn;

/** The damage that is known of some stores is found. */
class KnownDamageTest extends ExampleTests {
  @Test
  @Drawn(oneIn = 2)
  void known_damage_is_found_unaided() throws IOException {
    Figures figures =
        LONG
            ? run(Example.usual())
            : run(List.of(Example.MAPDB), List.of(Part.DEATH, Part.ORDERED));
    assertEquals(figures.known(), figures.found(), figures::text);
    assertTrue(!figures.known().isEmpty(), figures::text);
    assertTrue(figures.isGood(/* isComplete= */ true), figures::text);
    Path file =
        figures.rows().stream().flatMap(row -> row.files().stream()).findFirst().orElseThrow();
    assertFailsAgain(file);
  }

  /** In a JVM that has opened nothing else. */
  private static void assertFailsAgain(Path file) throws IOException {
    FailureFile failure = FailureFile.read(file);
    StateResult again = AnyReplay.replay(failure, Example.FLAGS, Duration.ofMinutes(10));
    assertEquals(failure.verdict(), again.verdict(), failure::title);
  }
}
