package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.tree.LimitedFork;
import org.revenantdb.jmh.tree.LoadFork;
import org.revenantdb.testing.Drawn;

/**
 * Each engine of {@code bench larger-than-memory} finds its rows again in another JVM. The forks
 * check every value that they read. No memory is limited here, and the numbers are not checked.
 */
class LimitedEnginesTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String ROWS = "3500";
  private static final String PAGES = Integer.toString(32 << 20);

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  @EnabledIfSystemProperty(named = "revenant.long", matches = "true") // peers
  void engine_findsItsRowsInAnotherJvm(LimitedEngines engine) throws Exception {
    findsItsRows(engine);
  }

  @Test
  @Tag("slow")
  @Drawn(oneIn = 2)
  void ours_findsItsRowsInAnotherJvm() throws Exception {
    findsItsRows(LimitedEngines.OURS);
  }

  private void findsItsRows(LimitedEngines engine) throws IOException, CannotMeasureException {
    String directory = Files.createDirectory(folder.resolve("files")).toString();
    List<String> flags = ShortForks.with(engine.engine().flags("256m"));
    Fork.Said loaded =
        new Fork(LoadFork.class, flags, LIMIT)
            .run(engine.engine().className(), directory, ROWS, PAGES, "load", "1");
    assertEquals("", loaded.failure());
    Fork.Said said =
        new Fork(LimitedFork.class, flags, LIMIT)
            .run(
                engine.className(),
                directory,
                ROWS,
                PAGES,
                "5",
                "20",
                "1",
                "reads,scans,updates,mix");
    assertEquals("", said.failure());
    assertTrue(
        said.values()
            .keySet()
            .containsAll(
                List.of(
                    "reads,threads=1",
                    "reads,threads=2",
                    "scans",
                    "updates",
                    "mix",
                    "p99,scans",
                    "processor,mix",
                    "fetched,updates")),
        said::toString);
    Fork.Said updated =
        new Fork(LoadFork.class, flags, LIMIT)
            .run(engine.engine().className(), directory, ROWS, PAGES, "update", "1");
    assertEquals(List.of("random_updates"), List.copyOf(updated.values().keySet()));
    assertTrue(LargerThanMemoryBench.diskBytes(Path.of(directory)) > 0);
  }

  @Test
  void wideVariants_leaveRoomForTheHeap() {
    LargerThanMemoryBench.Sizes sizes = LargerThanMemoryBench.Sizes.of(/* quick= */ false);
    assertEquals(800L << 20, LimitedEngines.TUPL_WIDE.pages(sizes));
    assertEquals(256L << 20, LimitedEngines.TUPL.pages(sizes));
  }
}
