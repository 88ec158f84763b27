package org.revenantdb.jmh.insert;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DequeueForkTest {
  @TempDir Path directory;

  /** The measured loop itself demands each number in its turn. */
  @Test
  void a_queue_is_emptied_in_order_and_each_tenth_has_a_rate() throws Exception {
    double[] rates = DequeueFork.rates(directory.resolve("q"), 2_000, 16 << 20);
    assertEquals(10, rates.length);
    assertTrue(Arrays.stream(rates).allMatch(rate -> rate > 0), Arrays.toString(rates));
  }
}
