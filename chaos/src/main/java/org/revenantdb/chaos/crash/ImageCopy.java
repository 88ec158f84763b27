package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/** Copies a directory and computes a hash of it from the same bytes. */
final class ImageCopy {

  private static final byte[] ZEROS = new byte[1 << 16];

  private final CRC32C crc = new CRC32C();
  private final byte[] buffer = new byte[ZEROS.length];
  private long bytes;

  private ImageCopy() {}

  /**
   * Copies a directory and replaces the target.
   *
   * @return a hash: equal for equal directories, and different for others except by chance
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

  /** Zeros become holes, because a store may create large files and fill them slowly. */
  private void file(Path from, Path to) throws IOException {
    try (InputStream in = Files.newInputStream(from);
        RandomAccessFile out = new RandomAccessFile(to.toFile(), "rw")) {
      long size = 0;
      int n = in.readNBytes(buffer, 0, buffer.length);
      while (n > 0) {
        if (!isZero(n)) {
          out.seek(size);
          out.write(buffer, 0, n);
        }
        crc.update(buffer, 0, n);
        size += n;
        n = in.readNBytes(buffer, 0, buffer.length);
      }
      out.setLength(size);
      bytes += size;
    }
    crc.update('\n');
  }

  private boolean isZero(int length) {
    return Arrays.equals(buffer, 0, length, ZEROS, 0, length);
  }
}
