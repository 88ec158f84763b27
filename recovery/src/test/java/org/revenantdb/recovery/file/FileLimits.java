package org.revenantdb.recovery.file;

import java.io.IOException;
import java.nio.file.Path;

/** Meets a limit of its process, and prints the message for a user. */
final class FileLimits {
  private FileLimits() {}

  /** What (size, handles) and where. */
  public static void main(String[] arguments) {
    Path file = Path.of(arguments[1], "file");
    try (StorageFile first = StorageFile.open(file, OpenMode.CREATE_NEW, /* ownerOnly= */ true)) {
      if (arguments[0].equals("size")) {
        first.preallocate(0, 1 << 20);
      }
      // Classes are loaded while there are handles.
      var loaded = IoFailures.of(file, 0, "loading", new IOException("classes"));
      System.out.println(loaded.reason());
      while (true) {
        StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true);
      }
    } catch (FileException told) {
      System.out.println(told.getClass().getSimpleName() + ": " + told.getMessage());
    }
  }
}
