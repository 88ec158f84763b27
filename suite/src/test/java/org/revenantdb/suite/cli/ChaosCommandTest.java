package org.revenantdb.suite.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.PowerCutOptions;
import org.revenantdb.chaos.run.PowerCutRun;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.SeenImages;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import picocli.CommandLine;

class ChaosCommandTest {

  @TempDir Path dir;

  /** The failure of a store that is broken on purpose. */
  private Path failure() throws IOException {
    BrokenSubjects.Broken broken = BrokenSubjects.all().getFirst();
    Recording recording =
        new LifeRecorder<>(broken.maker(), broken.seed(), 1, Duration.ofSeconds(30)).record();
    PowerCutOptions options =
        PowerCutOptions.of(broken.profile(), broken.seed()).withStates(200).withKeep(dir);
    List<Failure> failures =
        new PowerCutRun<>(broken.maker(), recording, options, new SeenImages()).run().failures();
    assertFalse(failures.isEmpty(), "the broken store was not found out");
    Path file = failures.getFirst().file();
    assertNotNull(file);
    return file;
  }

  private static int replay(Path file) {
    return new CommandLine(new ChaosCommand())
        .setParameterExceptionHandler((wrong, arguments) -> {
          assertInstanceOf(UnusablePathException.class, wrong, "to be explained in a sentence");
          return 2;
        })
        .execute("--replay", file.toString());
  }

  @Test
  void replay_ofAFailure_exits1() throws IOException {
    assertEquals(1, replay(failure()));
  }

  @Test
  void replay_ofAnotherFile_fails() throws IOException {
    Path file = Files.writeString(dir.resolve("other.zip"), "this is no zip");
    assertEquals(2, replay(file));
  }
}
