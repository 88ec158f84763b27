package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** Copies a directory and, from the same bytes, tells it from others. */
final class ImageCopy {

  private final CRC32C crc = new CRC32C();
  private final byte[] buffer = new byte[1 << 16];
  private long bytes;

  private ImageCopy() {}

  /**
   * Copies a directory; what stood at the target is gone.
   *
   * @return a number that copies of equal directories have in common, and others, but for chance,
   *     do not
   * @throws IOException if something cannot be read or written
   */
  static long of(Path from, Path to) throws IOException {
    FileTrees.delete(to);
    ImageCopy copy = new ImageCopy();
    copy.directory(from, to);
    return copy.bytes << 32 | copy.crc.getValue();
  }

  private void directory(Path from, Path to) throws IOException {
    Files.createDirectory(to);
    List<Path> entries;
    try (Stream<Path> list = Files.list(from)) {
      entries = list.sorted().toList();
    }
    for (Path entry : entries) {
      String name = String.valueOf(entry.getFileName());
      crc.update((name + "/").getBytes(StandardCharsets.UTF_8));
      if (Files.isDirectory(entry)) {
        directory(entry, to.resolve(name));
        crc.update('/');
      } else {
        file(entry, to.resolve(name));
      }
    }
  }

  private void file(Path from, Path to) throws IOException {
    try (InputStream in = Files.newInputStream(from);
        OutputStream out = Files.newOutputStream(to)) {
      for (int n; (n = in.read(buffer)) >= 0; ) {
        out.write(buffer, 0, n);
        crc.update(buffer, 0, n);
        bytes += n;
      }
    }
    crc.update('\n');
  }
}
