package org.revenantdb.engine.lifecycle;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;

/** What can be done to the files of a database from outside, checksums made good again included. */
final class FileDamage {
  private FileDamage() {}

  static Path data(Path directory) {
    return directory.resolve(DatabaseFiles.DATA);
  }

  static Path doubleWrite(Path directory) {
    return directory.resolve(DatabaseFiles.DOUBLE_WRITE);
  }

  static Path segment(Path directory, long begin) {
    return directory.resolve(DatabaseFiles.LOG).resolve("%016x.log".formatted(begin));
  }

  /** The position in the name of a segment. */
  static long begin(Path segment) {
    return Long.parseLong(String.valueOf(segment.getFileName()).substring(0, 16), 16);
  }

  /** Where the next segment would begin. */
  static long end(Path segment) throws IOException {
    return begin(segment) + SegmentLayout.payload((int) Files.size(segment));
  }

  static List<Path> segments(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve(DatabaseFiles.LOG))) {
      return files.sorted().toList();
    }
  }

  static Path lastSegment(Path directory) throws IOException {
    return segments(directory).getLast();
  }

  /** The first segment of the last life, or the lowest one if that was deleted. */
  static Path firstOfLastLife(Path directory) throws IOException {
    Path found = null;
    for (Path segment : segments(directory)) {
      if (buffer(Files.readAllBytes(segment)).getLong(SegmentLayout.FIRST_LSN) != 0) {
        found = segment;
      }
    }
    return found == null ? segments(directory).getFirst() : found;
  }

  static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static void length(Path file, long bytes) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.setLength(bytes);
    }
  }

  static void pipe(Path file) throws IOException {
    try {
      if (new ProcessBuilder("mkfifo", file.toString()).start().waitFor() != 0) {
        throw new IOException("no pipe at " + file);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  static void delete(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      try (Stream<Path> inner = Files.list(file)) {
        for (Path each : inner.toList()) {
          delete(each);
        }
      }
    }
    Files.delete(file);
  }

  static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (!String.valueOf(file.getFileName()).equals(DatabaseFiles.LOCK)) {
          Files.copy(file, to.resolve(from.relativize(file).toString()));
        }
      }
    }
  }

  /** A change of bytes. */
  @FunctionalInterface
  interface Change {
    void of(ByteBuffer bytes);
  }

  /** Changes a page, and makes its checksum good again. */
  static void page(Path file, long page, Change change) throws IOException {
    sealed(
        file,
        page * PageHeaderLayout.PAGE_SIZE,
        PageHeaderLayout.PAGE_SIZE,
        /* checked= */ Integer.BYTES,
        change);
  }

  /** Changes both control slots in the same way, and makes their checksums good again. */
  static void slots(Path directory, Change change) throws IOException {
    page(data(directory), 1, change);
    page(data(directory), 2, change);
  }

  /** Changes the header of a segment, and makes its checksum good again. */
  static void header(Path segment, Change change) throws IOException {
    sealed(segment, 0, SegmentLayout.CHECKED, /* checked= */ Integer.BYTES, change);
  }

  private static void sealed(Path file, long position, int length, int checked, Change change)
      throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      byte[] bytes = new byte[length];
      open.seek(position);
      open.readFully(bytes);
      change.of(buffer(bytes));
      CRC32C crc = new CRC32C();
      crc.update(bytes, checked, length - checked);
      buffer(bytes).putInt(0, (int) crc.getValue());
      open.seek(position);
      open.write(bytes);
    }
  }

  /**
   * Changes the last record of a segment for which a condition holds, and makes its checksum good
   * again.
   */
  static void record(Path segment, Predicate<ByteBuffer> wanted, Change change) throws IOException {
    byte[] bytes = Files.readAllBytes(segment);
    ByteBuffer all = buffer(bytes);
    int last = -1;
    int at = SegmentLayout.HEADER;
    while (at + LogRecordLayout.HEADER <= bytes.length
        && LogRecordLayout.isSane(all.getInt(at))
        && at + all.getInt(at) <= bytes.length) {
      if (wanted.test(slice(all, at))) {
        last = at;
      }
      at += all.getInt(at);
    }
    if (last < 0) {
      throw new AssertionError("no such record in " + segment);
    }
    ByteBuffer record = slice(all, last);
    change.of(record);
    CRC32C crc = new CRC32C();
    crc.update(bytes, last + LogRecordLayout.LSN, record.getInt(0) - LogRecordLayout.LSN);
    record.putInt(LogRecordLayout.CRC, (int) crc.getValue());
    Files.write(segment, bytes);
  }

  private static ByteBuffer slice(ByteBuffer all, int at) {
    return all.slice(at, all.getInt(at)).order(ByteOrder.LITTLE_ENDIAN);
  }
}
