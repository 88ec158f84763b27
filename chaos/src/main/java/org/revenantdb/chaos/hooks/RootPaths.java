package org.revenantdb.chaos.hooks;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Paths as the agent receives them, in relation to the directory under test. Inside they have
 * slashes on every platform.
 *
 * <p>Threads: any.
 */
final class RootPaths {

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
  private static final boolean IGNORES_CASE =
      WINDOWS || System.getProperty("os.name").startsWith("Mac");

  private final String directory;
  private final String root;
  private final String work;

  /**
   * Creates a relation.
   *
   * @param directory an absolute path without symbolic links
   * @param work the working directory of the process
   */
  RootPaths(String directory, String work) {
    this.directory = directory;
    this.root = normal(slashes(directory));
    this.work = slashes(work);
  }

  private static String slashes(String path) {
    if (!WINDOWS) {
      return path;
    }
    String plain = path.replace('\\', '/');
    if (plain.startsWith("//?/UNC/")) {
      return "//" + plain.substring(8);
    }
    return plain.startsWith("//?/") ? plain.substring(4) : plain;
  }

  /** The path without dots, and with slashes. */
  String absolute(String path) {
    String plain = slashes(path);
    boolean isAbsolute = plain.startsWith("/") || (WINDOWS && plain.indexOf(':') == 1);
    return normal(isAbsolute ? plain : work + "/" + plain);
  }

  /** Removes empty names and dots, and resolves double dots. */
  static String normal(String path) {
    Deque<String> kept = new ArrayDeque<>();
    for (String name : path.split("/", -1)) {
      if (name.equals("..")) {
        kept.pollLast();
      } else if (!name.isEmpty() && !name.equals(".")) {
        kept.addLast(name);
      }
    }
    return "/" + String.join("/", kept);
  }

  private static boolean same(String one, String other) {
    return IGNORES_CASE ? one.equalsIgnoreCase(other) : one.equals(other);
  }

  boolean isRoot(String path) {
    return same(path, root);
  }

  boolean isInside(String path) {
    return path.length() > root.length() + 1
        && path.charAt(root.length()) == '/'
        && same(path.substring(0, root.length()), root);
  }

  /** The rest of a path below the directory; empty for the directory itself. */
  String below(String path) {
    return path.length() <= root.length() ? "" : path.substring(root.length() + 1);
  }

  /** An absolute path as the trace has it. */
  String inTrace(String path) {
    return isInside(path) ? shown(below(path)) : path;
  }

  /** A path below the directory as the trace has it. */
  String shown(String below) {
    return directory + "/" + below;
  }

  /** A path below the directory, for use. */
  Path real(String below) {
    return Path.of(directory, below);
  }
}
