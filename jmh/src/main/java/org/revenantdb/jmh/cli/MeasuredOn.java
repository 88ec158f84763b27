package org.revenantdb.jmh.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a figure was measured.
 *
 * @param machine processor, how many, memory, system
 * @param jdk its name and version
 * @param commit of the source, or unknown
 */
record MeasuredOn(Map<String, String> machine, String jdk, String commit) {

  static MeasuredOn here() {
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("processor", find("/proc/cpuinfo", "model name\\s*:\\s*(.*)"));
    machine.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
    machine.put("memory", find("/proc/meminfo", "MemTotal:\\s*(.*)"));
    machine.put(
        "system",
        String.join(
            " ",
            System.getProperty("os.name"),
            System.getProperty("os.version"),
            System.getProperty("os.arch")));
    String jdk = System.getProperty("java.vendor.version", "") + " " + Runtime.version();
    return new MeasuredOn(machine, jdk.strip(), commitHere());
  }

  private static String find(String file, String pattern) {
    try {
      Matcher matcher = Pattern.compile(pattern).matcher(Files.readString(Path.of(file)));
      return matcher.find() ? matcher.group(1) : "unknown";
    } catch (IOException _) {
      return "unknown"; // not Linux
    }
  }

  private static String commitHere() {
    String home = System.getenv().getOrDefault("REVENANT_HOME", ".");
    try {
      Process git =
          new ProcessBuilder("git", "-C", home, "describe", "--always", "--abbrev=40", "--dirty")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String commit = new String(git.getInputStream().readAllBytes(), UTF_8).strip();
      return git.waitFor() == 0 ? commit : "unknown";
    } catch (IOException _) {
      return "unknown"; // no git
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }
}
