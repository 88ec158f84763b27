package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.testing.Drawn;

/** The stack that {@link StackReserve} finds is there, however its code is run. */
class StackReserveTest {
  /** What protocols.md promises; less by the frames in which the probe asks. */
  private static final int RESERVE = 64 << 10;

  private static final int FOR_TWO = 15 << 10;

  private static final int OF_THE_PROBE = 1 << 10;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-Xint",
        "-Xbatch -XX:TieredStopAtLevel=1",
        "-Xbatch -XX:TieredStopAtLevel=3",
        "-Xbatch -XX:-TieredCompilation",
        "-Xbatch",
      })
  @Drawn(oneIn = 2)
  void whereEnsureReturns_thereAre64KiB(String flags) throws Exception {
    long left = left(flags);
    assertTrue(left >= RESERVE - OF_THE_PROBE, flags + ": " + left + " bytes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "-Xint",
        "-Xbatch -XX:TieredStopAtLevel=1",
        "-Xbatch -XX:-TieredCompilation",
        "-Xbatch",
      })
  @Drawn(oneIn = 2)
  void whereEnsureForTwoReturns_thereAre80KiB(String flags) throws Exception {
    long left = left(flags, "forTwo");
    assertTrue(left >= RESERVE + FOR_TWO - OF_THE_PROBE, flags + ": " + left + " bytes");
  }

  private static long left(String flags, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(flags.split(" ")));
    command.add("-XX:CompileCommand=quiet");
    command.add("-XX:CompileCommand=exclude,*StackReserveProbe::down");
    command.add("-XX:CompileCommand=dontinline,*StackReserve::ensure*");
    command.add("-cp");
    command.add(
        location(StackReserve.class) + File.pathSeparator + location(StackReserveTest.class));
    command.add(StackReserveProbe.class.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    // The JVM announces these.
    builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    assertTrue(said.matches("left \\d+\\s*"), said);
    return Long.parseLong(said.substring("left ".length()).strip());
  }

  private static String location(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }
}
