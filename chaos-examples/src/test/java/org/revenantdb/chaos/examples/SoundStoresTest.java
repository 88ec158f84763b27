package org.revenantdb.chaos.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.testing.Drawn;

/** Stores that keep their promises are not accused. */
class SoundStoresTest extends ExampleTests {
  /** RocksDB leaves native threads behind, for which a JVM that ends would wait. */
  @Test
  @Drawn(oneIn = 2)
  void sound_stores_cause_no_false_alarm() throws IOException {
    List<Example> sound =
        LONG
            ? List.of(Example.REVENANT, Example.SQLITE, Example.ROCKSDB, Example.LUCENE)
            : List.of(Example.ROCKSDB);
    Figures figures = run(sound);
    assertEquals(List.of(), figures.falseAlarms());
    assertEquals(0, figures.unmeasured(), figures::text);
    assertTrue(figures.controlsEqual() > 0, figures::text);
  }
}
