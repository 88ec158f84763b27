package org.revenantdb.engine.backup;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.log.LogCopy;
import org.revenantdb.recovery.log.LogTarget;
import org.revenantdb.recovery.log.SegmentInfo;

/**
 * A backup as the entries of a stream; subclasses decide where the entries go.
 *
 * <p>Threads: that of the backup.
 */
abstract class EntryOutput implements BackupOutput, LogTarget {
  private static final int ROOM =
      StreamLayout.BLOCK
          + StreamLayout.padded(StreamLayout.MAX_CONTENT)
          + StreamLayout.ZERO_BLOCKS * StreamLayout.BLOCK;

  private byte[] filling = newArray();
  private byte[] id = new byte[0];
  private boolean isWhole = true;
  private long number;
  private int next = SpaceMapPage.POSITION;
  private final CRC32C crcs = new CRC32C();

  static byte[] newArray() {
    return new byte[ROOM];
  }

  /**
   * Takes an entry.
   *
   * @param entry an array from {@link #newArray}, with header, content and what follows
   * @param length bytes of it
   * @return an array for the next entry; null if the log was needed before the entry was taken:
   *     then it is missing
   */
  abstract byte @Nullable [] take(byte[] entry, int length);

  @Override
  public void begin(Start start, LogCopy copy) {
    id = start.id();
    ByteBuffer entry = entry();
    entry.putLong(at(StreamLayout.MAGIC), StreamLayout.MAGIC_VALUE);
    entry.putInt(at(StreamLayout.VERSION), StreamLayout.CURRENT_VERSION);
    entry.putInt(at(StreamLayout.PAGE_SIZE), Page.SIZE);
    entry.putInt(at(StreamLayout.SEGMENT_SIZE), start.segmentSize());
    entry.putInt(at(StreamLayout.LIFE), start.life());
    entry.putLong(at(StreamLayout.CREATED), start.createdMillis());
    entry.putLong(at(StreamLayout.REDO_POINT), start.redoPoint());
    Base base = start.base();
    isWhole = base == null;
    entry.put(at(StreamLayout.BASE_ID), base == null ? new byte[StreamLayout.ID_SIZE] : base.id());
    entry.putLong(at(StreamLayout.BASE_POSITION), base == null ? 0 : base.endOfLog());
    copy.begin(start.redoPoint(), this);
    handOver(StreamLayout.MANIFEST, StreamLayout.MANIFEST_SIZE, /* behind= */ 0);
  }

  private static int at(int offset) {
    return StreamLayout.BLOCK + offset;
  }

  private ByteBuffer entry() {
    return StreamLayout.littleEndian(filling);
  }

  @Override
  public void pages(int first, MemorySegment pages) {
    int bytes = (int) pages.byteSize();
    MemorySegment.copy(
        pages, ValueLayout.JAVA_BYTE, 0, filling, at(StreamLayout.PAGE_BYTES), bytes);
    handOverPages(first, bytes / Page.SIZE);
  }

  @Override
  public void changed(int[] ids, int count, MemorySegment pages) {
    ByteBuffer entry = entry();
    entry.putInt(at(StreamLayout.CHANGED_COUNT), count);
    entry.putInt(at(StreamLayout.CHANGED_RESERVED), 0);
    entry.position(at(StreamLayout.CHANGED_IDS));
    for (int i = 0; i < count; i++) {
      entry.putInt(ids[i]);
    }
    int bytes = (int) pages.byteSize();
    MemorySegment.copy(pages, ValueLayout.JAVA_BYTE, 0, filling, entry.position(), bytes);
    handOver(StreamLayout.CHANGED, entry.position() + bytes - StreamLayout.BLOCK, /* behind= */ 0);
  }

  private void handOverPages(int first, int count) {
    ByteBuffer entry = entry();
    entry.putInt(at(StreamLayout.FIRST_PAGE), first);
    entry.putInt(at(StreamLayout.PAGE_COUNT), count);
    next = first + count;
    handOver(StreamLayout.PAGES, StreamLayout.PAGE_BYTES + count * Page.SIZE, /* behind= */ 0);
  }

  @Override
  public boolean write(long start, byte[] bytes, int offset, int length, Headers headers) {
    List<SegmentInfo> segments = headers.of(start, length);
    if (segments.isEmpty()) {
      return false;
    }
    ByteBuffer entry = entry();
    entry.putLong(at(StreamLayout.LOG_FROM), start);
    entry.putInt(at(StreamLayout.LOG_LENGTH), length);
    entry.putInt(at(StreamLayout.SEGMENT_COUNT), segments.size());
    entry.position(at(StreamLayout.SEGMENTS));
    segments.forEach(segment -> put(entry, segment));
    entry.put(bytes, offset, length);
    return handOver(StreamLayout.LOG, entry.position() - StreamLayout.BLOCK, /* behind= */ 0);
  }

  private static void put(ByteBuffer to, SegmentInfo segment) {
    to.putLong(segment.begin());
    to.putInt(segment.size());
    to.putInt(segment.life());
    to.putLong(segment.firstLsn());
    to.putLong(segment.formerEnd());
    to.putLong(segment.durable());
    to.putInt(segment.buffer());
  }

  @Override
  public void finish() {}

  @Override
  public void close() {}

  @Override
  public void end(ControlState state, long logBytes) {
    while (isWhole
        && next < state.highWaterPages()) { // the file has grown behind the last page read
      int count = (int) Math.min(PageCopy.AT_ONCE, state.highWaterPages() - next);
      int from = at(StreamLayout.PAGE_BYTES);
      Arrays.fill(filling, from, from + count * Page.SIZE, (byte) 0);
      handOverPages(next, count);
    }
    ByteBuffer entry = entry();
    entry.putLong(at(StreamLayout.END_ANALYSIS), state.analysisPoint());
    entry.putLong(at(StreamLayout.END_CHECKPOINT), state.checkpointLsn());
    entry.putLong(at(StreamLayout.END_OF_LOG), state.durableLsn());
    entry.putLong(at(StreamLayout.END_PAGES), state.highWaterPages());
    entry.putLong(at(StreamLayout.END_LOG_BYTES), logBytes);
    entry.putInt(at(StreamLayout.END_CRCS), (int) crcs.getValue());
    entry.putInt(at(StreamLayout.END_RESERVED), 0);
  }

  /** Hands over the last entry. */
  final void handOverEnd() {
    handOver(
        StreamLayout.END, StreamLayout.END_SIZE, StreamLayout.ZERO_BLOCKS * StreamLayout.BLOCK);
  }

  /** Hands an entry over; false if the log was needed before. */
  private boolean handOver(int kind, int size, int behind) {
    ByteBuffer entry = entry();
    entry.putInt(at(StreamLayout.KIND), kind);
    entry.putLong(at(StreamLayout.NUMBER), number++);
    entry.put(at(StreamLayout.ID), id);
    int crc = StreamLayout.crc(filling, StreamLayout.BLOCK, size);
    entry.putInt(at(StreamLayout.CRC), crc);
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      crcs.update(crc >>> shift);
    }
    String name = StreamLayout.name(entry, StreamLayout.BLOCK);
    StreamLayout.putHeader(filling, 0, name, size);
    int end = StreamLayout.BLOCK + StreamLayout.padded(size) + behind;
    Arrays.fill(filling, StreamLayout.BLOCK + size, end, (byte) 0);
    byte[] free = take(filling, end);
    if (free == null) {
      return false;
    }
    filling = free;
    return true;
  }
}
