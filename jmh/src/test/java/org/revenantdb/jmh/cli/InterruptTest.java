package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import org.revenantdb.testing.Drawn;

/**
 * Ctrl-C of {@code bench}: while one of its JVMs has a directory below {@code jmh/target}, and
 * while one of JMH's has a directory for temporary files.
 */
@Tag("slow")
class InterruptTest {
  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"commit --quick", "gc --quick --only begin_commit_ns"})
  @Drawn(oneIn = 2)
  void bench_that_is_interrupted_leaves_no_folder_and_no_process(String words) throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    Path home = folder.resolve("home");
    Path target = Files.createDirectories(home.resolve("jmh/target"));
    Path printed = folder.resolve("printed");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Djava.io.tmpdir=" + temporary,
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "bench"));
    command.addAll(List.of(words.split(" ")));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(printed.toFile());
    builder.environment().put("REVENANT_HOME", home.toString());
    Process process = builder.start();
    try {
      boolean jmh = words.startsWith("gc");
      while (process.isAlive()
          && (process.descendants().findAny().isEmpty()
              || (jmh ? databases(temporary) : databases(target)) == 0)) {
        LockSupport.parkNanos(1_000_000);
      }
      assertTrue(process.isAlive(), Files.readString(printed));
      List<ProcessHandle> children = process.descendants().toList();
      String signal = ignoresInterrupts(process.pid()) ? "-TERM" : "-INT";
      new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
      int code = process.waitFor();
      children.forEach(child -> child.onExit().join());
      String text = Files.readString(printed);
      assertEquals(List.of(), folders(target), text);
      assertEquals(List.of(), folders(temporary), text);
      assertTrue(text.contains("its temporary files are deleted"), text);
      assertTrue(code == 130 || code == 143, "exit code " + code + "\n" + text);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
  }

  /** Databases below a folder, which may change meanwhile. */
  private static long databases(Path parent) {
    try (Stream<Path> files = Files.walk(parent, 4)) {
      return files.filter(file -> file.endsWith("revenant.data")).count();
    } catch (IOException | UncheckedIOException changing) {
      return 0;
    }
  }

  /** The JVM's own counters and profiles are files, or have names of their own. */
  private static List<Path> folders(Path parent) throws IOException {
    try (Stream<Path> files = Files.list(parent)) {
      return files
          .filter(Files::isDirectory)
          .filter(file -> !file.getFileName().toString().startsWith("hsperfdata"))
          .toList();
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
