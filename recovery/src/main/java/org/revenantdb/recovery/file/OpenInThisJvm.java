package org.revenantdb.recovery.file;

import java.nio.file.attribute.BasicFileAttributes;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Which directories this JVM has open, known to every copy of the library in it, whatever class
 * loader it came from.
 *
 * <p>The entries are system properties, and nothing but strings: so they hold no class loader, and
 * do not disturb code that prints the properties.
 *
 * <p>Threads: any.
 */
final class OpenInThisJvm {
  private static final String PREFIX = "org.revenantdb.open.";

  private OpenInThisJvm() {}

  /**
   * The name of a directory's entry; null if its file system has no identity of files that is the
   * same for all class loaders.
   */
  static @Nullable String nameOf(BasicFileAttributes directory) {
    @Nullable Object key = directory.fileKey();
    return key != null && key.getClass().getName().startsWith("sun.nio.fs.") ? PREFIX + key : null;
  }

  /**
   * Enters a directory.
   *
   * @return null if it was entered, else what stands there
   */
  static @Nullable String enter(@Nullable String name, String text) {
    return name == null ? null : text(System.getProperties().putIfAbsent(name, text));
  }

  private static @Nullable String text(@Nullable Object entry) {
    return entry == null ? null : entry.toString();
  }

  /** Removes an entry, if it is still the one that was made. */
  static void leave(@Nullable String name, String text) {
    Properties properties = System.getProperties();
    if (name != null) {
      properties.remove(name, text);
    }
  }
}
