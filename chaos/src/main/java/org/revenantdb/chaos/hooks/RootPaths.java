package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

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

  /** So many links can follow one another, as on Linux. */
  private static final int MOST_LINKS = 40;

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
    return normal(isAbsolute(plain) ? plain : work + "/" + plain);
  }

  static boolean isAbsolute(String path) {
    String plain = slashes(path);
    return plain.startsWith("/") || (WINDOWS && plain.indexOf(':') == 1);
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

  /**
   * Where a path leads, if that is the directory or something below it. The directory has other
   * names: through symbolic links, junctions, short names, and names that the operating system
   * gives to open files. So the real path is compared if the text of the path is that of another
   * place. It is also compared if the text has a double dot, because of links before it.
   *
   * @param path as the program gave it
   * @param isFollowed whether a link at its end is followed, as an opening does
   * @return an absolute path; null if it is elsewhere
   */
  @Nullable String inside(String path, boolean isFollowed) {
    String absolute = absolute(path);
    boolean isPlain = (isInside(absolute) || isRoot(absolute)) && !hasDoubleDot(slashes(path));
    String found = isPlain ? absolute : real(path, isFollowed, 0);
    return found != null && (isInside(found) || isRoot(found)) ? found : null;
  }

  private static boolean hasDoubleDot(String path) {
    return path.contains("..") && ("/" + path + "/").contains("/../");
  }

  /** The path without links; null if a directory on the way does not exist, so no call succeeds. */
  private @Nullable String real(String path, boolean isFollowed, int links) {
    try {
      String plain = slashes(path);
      Path given = Path.of(isAbsolute(plain) ? plain : work + "/" + plain);
      if (isFollowed && Files.exists(given)) {
        return normal(slashes(given.toRealPath().toString()));
      }
      Path name = given.getFileName();
      Path parent = given.getParent();
      if (name == null || parent == null) {
        return normal(slashes(given.toString()));
      }
      if (name.toString().equals(".") || name.toString().equals("..")) {
        return normal(slashes(given.toRealPath().toString()));
      }
      if (isFollowed && links < MOST_LINKS && Files.isSymbolicLink(given)) {
        String target = Files.readSymbolicLink(given).toString();
        return real(parent.toRealPath().resolve(target).toString(), isFollowed, links + 1);
      }
      return normal(slashes(parent.toRealPath().toString()) + "/" + name);
    } catch (IOException | InvalidPathException e) {
      return null;
    }
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
