package org.revenantdb.suite.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.revenantdb.chaos.crash.ClassPath;
import org.revenantdb.testing.Drawn;

/** Ctrl-C. */
@Tag("slow")
class InterruptTest {
  @TempDir Path folder;

  private List<Path> left(Path temporary) throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      return files.filter(path -> path.getFileName().toString().startsWith("revenant-")).toList();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "demo",
        "model",
        "model big-value",
        "chaos --crash kill",
        "chaos --crash power",
        "fuzz"
      })
  @Drawn(oneIn = 2)
  void a_verb_that_is_interrupted_leaves_no_files_and_no_processes(String verb) throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    Path printed = folder.resolve("printed");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                ClassPath.ofThisJvm(),
                Main.class.getName()));
    command.addAll(List.of(verb.split(" ")));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile())
            .start();
    try {
      boolean forks = !verb.contains("power");
      while (process.isAlive()
          && (left(temporary).isEmpty() || (forks && process.descendants().findAny().isEmpty()))) {
        LockSupport.parkNanos(10_000_000);
      }
      assertTrue(process.isAlive(), Files.readString(printed));
      List<ProcessHandle> children = process.descendants().toList();
      String signal = ignoresInterrupts(process.pid()) ? "-TERM" : "-INT";
      new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
      int code = process.waitFor();
      String text = Files.readString(printed);
      assertEquals(List.of(), left(temporary), text);
      assertTrue(text.contains("its temporary files are deleted"), text);
      assertTrue(code == 130 || code == 143 || code == 70, "exit code " + code + "\n" + text);
      children.forEach(child -> child.onExit().join());
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
  }

  /**
   * A background build of a shell without job control passes the signal on to all its processes.
   */
  private static boolean ignoresInterrupts(long pid) throws IOException {
    Path status = Path.of("/proc", Long.toString(pid), "status");
    if (!Files.exists(status)) {
      return false;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
  }
}
