package org.revenantdb.engine.archive;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.revenantdb.recovery.file.Directories;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.OpenMode;
import org.revenantdb.recovery.file.StorageFile;

/**
 * A file of the log of an archive, to which blocks are appended. After a failure it is never
 * written again.
 *
 * <p>Threads: that of the archiver.
 */
final class ArchiveWriter implements AutoCloseable {
  /** Another file follows when one is longer. */
  static final long FULL = 8L << 20;

  private final ArchiveFiles files;
  private final ArchiveLog.LogFile header;
  private final StorageFile file;
  private long offset = ArchiveLayout.SECTOR;

  private ArchiveWriter(ArchiveFiles files, ArchiveLog.LogFile header, StorageFile file) {
    this.files = files;
    this.header = header;
    this.file = file;
  }

  /**
   * Makes a file, which is durable with its header and name on return.
   *
   * @param made receives the number when the file is there, even if a later step fails: then it has
   *     the life of its writer, who must know it as its own (A6)
   * @throws FileException if a file of its number is there
   */
  static ArchiveWriter create(
      ArchiveFiles files,
      byte[] databaseId,
      long number,
      long from,
      int life,
      boolean begins,
      LongConsumer made) {
    Path path = files.log(number);
    StorageFile file =
        StorageFile.open(path, OpenMode.CREATE_NEW, /* ownerOnly= */ true, files.statistics());
    try {
      made.accept(number);
      ArchiveLog.LogFile header = new ArchiveLog.LogFile(number, path, from, life, begins);
      file.write(0, MemorySegment.ofArray(ArchiveLog.header(header, databaseId)));
      file.force();
      files.force();
      return new ArchiveWriter(files, header, file);
    } catch (Throwable failed) {
      try {
        file.close();
      } catch (FileException second) {
        failed.addSuppressed(second);
      }
      throw failed;
    }
  }

  long number() {
    return header.number();
  }

  boolean isFull() {
    return offset > FULL;
  }

  /** Appends a block; durable on return. */
  void append(byte[] block) {
    if (!Directories.exists(header.path())) {
      throw files.gone();
    }
    if (Directories.exists(files.log(number() + 1))) {
      throw Foreign.of(
          files.directory(),
          "another process archives to it: it has made " + files.log(number() + 1).getFileName());
    }
    file.write(offset, MemorySegment.ofArray(block));
    file.force();
    offset += block.length;
  }

  @Override
  public void close() {
    file.close();
  }
}
