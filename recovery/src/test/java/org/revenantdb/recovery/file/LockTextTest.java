package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The text of the lock file. */
class LockTextTest {
  @Test
  void a_time_is_written_as_an_instant_writes_it() {
    long seed = System.nanoTime();
    System.out.println("times of the lock file: seed " + seed);
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      long second = random.nextLong(253_402_300_800L); // up to the year 9999
      long cut = second - second % (i % 3 == 0 ? 60 : 1);
      int nano = i % 2 == 0 ? 0 : random.nextInt(1_000) * (i % 5 == 0 ? 1 : 1_000_000);
      Instant time = Instant.ofEpochSecond(cut, nano);
      assertEquals(time.toString(), LockText.text(time));
    }
  }
}
