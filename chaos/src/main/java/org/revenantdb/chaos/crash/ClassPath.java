package org.revenantdb.chaos.crash;

import java.io.File;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The places of classes, written so that another JVM finds them, too. */
public final class ClassPath {

  private ClassPath() {}

  /**
   * Returns the class path and module path of this JVM and the place of this class, all as one
   * class path.
   *
   * @return one path
   */
  public static String ofThisJvm() {
    return join(
        System.getProperty("java.class.path", ""),
        System.getProperty("jdk.module.path", ""),
        of(ClassPath.class));
  }

  /**
   * Returns the folder or archive with the class. It is determined from the class file, because a
   * patched module hides it.
   *
   * @param type the class
   * @return its place, empty for a class without a file
   */
  public static String of(Class<?> type) {
    String file = "/" + type.getName().replace('.', '/') + ".class";
    URL url = type.getResource(file);
    if (url == null) {
      return "";
    }
    String text = url.toString();
    text = text.substring(0, text.length() - file.length());
    if (text.startsWith("jar:")) {
      text = text.substring("jar:".length(), text.length() - "!".length());
    }
    try {
      return Path.of(new URI(text)).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException("not a place for classes: " + text, e);
    }
  }

  /**
   * Joins several paths into one, each entry once and absolute, because the other JVM may start in
   * another directory.
   *
   * @param paths each with the system's separator between its entries
   * @return one path
   */
  public static String join(String... paths) {
    Set<String> entries = new LinkedHashSet<>();
    for (String path : paths) {
      List<String> parts = Arrays.asList(path.split(File.pathSeparator, -1));
      parts.stream().filter(part -> !part.isEmpty()).map(ClassPath::absolute).forEach(entries::add);
    }
    return String.join(File.pathSeparator, entries);
  }

  private static String absolute(String entry) {
    return new File(entry).getAbsolutePath();
  }
}
