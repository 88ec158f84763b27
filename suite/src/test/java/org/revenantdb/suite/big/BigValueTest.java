package org.revenantdb.suite.big;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.suite.model.RevenantStore;
import org.revenantdb.testing.Drawn;

/**
 * A value of 128 MiB, twice as large as the heap; under {@code -Plong} of 1 GiB. {@code
 * -Drevenant.big-value.mib} sets another length.
 */
@Tag("slow")
class BigValueTest {

  private static final int POOL = 16 << 20;

  @TempDir private Path dir;

  @Test
  @Drawn(oneIn = 2)
  void value_larger_than_the_heap_is_killed_put_again_and_read_back() {
    int mebibytes = Boolean.getBoolean("revenant.long") ? 1_024 : 128;
    long length = Long.getLong("revenant.big-value.mib", mebibytes) << 20;
    long seed = Long.getLong("revenant.big-value.seed", Seeds.fresh());
    System.out.printf("big value: seed %d, %,d bytes%n", seed, length);
    System.out.println(
        new BigValue(dir.resolve("db"), seed, length, POOL, RevenantStore.Opener.class.getName())
            .run());
  }
}
