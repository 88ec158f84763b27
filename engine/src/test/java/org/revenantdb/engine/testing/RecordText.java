package org.revenantdb.engine.testing;

import java.util.ArrayList;
import java.util.List;
import org.revenantdb.recovery.format.LittleEndian;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordType;

/** A log record in words: the message of a failure shows after which record the log ended. */
final class RecordText {
  /** By code. */
  private static final String[] OPERATIONS = {
    "?",
    "IMAGE",
    "CELL_INSERT",
    "CELL_REPLACE",
    "CELL_REMOVE",
    "KEEP_LEFT",
    "BYTES",
    "ROW_UPDATE",
    "ROW_SETTLE",
    "ROW_REVERT",
    "BITS",
    "VALUE_PUT",
    "VALUE_TAKE",
    "ROW_CHANGE"
  };

  private static final List<String> WITHOUT_BYTES =
      List.of("CELL_REMOVE", "ROW_SETTLE", "ROW_REVERT", "VALUE_TAKE");

  private RecordText() {}

  static String of(MemoryJournal.Entry entry) {
    RecordType type = RecordType.of(entry.bytes()[LogRecordLayout.TYPE]);
    String text = type + " of " + entry.transaction() + " at " + entry.lsn();
    if (type != RecordType.PAGES) {
      return text;
    }
    List<String> parts = new ArrayList<>();
    for (Replay.Part part : Replay.parts(entry)) {
      parts.add(part.page() + ": " + operations(part));
    }
    return text + " " + parts;
  }

  private static String operations(Replay.Part part) {
    if (part.kind() == PartKind.FREE) {
      return "FREE";
    }
    List<String> operations = new ArrayList<>();
    byte[] bytes = part.record();
    int end = part.offset() + part.length();
    for (int at = part.offset(); at < end; ) {
      String name = OPERATIONS[bytes[at]];
      operations.add(name);
      int first = LittleEndian.getShort(bytes, at + 1);
      at += 3;
      if (!WITHOUT_BYTES.contains(name)) {
        at += 2 + LittleEndian.getShort(bytes, at) + (name.equals("IMAGE") ? first : 0);
      }
    }
    return (part.kind() == PartKind.FORMAT ? "FORMAT " : "") + String.join(" ", operations);
  }
}
