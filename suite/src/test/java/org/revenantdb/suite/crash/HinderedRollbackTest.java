package org.revenantdb.suite.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rollbacks on disks that are full or cannot be read. Another seed: {@code
 * -Drevenant.chaos.seed=N}.
 */
@Tag("slow")
class HinderedRollbackTest {

  private static final long SEED = Long.getLong("revenant.chaos.seed", 20_261_123);

  @ParameterizedTest
  @EnumSource(HinderedRollback.Kind.class)
  void R25_a_hindered_rollback_succeeds_or_can_be_repeated(HinderedRollback.Kind kind)
      throws IOException {
    System.out.println("HinderedRollbackTest of " + kind + " -Drevenant.chaos.seed=" + SEED);
    assertEquals("", new HinderedRollback(kind, SEED).live());
  }
}
