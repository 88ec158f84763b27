package org.revenantdb.engine.lifecycle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.revenantdb.recovery.file.DirectoryLock;

/**
 * All names in a directory and what is under them, byte for byte: two of them are equal if nothing
 * was changed in between. The lock file does not count; {@code docs/format.md} says so.
 */
public record DirectoryState(Map<String, String> files) {

  public static DirectoryState of(Path directory) throws IOException {
    Map<String, String> files = new TreeMap<>();
    try (Stream<Path> found = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) found::iterator) {
        String name = directory.relativize(file).toString();
        if (!name.equals(DirectoryLock.FILE_NAME)) {
          files.put(name, content(file));
        }
      }
    }
    return new DirectoryState(files);
  }

  private static String content(Path file) throws IOException {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      return "directory";
    }
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return "neither file nor directory";
    }
    byte[] bytes = Files.readAllBytes(file);
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return bytes.length + " bytes, " + Long.toHexString(crc.getValue());
  }
}
