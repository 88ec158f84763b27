package org.revenantdb.chaos.ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.revenantdb.chaos.crash.Options;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.run.HonestTiny;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;

/** Without Chronicle Bytes a user learns what to add, and no run reports survival. */
class LedgerLibraryTest {

  @Test
  void coordinates_containTheVersionOnTheClassPath() {
    assertTrue(LedgerLibrary.isHere());
    String version = LedgerLibrary.coordinates().substring("net.openhft:chronicle-bytes:".length());
    assertTrue(
        System.getProperty("java.class.path").contains("chronicle-bytes-" + version + ".jar"),
        version);
  }

  /** A JVM that tests without the library. */
  public static final class Without {
    private Without() {}

    /** Prints the text of a run, and then that of a test. */
    public static void main(String[] arguments) {
      Outcome outcome =
          new ProcessDeathRun(HonestTiny.class, Options.of(Path.of(arguments[0]), 1, 1)).run();
      System.out.println(LedgerLibrary.isHere() + " " + outcome.verdict() + " " + outcome.reason());
      EngineTestKit.engine("junit-jupiter").selectors(selectClass(Deaths.class)).execute();
    }
  }

  @CrashTest(crash = Crash.PROCESS_DEATH, seed = 1)
  static class Deaths extends HonestTiny {}

  @Test
  @Tag("slow")
  void run_withoutTheLibrary_isNotMeasuredAndNamesIt(@TempDir Path scratch) throws IOException {
    String less =
        Arrays.stream(
                System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator)))
            .filter(entry -> !entry.contains("chronicle-bytes"))
            .collect(Collectors.joining(File.pathSeparator));
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                less,
                Without.class.getName(),
                scratch.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader output = child.inputReader()) {
      assertEquals("false NOT_MEASURED " + LedgerLibrary.missing(), output.readLine());
      assertEquals(
          "Deaths, PROCESS_DEATH: NOT_MEASURED, " + LedgerLibrary.missing() + "; seed 1",
          output.readLine());
    } finally {
      child.destroyForcibly();
    }
  }
}
