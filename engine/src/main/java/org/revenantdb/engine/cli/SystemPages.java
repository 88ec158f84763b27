package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Instant;
import java.util.HexFormat;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.format.FileHeaderLayout;

/** The file header and the control slots, field by field. */
final class SystemPages {
  private SystemPages() {}

  static void fileHeader(PrintWriter out, MemorySegment page) {
    out.println("magic       " + magic(FileHeaderLayout.magic(page)));
    out.println("version     " + Integer.toUnsignedString(FileHeaderLayout.version(page)));
    out.println("page size   " + Integer.toUnsignedString(FileHeaderLayout.pageSize(page)));
    out.println("database    " + hex(FileHeaderLayout.databaseId(page)));
    out.println("segments of " + Integer.toUnsignedString(FileHeaderLayout.segmentSize(page)));
    out.println("created     " + Instant.ofEpochMilli(FileHeaderLayout.created(page)));
  }

  static void controlSlot(PrintWriter out, MemorySegment page) {
    out.println("magic       " + magic(ControlSlotLayout.magic(page)));
    out.println("sequence    " + number(ControlSlotLayout.sequence(page)));
    out.println("analysis    " + number(ControlSlotLayout.analysisPoint(page)));
    out.println("redo point  " + number(ControlSlotLayout.redoPoint(page)));
    out.println("checkpoint  " + number(ControlSlotLayout.checkpointLsn(page)));
    out.println("durable LSN " + number(ControlSlotLayout.durableLsn(page)));
    out.println("life        " + Integer.toUnsignedString(ControlSlotLayout.life(page)));
    out.println(
        "closed      "
            + (ControlSlotLayout.clean(page) == 1
                ? "cleanly, the log ends at " + number(ControlSlotLayout.endOfLog(page))
                : "no"));
    out.println("pages       " + number(ControlSlotLayout.highWaterPages(page)));
  }

  static String hex(MemorySegment bytes) {
    return HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
  }

  /** Eight letters, the first one in the lowest byte. */
  static String magic(long value) {
    byte[] letters = new byte[Long.BYTES];
    for (int i = 0; i < letters.length; i++) {
      letters[i] = (byte) (value >>> (8 * i));
    }
    return Shown.bytes(letters);
  }

  private static String number(long value) {
    return Long.toUnsignedString(value);
  }
}
