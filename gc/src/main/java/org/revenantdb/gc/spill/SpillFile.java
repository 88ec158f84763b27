package org.revenantdb.gc.spill;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * One spill file: blocks, each with its checksum and its position.
 *
 * <p>Threads: those of the engine. One thread at a time writes; any number of threads read what was
 * written before.
 */
final class SpillFile {
  private final StorageFile file;
  private final SpillFiles.Kind kind;
  private final long number;

  /** The end of the last whole block. */
  private long end = SpillLayout.HEADER;

  private SpillFile(StorageFile file, SpillFiles.Kind kind, long number) {
    this.file = file;
    this.kind = kind;
    this.number = number;
  }

  /** Makes a file and writes its header. */
  static SpillFile create(
      Path path,
      byte[] databaseId,
      int life,
      SpillFiles.Kind kind,
      long number,
      IoStatistics statistics) {
    byte[] header = new byte[SpillLayout.HEADER];
    LittleEndian.putInt(header, SpillLayout.VERSION, SpillLayout.CURRENT_VERSION);
    LittleEndian.putLong(header, SpillLayout.MAGIC, SpillLayout.MAGIC_VALUE);
    System.arraycopy(databaseId, 0, header, SpillLayout.DATABASE_ID, databaseId.length);
    LittleEndian.putInt(header, SpillLayout.LIFE, life);
    LittleEndian.putInt(header, SpillLayout.KIND, kind.code);
    LittleEndian.putLong(header, SpillLayout.NUMBER, number);
    SpillLayout.seal(header, 0, SpillLayout.HEADER);
    StorageFile file =
        StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true, statistics);
    try {
      file.write(0, MemorySegment.ofArray(header));
    } catch (FileException failed) {
      new SpillFile(file, kind, number).close();
      SpillFiles.delete(path);
      throw failed;
    }
    return new SpillFile(file, kind, number);
  }

  Path path() {
    return file.path();
  }

  /** The length of the valid part of the file. */
  long end() {
    return end;
  }

  /** The number of the file, which its blocks contain. */
  int number() {
    return (int) number;
  }

  /** Writes blocks behind the last one. A failure leaves the file as it was. */
  void append(byte[] blocks, int length) {
    file.write(end, MemorySegment.ofArray(blocks).asSlice(0, length));
    end += length;
  }

  /**
   * Cuts the file at a position: what is behind it is no longer valid, and the next append goes
   * there.
   */
  void cut(long position) {
    end = position;
  }

  /** As {@link #cut}, and gives the space behind the position back. */
  void truncate(long position) {
    cut(position);
    file.truncate(position);
  }

  /**
   * Reads whole blocks, and checks them.
   *
   * @throws DamagedFileException if they are not what was written there
   */
  byte[] read(long from, long to) {
    byte[] bytes = new byte[Math.toIntExact(to - from)];
    read(from, bytes, bytes.length);
    return bytes;
  }

  /**
   * Reads whole blocks into the beginning of an array, and checks them.
   *
   * @throws DamagedFileException if they are not what was written there
   */
  void read(long from, byte[] bytes, int wanted) {
    file.read(from, MemorySegment.ofArray(bytes).asSlice(0, wanted));
    int at = 0;
    while (at < wanted) {
      int left = wanted - at;
      int length =
          left < SpillLayout.BLOCK_HEADER
              ? 0
              : LittleEndian.getInt(bytes, at + SpillLayout.BLOCK_LENGTH);
      if (length < SpillLayout.BLOCK_HEADER
          || length > left
          || !SpillLayout.isSealed(bytes, at, length)
          || LittleEndian.getLong(bytes, at + SpillLayout.BLOCK_POSITION) != from + at
          || LittleEndian.getInt(bytes, at + SpillLayout.BLOCK_FILE) != number()) {
        throw new DamagedFileException(
            path(),
            from + at,
            "the bytes here are not the block of " + kind.content + " that was written",
            kind.cure,
            /* cause= */ null);
      }
      at += length;
    }
  }

  /** Closes the file and ignores errors. */
  @SuppressWarnings("EmptyCatch")
  void close() {
    try {
      file.close();
    } catch (FileException nothingIsLost) {
      // The file is no longer needed.
    }
  }
}
