package org.revenantdb.engine.archive;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.LogPiece;
import org.revenantdb.recovery.log.SegmentInfo;

/**
 * A block of an archive: a piece of the log, and the marks in it.
 *
 * @param piece the records
 * @param marks in the order of their positions, none above the end of the piece
 * @param offset where in its file it begins
 * @param length its bytes
 */
record ArchiveBlock(LogPiece piece, List<Mark> marks, int offset, int length) {
  /**
   * A moment.
   *
   * @param lsn the log was durable up to here
   * @param millis at this time, or before
   */
  record Mark(long lsn, long millis) {}

  private static final int MOST_ENTRIES = 1 << 20;

  /** The bytes of a block. */
  static byte[] bytes(LogPiece piece, List<Mark> marks) {
    int length =
        ArchiveLayout.BLOCK_HEADER
            + marks.size() * ArchiveLayout.MARK
            + piece.segments().size() * ArchiveLayout.SEGMENT
            + piece.records().length;
    ByteBuffer block = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    block.putInt(0).putInt(length).putLong(ArchiveLayout.BLOCK_MAGIC);
    block.putLong(piece.from()).putLong(piece.to()).putInt(piece.life());
    block.putInt(marks.size()).putInt(piece.segments().size()).putInt(0);
    for (Mark mark : marks) {
      block.putLong(mark.lsn()).putLong(mark.millis());
    }
    for (SegmentInfo one : piece.segments()) {
      block.putLong(one.begin()).putInt(one.size()).putInt(one.life()).putLong(one.firstLsn());
      block.putLong(one.formerEnd()).putLong(one.durable()).putInt(one.buffer()).putInt(0);
    }
    block.put(piece.records());
    block.putInt(0, ArchiveLayout.crc(block.array(), 4, length - 4));
    return block.array();
  }

  /** The block at an offset of a file; null if there is no good one. */
  static @Nullable ArchiveBlock read(byte[] file, int offset, int segmentSize) {
    if (offset + ArchiveLayout.BLOCK_HEADER > file.length) {
      return null;
    }
    ByteBuffer block = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).position(offset);
    int crc = block.getInt();
    int length = block.getInt();
    if (block.getLong() != ArchiveLayout.BLOCK_MAGIC
        || length < ArchiveLayout.BLOCK_HEADER
        || length > file.length - offset
        || crc != ArchiveLayout.crc(file, offset + 4, length - 4)) {
      return null;
    }
    long from = block.getLong();
    long to = block.getLong();
    int life = block.getInt();
    int marks = block.getInt();
    int segments = block.getInt();
    block.getInt();
    if (marks < 0 || marks > MOST_ENTRIES || segments < 0 || segments > MOST_ENTRIES) {
      return null;
    }
    long records =
        length
            - ArchiveLayout.BLOCK_HEADER
            - (long) marks * ArchiveLayout.MARK
            - (long) segments * ArchiveLayout.SEGMENT;
    if (records != to - from || records < LogRecordLayout.HEADER || life < 1) {
      return null;
    }
    List<Mark> moments = new ArrayList<>();
    for (int i = 0; i < marks; i++) {
      moments.add(new Mark(block.getLong(), block.getLong()));
    }
    List<SegmentInfo> infos = new ArrayList<>();
    for (int i = 0; i < segments; i++) {
      SegmentInfo info =
          new SegmentInfo(
              block.getLong(),
              block.getInt(),
              block.getInt(),
              block.getLong(),
              block.getLong(),
              block.getLong(),
              block.getInt());
      block.getInt();
      infos.add(info);
    }
    if (!areLegal(infos, from, to, life, segmentSize)) {
      return null;
    }
    byte[] bytes = Arrays.copyOfRange(file, offset + length - (int) records, offset + length);
    return new ArchiveBlock(new LogPiece(from, to, life, infos, bytes), moments, offset, length);
  }

  /** Whether the segments hold all positions. */
  private static boolean areLegal(
      List<SegmentInfo> segments, long from, long to, int life, int segmentSize) {
    if (segments.isEmpty() || segments.getFirst().begin() > from) {
      return false;
    }
    long at = segments.getFirst().begin();
    for (SegmentInfo one : segments) {
      if (!one.isLegal(segmentSize) || one.life() != life || one.begin() != at) {
        return false;
      }
      at = one.end();
    }
    return at >= to;
  }

  /** Whether a life begins with it that followed one which ended at a position. */
  boolean beginsLifeAfter(long formerEnd) {
    SegmentInfo first = piece.segments().getFirst();
    return first.firstLsn() == piece.from() && first.formerEnd() == formerEnd;
  }

  int end() {
    return offset + length;
  }
}
