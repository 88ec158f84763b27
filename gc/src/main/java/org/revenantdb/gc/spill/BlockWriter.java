package org.revenantdb.gc.spill;

import java.util.Arrays;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * Collects entries in blocks, and appends the blocks to a file, several at a time. For one thread.
 */
final class BlockWriter {
  /** The bytes of blocks that are collected before they are written. */
  private static final int GATHERED = 1 << 16;

  private final SpillFile file;
  private byte[] bytes = new byte[GATHERED + 2 * SpillLayout.FULL_BLOCK];

  /** Where the current block begins; -1 if there is none. */
  private int block = -1;

  private int used;
  private int entries;

  BlockWriter(SpillFile file) {
    this.file = file;
  }

  /** The position in the file of the next block, if no block has been begun. */
  long position() {
    return file.end() + used;
  }

  /** Whether the current block has reached its full size. */
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

  /** Ends the current block, if there is one. It may then be written. */
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

  /** Ends the last block and writes the collected blocks. */
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
