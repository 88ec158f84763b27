package org.revenantdb.recovery.restart;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.log.FlushedPages;
import org.revenantdb.recovery.log.ForgottenIds;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogOptions;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.CrashDisk;

/** Logs of small segments on a disk in memory, and the results of their restarts. */
final class LogFixture {
  static final int SEGMENT = 1 << 13;
  static final int PAYLOAD = SEGMENT - 4096;
  static final int BUFFER = 1 << 13;
  static final byte[] ID = TinyEngine.ID;

  private LogFixture() {}

  static LogOptions options() {
    return new LogOptions(SEGMENT, BUFFER, 1 << 20, "fixture", new IoStatistics());
  }

  /** Content that differs from a lost sector. */
  static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) 0x5A);
    return bytes;
  }

  static Path directory(CrashDisk disk) {
    return disk.path("/db/log");
  }

  static Log create(CrashDisk disk) {
    return Restart.createFirst(directory(disk), ID, options());
  }

  /** The control slot of a new database. */
  static ControlState firstState() {
    return state(PAYLOAD, PAYLOAD, 0, PAYLOAD, 1);
  }

  /** The same, written by a later life before it did anything else. */
  static ControlState firstStateOf(int life) {
    return state(PAYLOAD, PAYLOAD, 0, PAYLOAD, life);
  }

  static ControlState state(long analysis, long redo, long checkpoint, long durable, int life) {
    return new ControlState(0, analysis, redo, checkpoint, durable, life, false, 0, 10);
  }

  static Restart analyse(CrashDisk disk, ControlState state) {
    return Restart.analyse(
        directory(disk),
        ID,
        SEGMENT,
        state,
        PageRange.ANY,
        new IoStatistics(),
        RestartProgress.NONE);
  }

  /** Publishes a change of a page, as long as its content. */
  static long change(Log log, long transaction, int page, byte[] content) {
    return part(log, transaction, page, PartKind.CHANGE, content);
  }

  static long part(Log log, long transaction, int page, PartKind kind, byte[] content) {
    RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, transaction);
    record.beginPart(page, kind);
    record.putBytes(content, 0, content.length);
    record.endPart();
    return log.publish(record);
  }

  static long mark(Log log, RecordType type, long transaction) {
    return log.publish(new RecordBuilder().begin(type, transaction));
  }

  static long forget(Log log, long... ids) {
    return log.publish(ForgottenIds.build(new RecordBuilder(), ids));
  }

  /** Publishes FLUSHED: the data file has a page with all changes up to an LSN. */
  static long flushed(Log log, int page, long lsn) {
    return log.publish(
        FlushedPages.build(new RecordBuilder(), 1, new int[] {page}, new long[] {lsn}));
  }

  /** Hands out the parts of all pages, page by page in ascending order. */
  static void replay(Restart restart, RedoTarget target) {
    for (int page : restart.pending().pages()) {
      restart.pending().replay(page, /* fromFiles= */ true, target);
    }
  }

  /** What redo hands out: "page/kind@lsn". */
  static List<String> redone(Restart restart) {
    List<String> parts = new ArrayList<>();
    replay(
        restart,
        (page, lsn, kind, record, offset, length) -> parts.add(page + "/" + kind + "@" + lsn));
    return parts;
  }

  /** The pages that redo hands out, in order. */
  static List<Integer> pages(Restart restart) {
    List<Integer> pages = new ArrayList<>();
    replay(restart, (page, lsn, kind, record, offset, length) -> pages.add(page));
    return pages;
  }

  /** Segments are of one size here; the first one is number 1. */
  static long number(long lsn) {
    return lsn / PAYLOAD;
  }

  static long firstLsn(long number) {
    return number * PAYLOAD;
  }

  static long offset(long lsn) {
    return SEGMENT - PAYLOAD + lsn % PAYLOAD;
  }

  static String segment(long number) {
    return String.format("/db/log/%016x.log", firstLsn(number));
  }
}
