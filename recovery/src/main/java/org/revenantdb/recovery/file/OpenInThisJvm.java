package org.revenantdb.recovery.file;

import java.nio.file.attribute.BasicFileAttributes;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Records which directories this JVM has open. Every copy of the library in the JVM sees the
 * record, whatever class loader loaded it.
 *
 * <p>The entries are system properties and contain only strings. So they keep no class loader
 * alive, and do not disturb code that prints the properties.
 *
 * <p>Threads: any.
 */
final class OpenInThisJvm {
  private static final String PREFIX = "org.revenantdb.open.";

  private OpenInThisJvm() {}

  /**
   * The name of a directory's entry; null if its file system has no file identity that is the same
   * for all class loaders.
   */
  static @Nullable String nameOf(BasicFileAttributes directory) {
    @Nullable Object key = directory.fileKey();
    return key != null && key.getClass().getName().startsWith("sun.nio.fs.") ? PREFIX + key : null;
  }

  /**
   * Enters a directory.
   *
   * @return null if it was entered, else the text of the existing entry
   */
  static @Nullable String enter(@Nullable String name, String text) {
    return name == null ? null : text(System.getProperties().putIfAbsent(name, text));
  }

  private static @Nullable String text(@Nullable Object entry) {
    return entry == null ? null : entry.toString();
  }

  /** Removes an entry, if it still has the given text. */
  static void leave(@Nullable String name, String text) {
    Properties properties = System.getProperties();
    if (name != null) {
      properties.remove(name, text);
    }
  }
}
