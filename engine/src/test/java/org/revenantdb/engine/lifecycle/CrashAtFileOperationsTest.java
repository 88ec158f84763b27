package org.revenantdb.engine.lifecycle;

import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.testing.FileCuts;
import org.revenantdb.engine.testing.ProtocolScript;

/**
 * Each protocol of transactions and of the cleaner, cut off before operations on files by kills and
 * power cuts (docs/protocols.md §37).
 *
 * <p>{@code -Drevenant.seed=n} repeats a run as far as threads do; {@code -Drevenant.every=n
 * -Drevenant.rounds=n} cuts off at each operation.
 */
@Tag("slow")
class CrashAtFileOperationsTest {
  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  @ParameterizedTest
  @EnumSource(ProtocolScript.class)
  void whatever_a_kill_or_a_power_cut_leaves_is_what_was_promised(ProtocolScript script) {
    new FileCuts(seed).cut(script);
  }
}
