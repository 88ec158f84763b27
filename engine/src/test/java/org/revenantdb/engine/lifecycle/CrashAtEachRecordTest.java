package org.revenantdb.engine.lifecycle;

import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.catalog.SlogStepsTest;
import org.revenantdb.engine.testing.ProtocolScript;
import org.revenantdb.engine.testing.RecordCuts;

/**
 * Each protocol of transactions and of the cleaner, cut off behind each of its log records
 * (docs/protocols.md §37); tables in transactions are {@link SlogStepsTest}'s.
 *
 * <p>{@code -Drevenant.seed=n} repeats a run.
 */
@Tag("slow")
class CrashAtEachRecordTest {
  @TempDir Path directory;

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));

  @ParameterizedTest
  @EnumSource(ProtocolScript.class)
  void wherever_the_log_ends_what_was_committed_is_there_and_nothing_else(ProtocolScript script) {
    new RecordCuts(directory, seed).cut(script);
  }
}
