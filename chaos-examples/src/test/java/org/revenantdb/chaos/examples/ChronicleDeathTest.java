package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The queue survives the death of its process. After a power cut an opening may wait until its
 * check is ended, so those are for the command.
 */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true")
class ChronicleDeathTest extends ExampleTests {
  @Test
  void a_queue_survives_the_death_of_its_process_at_every_boundary() throws IOException {
    Figures figures =
        run(
            List.of(Example.CHRONICLE_QUEUE),
            List.of(Part.DEATH),
            SEED,
            /* states= */ 2_000,
            /* faultLives= */ 0); // after a fault the power is cut
    assertEquals(0, figures.unmeasured(), () -> figures.rows().toString());
    assertEquals(
        List.of(), figures.rows().stream().filter(Row::isFinding).map(Row::first).toList());
  }
}
