package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.jmh.backup.CopiesFork;
import org.revenantdb.jmh.fork.ShortForks;

/** Each copy of {@code bench backup} has the rows: the fork reads some. Speed is not checked. */
class BackupCopiesTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final double LEAST = 3_000 * 200 / 1e6;

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true") // peers and baselines
  void a_copy_of_each_store_has_its_rows(BackupCopies one) throws IOException {
    Fork fork = new Fork(CopiesFork.class, ShortForks.with(RestartEngines.FLAGS), LIMIT);
    Fork.Said said = fork.run(folder.toString(), one.className(), "3000", "2");
    assertEquals("", said.failure());
    assertTrue(said.values().getOrDefault("copy_seconds", 0.0) > 0, said::toString);
    if (one != BackupCopies.ROCKSDB_CHECKPOINT) { // which copies nothing
      assertTrue(said.values().getOrDefault("copy_mb_per_second", 0.0) > 0, said::toString);
      assertTrue(said.values().getOrDefault("copy_mb", 0.0) > LEAST, said::toString);
    }
    if (one == BackupCopies.RESTORE) {
      assertTrue(said.values().getOrDefault("restore_call_seconds", 0.0) > 0, said::toString);
      assertTrue(said.values().containsKey("redone_after_first_row_seconds"), said::toString);
    }
  }

  @Test
  void each_copy_has_a_figure_that_can_be_chosen() {
    BackupBench bench = new BackupBench();
    assertTrue(bench.measuresSome());
    assertTrue(bench.promises().containsAll(BackupCopies.figures()), bench.promises()::toString);
    assertEquals(BackupCopies.values().length, BackupCopies.figures().stream().distinct().count());
  }
}
