package org.revenantdb.engine.backup;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.log.LogCopy;
import org.revenantdb.recovery.log.LogTarget;
import org.revenantdb.recovery.log.SegmentInfo;

/**
 * A backup to a stream of the caller.
 *
 * <p>Threads: that of the backup makes the entries, and the caller's thread writes them to its
 * stream. So a stream that blocks neither holds the log nor delays the close of the database.
 */
final class StreamOutput implements BackupOutput, LogTarget {
  /*
   * State       ready == 0   the thread of the backup may hand over `filling`; `carried` is not used
   *             ready > 0    the caller writes the first `ready` bytes of `carried`
   *
   * Transitions 0 -> n       by the thread of the backup; before that it exchanges the arrays
   *             n -> 0       by the caller, after the write
   *
   * A wait of the thread of the backup ends when the backup is stopped, or the hold of its log is broken. An entry that
   * was not handed over for the second reason is missing, and the next look at the log ends the backup.
   */
  private static final long LOOK_EVERY = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int ROOM =
      StreamLayout.BLOCK
          + StreamLayout.padded(StreamLayout.MAX_CONTENT)
          + StreamLayout.ZERO_BLOCKS * StreamLayout.BLOCK;

  private final OutputStream to;
  private final Thread caller = Thread.currentThread();

  private byte[] filling = new byte[ROOM];
  private byte[] carried = new byte[ROOM];

  /** Written by both threads, see above. */
  private volatile int ready;

  private volatile @Nullable Thread maker;
  private Runnable goOn = () -> {};
  private @Nullable LogCopy log;
  private byte[] id = new byte[0];
  private long number;
  private int next = SpaceMapPage.POSITION;
  private final CRC32C crcs = new CRC32C();

  StreamOutput(OutputStream to) {
    this.to = to;
  }

  @Override
  public String name() {
    return "a stream";
  }

  @Override
  public @Nullable Path directory() {
    return null;
  }

  @Override
  public void make(BackupSource source, Runnable whileWaiting) {
    goOn = whileWaiting;
    maker = Thread.currentThread();
  }

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
    entry.put(at(StreamLayout.BASE_ID), new byte[StreamLayout.ID_SIZE]); // whole: no base
    entry.putLong(at(StreamLayout.BASE_POSITION), 0);
    log = copy;
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
  public void finish() {
    log = null; // it was copied up to its end: its hold may break
  }

  @Override
  public void close() {}

  @Override
  public void settle() {} // the other end decides what is forced

  @Override
  public void end(ControlState state, long logBytes) {
    while (next < state.highWaterPages()) { // the file has grown behind the last page read
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

  @Override
  public void complete() {
    handOver(
        StreamLayout.END, StreamLayout.END_SIZE, StreamLayout.ZERO_BLOCKS * StreamLayout.BLOCK);
    awaitCarried();
  }

  @Override
  public void remove(Throwable failed) {} // without its last entry it is no backup

  /** Hands an entry over to the caller; false if the log was needed before. */
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
    if (!awaitCarried()) {
      return false;
    }
    byte[] full = filling;
    filling = carried;
    carried = full;
    ready = end;
    Parking.unpark(caller);
    return true;
  }

  /**
   * Waits until the caller has written what was handed over; false if the log was needed before.
   */
  private boolean awaitCarried() {
    while (ready > 0) {
      goOn.run();
      LogCopy held = log;
      if (held != null && held.isBroken()) {
        return false;
      }
      Parking.parkNanos(this, LOOK_EVERY);
    }
    return true;
  }

  @Override
  public boolean carry() throws IOException {
    int length = ready;
    if (length == 0) {
      return false;
    }
    to.write(carried, 0, length);
    ready = 0;
    Parking.unpark(Objects.requireNonNull(maker));
    return true;
  }

  @Override
  public void flush() throws IOException {
    to.flush();
  }
}
