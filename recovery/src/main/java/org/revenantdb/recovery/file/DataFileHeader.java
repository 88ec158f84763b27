package org.revenantdb.recovery.file;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.revenantdb.recovery.format.FileHeaderLayout;
import org.revenantdb.recovery.format.PageChecksum;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;

/** The first page of the data file, which identifies the database. Written once. */
public final class DataFileHeader {
  private final byte[] databaseId;
  private final int segmentSize;
  private final long createdMillis;

  private DataFileHeader(byte[] databaseId, int segmentSize, long createdMillis) {
    this.databaseId = databaseId;
    this.segmentSize = segmentSize;
    this.createdMillis = createdMillis;
  }

  /**
   * Writes the header of a new database. The force of its first control slots makes it durable,
   * too.
   *
   * @param data its data file
   * @param databaseId sixteen random bytes
   * @param segmentSize size of its log segments
   * @param createdMillis now, milliseconds since 1970
   * @return what was written
   */
  public static DataFileHeader create(
      StorageFile data, byte[] databaseId, int segmentSize, long createdMillis) {
    if (databaseId.length != FileHeaderLayout.DATABASE_ID_SIZE) {
      throw new IllegalArgumentException("a database id has 16 bytes, not " + databaseId.length);
    }
    MemorySegment page = MemorySegment.ofArray(new byte[PageHeaderLayout.PAGE_SIZE]);
    PageHeaderLayout.pageId(page, FileHeaderLayout.PAGE);
    FileHeaderLayout.setMagic(page);
    FileHeaderLayout.setVersion(page);
    FileHeaderLayout.pageSize(page, PageHeaderLayout.PAGE_SIZE);
    FileHeaderLayout.databaseId(page).copyFrom(MemorySegment.ofArray(databaseId));
    FileHeaderLayout.segmentSize(page, segmentSize);
    FileHeaderLayout.created(page, createdMillis);
    PageChecksum.seal(page);
    data.write(PageHeaderLayout.position(FileHeaderLayout.PAGE), page);
    return of(page);
  }

  /**
   * Reads and checks the header.
   *
   * @param data a file that should be the data file of a database
   * @return its content
   * @throws NotADatabaseException if the file is something else
   * @throws FormatVersionException if the database has another format version or page size
   * @throws DamagedFileException if it is the damaged header of a database
   */
  public static DataFileHeader read(StorageFile data) {
    MemorySegment page = MemorySegment.ofArray(new byte[PageHeaderLayout.PAGE_SIZE]);
    int length = data.readUpTo(PageHeaderLayout.position(FileHeaderLayout.PAGE), page);
    Path file = data.path();
    if (length < PageHeaderLayout.PAGE_SIZE || !PageChecksum.isWhole(page)) {
      throw whyNotWhole(file, page, length);
    }
    if (FileHeaderLayout.magic(page) != FileHeaderLayout.MAGIC_VALUE) {
      throw notADatabase(file);
    }
    if (FileHeaderLayout.version(page) != FileHeaderLayout.CURRENT_VERSION) {
      throw otherVersion(file, page);
    }
    if (FileHeaderLayout.pageSize(page) != PageHeaderLayout.PAGE_SIZE) {
      throw FormatVersionException.pageSize(
          file,
          FileHeaderLayout.PAGE_SIZE,
          FileHeaderLayout.pageSize(page),
          PageHeaderLayout.PAGE_SIZE);
    }
    if (PageHeaderLayout.pageId(page) != FileHeaderLayout.PAGE || !reservedIsZero(page)) {
      throw new DamagedFileException(
          file, 0, "the header's checksum is correct, but its page id or reserved bytes are not 0");
    }
    if (!SegmentLayout.isSize(FileHeaderLayout.segmentSize(page))) {
      throw new DamagedFileException(
          file,
          FileHeaderLayout.SEGMENT_SIZE,
          "the header's checksum is correct, but the size of log segments is impossible: "
              + FileHeaderLayout.segmentSize(page)
              + " bytes");
    }
    if (FileHeaderLayout.created(page) < 0) {
      throw new DamagedFileException(
          file,
          FileHeaderLayout.CREATED,
          "the header's checksum is correct, but the time of creation is impossible: "
              + FileHeaderLayout.created(page));
    }
    return of(page);
  }

  /**
   * The exception for a header that is too short or has a wrong checksum. The readable part decides
   * whether the file ever was a data file.
   */
  private static FileException whyNotWhole(Path file, MemorySegment page, int length) {
    boolean ourMagic = FileHeaderLayout.magic(page) == FileHeaderLayout.MAGIC_VALUE;
    boolean ourVersion = FileHeaderLayout.version(page) == FileHeaderLayout.CURRENT_VERSION;
    if (!ourMagic || !ourVersion) {
      // Damage in only these fields must not be mistaken for another file or another version.
      FileHeaderLayout.setMagic(page);
      int found = FileHeaderLayout.version(page);
      FileHeaderLayout.setVersion(page);
      if (!PageChecksum.isWhole(page)) {
        return ourMagic
            ? new FormatVersionException(
                file, FileHeaderLayout.VERSION, found, FileHeaderLayout.CURRENT_VERSION)
            : notADatabase(file);
      }
    }
    if (length < PageHeaderLayout.PAGE_SIZE) {
      return new DamagedFileException(
          file, length, "the file ends here, within its header of 8192 bytes");
    }
    return new DamagedFileException(file, 0, "the checksum of the file header is wrong");
  }

  private static NotADatabaseException notADatabase(Path file) {
    return new NotADatabaseException(
        file,
        FileHeaderLayout.MAGIC,
        "the file does not begin as the data file of a RevenantDB database does",
        "check the path",
        /* cause= */ null);
  }

  private static FormatVersionException otherVersion(Path file, MemorySegment page) {
    return new FormatVersionException(
        file,
        FileHeaderLayout.VERSION,
        FileHeaderLayout.version(page),
        FileHeaderLayout.CURRENT_VERSION);
  }

  private static boolean reservedIsZero(MemorySegment page) {
    MemorySegment rest = page.asSlice(FileHeaderLayout.END);
    MemorySegment zeros = MemorySegment.ofArray(new byte[(int) rest.byteSize()]);
    return FileHeaderLayout.reserved(page) == 0 && rest.mismatch(zeros) < 0;
  }

  private static DataFileHeader of(MemorySegment page) {
    byte[] id = new byte[FileHeaderLayout.DATABASE_ID_SIZE];
    MemorySegment.copy(page, ValueLayout.JAVA_BYTE, FileHeaderLayout.DATABASE_ID, id, 0, id.length);
    return new DataFileHeader(
        id, FileHeaderLayout.segmentSize(page), FileHeaderLayout.created(page));
  }

  /**
   * The id of the database.
   *
   * @return a copy of its sixteen bytes
   */
  public byte[] databaseId() {
    return databaseId.clone();
  }

  /**
   * The size of its log segments.
   *
   * @return bytes
   */
  public int segmentSize() {
    return segmentSize;
  }

  /**
   * When it was created.
   *
   * @return milliseconds since 1970
   */
  public long createdMillis() {
    return createdMillis;
  }
}
