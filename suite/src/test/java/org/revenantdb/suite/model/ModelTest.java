package org.revenantdb.suite.model;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.Seeds;

/**
 * RevenantDB against a plain model: random work in several sessions, random reopenings, random
 * kills.
 *
 * <p>It runs an episode of steps and at least 6 kills; under {@code -Plong} ten minutes with 200.
 * {@code -Drevenant.model.seconds}, {@code .kills} and {@code .seed} set other values. A failing
 * run keeps its directory.
 */
@Tag("slow")
class ModelTest {

  private static final int POOL = 3 << 20;
  private static final boolean LONG = Boolean.getBoolean("revenant.long");

  @Test
  void acknowledged_work_survives_and_nothing_else_does() throws Exception {
    // Divisible by four: the first episode has the steps, so the kills end the run, not its luck.
    long seed = Long.getLong("revenant.model.seed", Seeds.fresh() & ~3L);
    Path dir = Files.createDirectories(Path.of("target", "model", Long.toString(seed)));
    System.out.printf("model: seed %d, databases in %s%n", seed, dir.toAbsolutePath());
    ModelRun run =
        new ModelRun(
            new ModelOptions(
                seed,
                Duration.ofSeconds(Integer.getInteger("revenant.model.seconds", LONG ? 600 : 0)),
                Integer.getInteger("revenant.model.kills", LONG ? 200 : 6),
                0,
                ModelOptions.Kind.BOTH,
                dir,
                POOL,
                RevenantStore.Opener.class.getName()));
    run.run(_ -> {});
    System.out.println(run.table());
    run.demandThatAllHappened();
    FileTrees.delete(dir);
  }
}
