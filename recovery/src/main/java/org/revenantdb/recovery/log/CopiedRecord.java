package org.revenantdb.recovery.log;

import java.util.zip.CRC32C;
import org.revenantdb.recovery.checkpoint.CheckpointImage;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;

/** Takes from a record what it says of the files of the original (docs/protocols.md §47, §49). */
final class CopiedRecord {
  /** No data file has it, so a restart ignores what is noted about it. */
  private static final int NO_PAGE = 0xFFFFFFFF;

  private CopiedRecord() {}

  /**
   * Changes a record in place, without changing its length.
   *
   * @param bytes has the record
   * @param at where it begins
   * @param length its length
   * @param crc used for its checksum
   */
  static void clean(byte[] bytes, int at, int length, CRC32C crc) {
    int type = bytes[at + LogRecordLayout.TYPE];
    if (type == RecordType.FLUSHED.code()) {
      bytes[at + LogRecordLayout.TYPE] = (byte) RecordType.PAD.code();
    } else if (type == RecordType.CHECKPOINT.code()) {
      forgetRefused(bytes, at);
    }
    LittleEndian.putShort(bytes, at + LogRecordLayout.AHEAD, 0);
    crc.reset();
    crc.update(bytes, at + LogRecordLayout.LSN, length - LogRecordLayout.LSN);
    LittleEndian.putInt(bytes, at + LogRecordLayout.CRC, (int) crc.getValue());
  }

  /** The record keeps its length, so the entries stay, and are about no page. */
  private static void forgetRefused(byte[] bytes, int at) {
    int ids =
        LittleEndian.getInt(bytes, at + CheckpointImage.WRITING)
            + LittleEndian.getInt(bytes, at + CheckpointImage.PREPARED)
            + LittleEndian.getInt(bytes, at + CheckpointImage.ABORTED);
    int count = LittleEndian.getInt(bytes, at + CheckpointImage.REFUSED);
    int entry = at + CheckpointImage.IDS + ids * Long.BYTES;
    for (int i = 0; i < count; i++) {
      LittleEndian.putInt(bytes, entry, NO_PAGE);
      LittleEndian.putLong(bytes, entry + Integer.BYTES, 0);
      entry += CheckpointImage.REFUSED_ENTRY;
    }
  }
}
