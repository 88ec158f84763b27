package org.revenantdb.gc.spill;

import java.util.Arrays;
import org.revenantdb.recovery.format.LittleEndian;

/** Puts entries into blocks and these at the end of a file, some at a time. One thread. */
final class BlockWriter {
  /** So many bytes of blocks are gathered before they are written. */
  private static final int GATHERED = 1 << 16;

  private final SpillFile file;
  private byte[] bytes = new byte[GATHERED + 2 * SpillLayout.FULL_BLOCK];

  /** Of the block that has been begun; -1 if none has. */
  private int block = -1;

  private int used;
  private int entries;

  BlockWriter(SpillFile file) {
    this.file = file;
  }

  /** Where in the file the next block begins, when none has been begun. */
  long position() {
    return file.end() + used;
  }

  /** Whether what was begun has its size. */
  boolean isFull() {
    return block >= 0 && used - block >= SpillLayout.FULL_BLOCK;
  }

  /** Adds an entry to the block. */
  void add(SpilledVersion version) {
    byte[] row = version.row();
    byte[] value = version.value();
    int length = SpillLayout.ENTRY_HEADER + row.length + value.length;
    int most = used + SpillLayout.BLOCK_HEADER + length;
    if (most > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(most, 2 * bytes.length));
    }
    if (block < 0) {
      block = used;
      used += SpillLayout.BLOCK_HEADER;
    }
    LittleEndian.putLong(bytes, used + SpillLayout.COMMITTED, version.committedAt());
    LittleEndian.putLong(bytes, used + SpillLayout.SUPERSEDED, version.supersededAt());
    LittleEndian.putShort(bytes, used + SpillLayout.ROW_LENGTH, row.length);
    LittleEndian.putShort(bytes, used + SpillLayout.VALUE_LENGTH, value.length);
    LittleEndian.putShort(bytes, used + SpillLayout.FLAGS, version.flags());
    int at = used + SpillLayout.ENTRY_HEADER;
    System.arraycopy(row, 0, bytes, at, row.length);
    System.arraycopy(value, 0, bytes, at + row.length, value.length);
    used += length;
    entries++;
  }

  /** Ends the block that was begun, if one was; it may be written. */
  void endBlock() {
    if (block < 0) {
      return;
    }
    LittleEndian.putInt(bytes, block + SpillLayout.BLOCK_LENGTH, used - block);
    LittleEndian.putLong(bytes, block + SpillLayout.BLOCK_POSITION, file.end() + block);
    LittleEndian.putInt(bytes, block + SpillLayout.BLOCK_ENTRIES, entries);
    LittleEndian.putInt(bytes, block + SpillLayout.BLOCK_FILE, file.number());
    SpillLayout.seal(bytes, block, used - block);
    block = -1;
    entries = 0;
    if (used >= GATHERED) {
      write();
    }
  }

  /** Ends the last block and writes what was gathered. */
  void finish() {
    endBlock();
    if (used > 0) {
      write();
    }
  }

  private void write() {
    file.append(bytes, used);
    used = 0;
  }
}
