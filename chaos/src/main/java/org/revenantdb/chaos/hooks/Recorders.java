package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.revenantdb.chaos.agent.FileAgent;

/** The two ways to record a forked JVM. */
enum Recorders {
  /** Functions of the C library are hooked: sees native libraries too. */
  HOOKS("native hooks"),

  /** Classes of the JDK are changed: sees Java code only. */
  AGENT("the agent, which sees no native libraries");

  private static final String PROPERTY = "revenant.chaos.recorder";

  private final String title;

  Recorders(String title) {
    this.title = title;
  }

  /** The recorder in words, for reports. */
  String title() {
    return title;
  }

  /**
   * The recorder of this run: hooks where they work, or what a system property says.
   *
   * @throws IllegalArgumentException if the property has another value
   */
  static Recorders chosen() {
    String wanted = System.getProperty(PROPERTY);
    if (wanted != null) {
      for (Recorders one : values()) {
        if (one.name().toLowerCase(Locale.ROOT).equals(wanted)) {
          return one;
        }
      }
      throw new IllegalArgumentException(
          "-D%s=%s: it must be hooks or agent".formatted(PROPERTY, wanted));
    }
    return missingHooks().isEmpty() ? HOOKS : AGENT;
  }

  /** Why this platform cannot hook native code; empty if it can. */
  static String missingHooks() {
    String os = System.getProperty("os.name");
    String arch = System.getProperty("os.arch");
    if (!os.equals("Linux") || !(arch.equals("amd64") || arch.equals("aarch64"))) {
      return "native hooks need Linux on x86-64 or aarch64, and this is %s on %s"
          .formatted(os, arch);
    }
    return isMusl() ? "native hooks need the GNU C library, and this JVM uses musl" : "";
  }

  private static boolean isMusl() {
    try {
      return Files.readString(Path.of("/proc/self/maps")).contains("/ld-musl-");
    } catch (IOException e) {
      return false; // hooks say themselves what they miss
    }
  }

  /**
   * The flags of a JVM that is recorded in this way.
   *
   * @param scratch a directory for files, which has none of these yet
   * @throws IOException if they cannot be written
   */
  List<String> flags(Path scratch) throws IOException {
    String choice = "-D" + PROPERTY + "=" + name().toLowerCase(Locale.ROOT);
    return this == HOOKS ? List.of(choice) : List.of(choice, FileAgent.write(scratch).flag(""));
  }

  /** Makes the recorder, in the JVM that is recorded. */
  ProcessRecorder make() {
    return this == HOOKS ? new NativeHooks() : new AgentFiles();
  }
}
