package org.revenantdb.suite.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.recovery.format.DoubleWriteLayout;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;

/** A disk that is being damaged: files by path below the directory of the database. */
final class DamagedDisk {

  /** A kind of file that a disk in memory cannot have; it is made on a real one. */
  record Special(String path, String kind) {}

  private final DiskImage image;
  private final List<Special> specials = new ArrayList<>();

  DamagedDisk(DiskImage image) {
    this.image = image;
  }

  DiskImage image() {
    return image;
  }

  List<Special> specials() {
    return specials;
  }

  // ---- names ----

  private int directory(String path) {
    int node = lookup(DiskImage.ROOT, Place.DIRECTORY);
    int from = 0;
    for (int slash; (slash = path.indexOf('/', from)) >= 0; from = slash + 1) {
      node = lookup(node, path.substring(from, slash));
    }
    return node;
  }

  private int lookup(int directory, String name) {
    Integer node =
        directory < 0 ? null : image.isDirectory(directory) ? image.lookup(directory, name) : null;
    return node == null ? -1 : node;
  }

  private static String name(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** The file's bytes, or null if there is no file of this path. */
  @Nullable FileContent file(String path) {
    int node = lookup(directory(path), name(path));
    return node < 0 || image.isDirectory(node) ? null : image.file(node);
  }

  /** The paths of all files. */
  List<String> files() {
    String prefix = Place.DIRECTORY + "/";
    return image.paths().entrySet().stream()
        .filter(entry -> !image.isDirectory(entry.getValue()) && entry.getKey().startsWith(prefix))
        .map(entry -> entry.getKey().substring(prefix.length()))
        .toList();
  }

  void delete(String path) {
    int directory = directory(path);
    if (directory >= 0 && image.isDirectory(directory)) {
      image.unlink(directory, name(path));
    }
  }

  void put(String path, FileContent content) {
    int directory = directory(path);
    if (directory >= 0 && image.isDirectory(directory)) {
      int node = image.nextNode();
      image.create(node, /* directory= */ false);
      image.replace(node, content);
      image.link(directory, name(path), node);
    }
  }

  void rename(String from, String to) {
    int node = lookup(directory(from), name(from));
    int target = directory(to);
    if (node >= 0 && target >= 0 && image.isDirectory(target)) {
      image.unlink(directory(from), name(from));
      image.link(target, name(to), node);
    }
  }

  void exchange(String one, String other) {
    int first = lookup(directory(one), name(one));
    int second = lookup(directory(other), name(other));
    if (first >= 0 && second >= 0) {
      image.link(directory(one), name(one), second);
      image.link(directory(other), name(other), first);
    }
  }

  void makeKind(String path, String kind) {
    if (kind.equals("dir")) {
      int directory = directory(path);
      if (directory >= 0 && image.isDirectory(directory)) {
        int node = image.nextNode();
        image.create(node, /* directory= */ true);
        image.link(directory, name(path), node);
      }
    } else {
      specials.add(new Special(path, kind));
    }
  }

  // ---- bytes ----

  byte[] bytes(String path, long offset, int length) {
    FileContent content = file(path);
    return content == null ? new byte[length] : content.bytes(offset, length);
  }

  /** Inside the file, because damage of bytes never makes a file longer. */
  void set(String path, long offset, byte[] bytes) {
    FileContent content = file(path);
    if (content != null && offset >= 0 && offset < content.size()) {
      int length = (int) Math.min(bytes.length, content.size() - offset);
      content.write(offset, ByteBuffer.wrap(bytes, 0, length));
    }
  }

  void setSize(String path, long size) {
    FileContent content = file(path);
    if (content != null) {
      content.setSize(size);
    }
  }

  // ---- checksums ----

  void sealPage(String path, int page) {
    long at = (long) page * PageHeaderLayout.PAGE_SIZE;
    byte[] bytes = bytes(path, at, PageHeaderLayout.PAGE_SIZE);
    set(path, at, number(crc(bytes, 4, bytes.length)));
  }

  void sealSegment(String path) {
    byte[] bytes = bytes(path, 0, SegmentLayout.CHECKED);
    set(path, SegmentLayout.CRC, number(crc(bytes, 4, bytes.length)));
  }

  /**
   * Seals an image of the batch: its checksum, its checksum in the header, and that of the header.
   */
  void sealImage(String path, int index) {
    sealPage(path, 1 + index);
    byte[] own = bytes(path, (1L + index) * PageHeaderLayout.PAGE_SIZE, 4);
    set(path, DoubleWriteLayout.ENTRIES + (long) index * DoubleWriteLayout.ENTRY_SIZE + 4, own);
    sealPage(path, 0);
  }

  /** Changes a record, which may cross into the next segment, and corrects its checksum. */
  void setRecord(String path, long offset, int at, byte[] change) {
    LogPlace place = LogPlace.of(path, offset);
    if (place == null || file(path) == null) {
      return;
    }
    byte[] header = read(place, LogRecordLayout.HEADER);
    int length = little(header).getInt(LogRecordLayout.LENGTH);
    if (!LogRecordLayout.isSane(length)) {
      return;
    }
    byte[] record = read(place, length);
    System.arraycopy(change, 0, record, at, Math.min(change.length, record.length - at));
    int now = little(record).getInt(LogRecordLayout.LENGTH);
    if (LogRecordLayout.isSane(now) && now != length) {
      byte[] longer = read(place, now);
      System.arraycopy(record, 0, longer, 0, Math.min(length, now));
      record = longer;
    }
    little(record).putInt(LogRecordLayout.CRC, crc(record, LogRecordLayout.LSN, record.length));
    write(place, record);
  }

  byte[] read(LogPlace from, int length) {
    byte[] result = new byte[length];
    LogPlace place = from;
    for (int done = 0; done < length; ) {
      int n = (int) Math.min(length - done, size(place) - place.offset());
      if (n <= 0) {
        break;
      }
      System.arraycopy(bytes(place.path(), place.offset(), n), 0, result, done, n);
      done += n;
      place = place.behind(size(place));
    }
    return result;
  }

  private void write(LogPlace from, byte[] bytes) {
    LogPlace place = from;
    for (int done = 0; done < bytes.length; ) {
      int n = (int) Math.min(bytes.length - done, size(place) - place.offset());
      if (n <= 0) {
        break;
      }
      set(place.path(), place.offset(), java.util.Arrays.copyOfRange(bytes, done, done + n));
      done += n;
      place = place.behind(size(place));
    }
  }

  /** Size of the segment; 0 if there is none. */
  private long size(LogPlace place) {
    FileContent segment = file(place.path());
    return segment == null ? 0 : segment.size();
  }

  /** A place in a segment, which has the name of its first position. */
  record LogPlace(long begin, long offset) {

    static @Nullable LogPlace of(String path, long offset) {
      String hex = path.replace("log/", "").replace(".log", "");
      return hex.matches("[0-9a-f]{16}")
          ? new LogPlace(Long.parseUnsignedLong(hex, 16), offset)
          : null;
    }

    String path() {
      return "log/" + HexFormat.of().toHexDigits(begin) + ".log";
    }

    /** Where the segment behind this one begins. */
    LogPlace behind(long size) {
      return new LogPlace(begin + size - SegmentLayout.HEADER, SegmentLayout.HEADER);
    }
  }

  static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static int crc(byte[] bytes, int from, int to) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, to - from);
    return (int) crc.getValue();
  }

  private static byte[] number(int value) {
    byte[] bytes = new byte[4];
    little(bytes).putInt(0, value);
    return bytes;
  }
}
