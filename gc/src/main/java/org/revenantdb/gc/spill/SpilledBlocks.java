package org.revenantdb.gc.spill;

import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * A spill file of rows that are being sorted: blocks, whose content and places the caller knows.
 *
 * <p>A block in an array begins with {@link #HEADER} bytes, which {@link #seal} fills.
 *
 * <p>For one thread at a time; threads of the engine do the work. {@link #delete} may follow the
 * end of the database. Failure: a {@link FileException}.
 */
public final class SpilledBlocks {
  /** Bytes of a block before its content. */
  public static final int HEADER = SpillLayout.BLOCK_HEADER;

  private final SpillFiles files;
  private final SpillFile file;

  private SpilledBlocks(SpillFiles files, SpillFile file) {
    this.files = files;
    this.file = file;
  }

  /** Makes an empty file. */
  public static SpilledBlocks create(SpillFiles files) {
    return files.call(() -> new SpilledBlocks(files, files.create(SpillFiles.Kind.SORTED)));
  }

  /** Where the next block goes. */
  public long end() {
    return file.end();
  }

  /**
   * Fills the header of a block.
   *
   * @param bytes the array that has the block
   * @param at where the block begins in the array
   * @param length bytes of the block, its header included
   * @param position where it will begin in the file
   * @param entries how many entries it has
   */
  public void seal(byte[] bytes, int at, int length, long position, int entries) {
    LittleEndian.putInt(bytes, at + SpillLayout.BLOCK_LENGTH, length);
    LittleEndian.putLong(bytes, at + SpillLayout.BLOCK_POSITION, position);
    LittleEndian.putInt(bytes, at + SpillLayout.BLOCK_ENTRIES, entries);
    LittleEndian.putInt(bytes, at + SpillLayout.BLOCK_FILE, file.number());
    SpillLayout.seal(bytes, at, length);
  }

  /** Appends sealed blocks. A failure leaves the file as it was, but perhaps longer. */
  public void append(byte[] blocks, int length) {
    files.call(() -> {
      file.append(blocks, length);
      return file;
    });
  }

  /**
   * Reads whole blocks into the beginning of an array, and checks them.
   *
   * @throws DamagedFileException if they are not what was written there
   */
  public void read(long position, byte[] into, int length) {
    files.call(() -> {
      file.read(position, into, length);
      return file;
    });
  }

  /**
   * Cuts the file at a position, and gives the space behind it back where that is possible. May
   * follow {@link #delete}, and does not fail: it is called after a failure.
   */
  @SuppressWarnings("EmptyCatch")
  public void cut(long position) {
    file.cut(position);
    try {
      files.call(() -> {
        file.truncate(position);
        return file;
      });
    } catch (FileException | OutOfMemoryError stays) {
      // The next block is written over it.
    }
  }

  /** Deletes the file; no effect if it is deleted. */
  @SuppressWarnings("EmptyCatch")
  public void delete() {
    try {
      files.call(() -> {
        files.delete(file);
        return file;
      });
    } catch (OutOfMemoryError noThread) {
      // It is deleted with the others when the database is closed.
    }
  }

  /** The file, for messages. */
  @Override
  public String toString() {
    return file.path().toString();
  }
}
