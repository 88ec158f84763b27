package org.revenantdb.engine.archive;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.MissingFileException;
import org.revenantdb.recovery.file.NotADatabaseException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * The directory of an archive: names, the header, and the notes of bases.
 *
 * <p>Threads: one that may access files.
 */
final class ArchiveFiles {
  static final String HEADER = "revenant.archive";
  private static final String UNFINISHED = ".new";
  private static final String LOG = "log-";
  private static final String BASE = "base-";
  private static final String LOG_SUFFIX = ".rva";
  private static final String NOTE_SUFFIX = ".rvb";
  private static final int DIGITS = 10;

  /** No file of the log is longer: a block is written only while it is below a bound. */
  static final long LARGEST = 64L << 20;

  /**
   * What the archive says of its database.
   *
   * @param databaseId 16 bytes
   * @param segmentSize the full size of log segments
   * @param createdMillis when the archive was made
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared nor printed
  record Header(byte[] databaseId, int segmentSize, long createdMillis) {}

  /**
   * The note of a base.
   *
   * @param number N
   * @param baseId the id that the base has as a database
   * @param end where its log ends
   * @param redoPoint where its log begins
   * @param life the life of its log
   * @param pages pages of its data file
   * @param millis when its end was known at the latest
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared nor printed
  record Base(
      long number, byte[] baseId, long end, long redoPoint, int life, int pages, long millis) {}

  private final Path directory;
  private final IoStatistics statistics;

  ArchiveFiles(Path directory, IoStatistics statistics) {
    this.directory = directory;
    this.statistics = statistics;
  }

  Path directory() {
    return directory;
  }

  IoStatistics statistics() {
    return statistics;
  }

  Path log(long number) {
    return directory.resolve(LOG + digits(number) + LOG_SUFFIX);
  }

  Path base(long number) {
    return directory.resolve(BASE + digits(number));
  }

  Path note(long number) {
    return directory.resolve(BASE + digits(number) + NOTE_SUFFIX);
  }

  private static String digits(long number) {
    return String.format("%0" + DIGITS + "d", number);
  }

  /**
   * Reads the header.
   *
   * @return null if nothing is there: the directory is missing or empty
   * @throws NotADatabaseException if it has other files
   */
  @Nullable Header header() {
    if (!Directories.exists(directory)) {
      return null;
    }
    Path file = directory.resolve(HEADER);
    if (!Directories.exists(file)) {
      for (String name : names()) {
        if (!name.equals(HEADER + UNFINISHED)) {
          throw new NotADatabaseException(
              directory,
              FileException.NO_OFFSET,
              "this is no archive: there is " + name + ", but no " + HEADER,
              "name the directory of an archive; for a new one, a directory that is empty or does not exist",
              /* cause= */ null);
        }
      }
      return null;
    }
    ByteBuffer sector = ArchiveLayout.read(load(file), ArchiveLayout.ARCHIVE_MAGIC, file);
    int size = sector.getInt(ArchiveLayout.BODY);
    if (!SegmentLayout.isSize(size)) {
      throw new DamagedFileException(
          file, ArchiveLayout.BODY, "log segments cannot have " + size + " bytes");
    }
    return new Header(
        ArchiveLayout.databaseId(sector), size, sector.getLong(ArchiveLayout.BODY + Long.BYTES));
  }

  /** The header of an archive that has to be there. */
  Header demandHeader() {
    Header found = header();
    if (found == null) {
      throw new NotADatabaseException(
          directory,
          FileException.NO_OFFSET,
          "there is no archive here",
          "name the directory of an archive",
          /* cause= */ null);
    }
    return found;
  }

  /** Makes an empty archive. */
  Header create(byte[] databaseId, int segmentSize) {
    if (!Directories.createOwnerOnly(directory)) {
      Directories.forceName(directory);
    }
    long now = System.currentTimeMillis();
    ByteBuffer sector = ArchiveLayout.sector(ArchiveLayout.ARCHIVE_MAGIC, databaseId);
    sector.putInt(ArchiveLayout.BODY, segmentSize);
    sector.putLong(ArchiveLayout.BODY + Long.BYTES, now);
    put(directory.resolve(HEADER), ArchiveLayout.sealed(sector));
    return new Header(databaseId.clone(), segmentSize, now);
  }

  /** Makes a file that is durable with its name, or not there. */
  void put(Path file, byte[] bytes) {
    Path unfinished = file.resolveSibling(file.getFileName() + UNFINISHED);
    Directories.delete(unfinished);
    try (StorageFile made =
        StorageFile.open(unfinished, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics)) {
      made.write(0, MemorySegment.ofArray(bytes));
      made.force();
    }
    Directories.rename(unfinished, file);
    force();
  }

  void force() {
    Directories.force(directory, statistics);
  }

  /** All bytes of a file. */
  byte[] load(Path file) {
    return load(file, 0);
  }

  /** The bytes of a file from an offset on; none if it ends before. */
  byte[] load(Path file, int from) {
    try (StorageFile open =
        StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true, statistics)) {
      long size = open.size();
      if (size > LARGEST) {
        throw new DamagedFileException(
            file, LARGEST, "no file of an archive has " + size + " bytes");
      }
      byte[] bytes = new byte[(int) Math.max(0, size - from)];
      int read = open.readUpTo(from, MemorySegment.ofArray(bytes));
      return read == bytes.length ? bytes : Arrays.copyOf(bytes, read);
    }
  }

  /** The first sector of a file, or less. */
  byte[] loadSector(Path file) {
    try (StorageFile open =
        StorageFile.open(file, OpenMode.READ, /* ownerOnly= */ true, statistics)) {
      byte[] bytes = new byte[ArchiveLayout.SECTOR];
      int read = open.readUpTo(0, MemorySegment.ofArray(bytes));
      return read == bytes.length ? bytes : Arrays.copyOf(bytes, read);
    }
  }

  /** The files of the log, by number. */
  NavigableMap<Long, Path> logs() {
    return numbered(LOG, LOG_SUFFIX);
  }

  /** Directories of bases, with a note or without one. */
  NavigableMap<Long, Path> baseDirectories() {
    return numbered(BASE, "");
  }

  private NavigableMap<Long, Path> notes() {
    return numbered(BASE, NOTE_SUFFIX);
  }

  /** The bases that count, by number. */
  List<Base> bases(byte[] databaseId) {
    List<Base> bases = new ArrayList<>();
    notes().forEach((number, file) -> bases.add(readNote(number, file, databaseId)));
    return bases;
  }

  private Base readNote(long number, Path file, byte[] databaseId) {
    ByteBuffer note = ArchiveLayout.read(loadSector(file), ArchiveLayout.BASE_MAGIC, file);
    int at = ArchiveLayout.BODY + 16;
    if (!Arrays.equals(ArchiveLayout.databaseId(note), databaseId) || note.getLong(at) != number) {
      throw foreign(file);
    }
    return new Base(
        number,
        ArchiveLayout.id(note, ArchiveLayout.BODY),
        note.getLong(at + 8),
        note.getLong(at + 16),
        note.getInt(at + 24),
        note.getInt(at + 28),
        note.getLong(at + 32));
  }

  /** A file of another archive, or under another name. */
  static DamagedFileException foreign(Path file) {
    return new DamagedFileException(
        file,
        ArchiveLayout.BODY,
        "this file belongs to another archive, or has another number",
        "take it out of the archive, and put back the one that belongs there",
        /* cause= */ null);
  }

  /** Makes a base count. */
  void putNote(Base base, byte[] databaseId) {
    ByteBuffer note = ArchiveLayout.sector(ArchiveLayout.BASE_MAGIC, databaseId);
    note.put(ArchiveLayout.BODY, base.baseId());
    int at = ArchiveLayout.BODY + 16;
    note.putLong(at, base.number());
    note.putLong(at + 8, base.end());
    note.putLong(at + 16, base.redoPoint());
    note.putInt(at + 24, base.life());
    note.putInt(at + 28, base.pages());
    note.putLong(at + 32, base.millis());
    put(note(base.number()), ArchiveLayout.sealed(note));
  }

  /** The number of the next base: no base, whole or not, has it or a higher one. */
  long nextBase() {
    NavigableMap<Long, Path> all = baseDirectories();
    all.putAll(notes());
    return all.isEmpty() ? 1 : all.lastKey() + 1;
  }

  /** Deletes what interrupted work has left. */
  void deleteLeftOvers(long exceptBase) {
    for (String name : names()) {
      if (name.endsWith(UNFINISHED)) {
        Directories.delete(directory.resolve(name));
      }
    }
    NavigableMap<Long, Path> noted = notes();
    baseDirectories()
        .forEach((number, base) -> {
          if (number != exceptBase && !noted.containsKey(number)) {
            deleteBase(base);
          }
        });
  }

  /** The note first: then the base does not count. */
  void deleteBase(long number) {
    Directories.delete(note(number));
    force();
    deleteBase(base(number));
  }

  private void deleteBase(Path base) {
    try {
      deleteTree(base);
    } catch (IOException failed) {
      throw IoFailures.of(base, FileException.NO_OFFSET, "deleting a base", failed);
    }
    force();
  }

  private static void deleteTree(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      List<Path> inside = new ArrayList<>();
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
        entries.forEach(inside::add);
      }
      for (Path entry : inside) {
        deleteTree(entry);
      }
    }
    Files.deleteIfExists(path);
  }

  private NavigableMap<Long, Path> numbered(String prefix, String suffix) {
    NavigableMap<Long, Path> found = new TreeMap<>();
    for (String name : names()) {
      int length = prefix.length() + DIGITS + suffix.length();
      if (name.length() == length && name.startsWith(prefix) && name.endsWith(suffix)) {
        String number = name.substring(prefix.length(), prefix.length() + DIGITS);
        if (number.chars().allMatch(c -> c >= '0' && c <= '9')) {
          found.put(Long.parseLong(number), directory.resolve(name));
        }
      }
    }
    return found;
  }

  private List<String> names() {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        names.add(String.valueOf(entry.getFileName()));
      }
    } catch (DirectoryIteratorException failed) {
      throw unlisted(Objects.requireNonNull(failed.getCause()));
    } catch (IOException failed) {
      throw unlisted(failed);
    }
    return names;
  }

  private FileException unlisted(IOException failed) {
    return IoFailures.of(directory, FileException.NO_OFFSET, "listing the archive", failed);
  }

  /** The archive was there, and is not any more. */
  MissingFileException gone() {
    return new MissingFileException(
        directory,
        FileException.NO_OFFSET,
        "the archive is not there",
        "bring it back, mount its file system, or name another directory for the archive",
        /* cause= */ null);
  }
}
