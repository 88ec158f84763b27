package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The damage that is known of some stores is found. */
class KnownDamageTest extends ExampleTests {
  @Test
  void known_damage_is_found_unaided() throws IOException {
    Figures figures = run(LONG ? Example.usual() : List.of(Example.MAPDB));
    assertEquals(figures.known(), figures.found(), figures::text);
    assertTrue(!figures.known().isEmpty(), figures::text);
    assertTrue(figures.isGood(/* isComplete= */ true), figures::text);
  }
}
