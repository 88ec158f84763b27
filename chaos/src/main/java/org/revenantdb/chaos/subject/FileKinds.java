package org.revenantdb.chaos.subject;

import java.util.regex.Pattern;

/** Kinds of files from their names. */
public final class FileKinds {

  private static final Pattern NUMBER = Pattern.compile("(?<![A-Za-z])[0-9a-fA-F]{8,}|[0-9]+");

  private FileKinds() {}

  /**
   * A path without its numbers.
   *
   * @param path with {@code /} between names
   * @return the path with {@code *} for numbers; {@code .} if it is empty
   */
  public static String generic(String path) {
    return path.isEmpty() ? "." : NUMBER.matcher(path).replaceAll("*");
  }
}
