package org.revenantdb.suite.fuzz;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.revenantdb.recovery.format.ControlSlotLayout;
import org.revenantdb.recovery.format.DoubleWriteLayout;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;
import org.revenantdb.suite.fuzz.Field.Kind;

/** The fields of everything that has a checksum; format.md explains them. */
final class Fields {

  static final int SPACE_MAP = 2;
  static final int LEAF = 3;
  static final int INNER = 4;
  static final int HEAD = 5;
  static final int INDEX = 6;
  static final int DATA = 7;
  static final int GAM = 8;
  static final int IAM = 9;
  static final int SHARED = 10;

  private static final int PAGE = PageHeaderLayout.PAGE_SIZE;
  private static final int BODY = 64;

  private Fields() {}

  static List<Field> header() {
    return List.of(
        new Field("page id", 4, 4, Kind.PAGE),
        new Field("magic", 8, 8, Kind.NUMBER),
        new Field("version", 16, 4, Kind.CODE),
        new Field("page size", 20, 4, Kind.COUNT),
        new Field("database id", 24, 8, Kind.NUMBER),
        new Field("segment size", 40, 4, Kind.COUNT),
        new Field("reserved", 44, 4, Kind.NUMBER),
        new Field("created", 48, 8, Kind.NUMBER));
  }

  static List<Field> control() {
    return List.of(
        new Field("page id", 4, 4, Kind.PAGE),
        new Field("magic", ControlSlotLayout.MAGIC, 8, Kind.NUMBER),
        new Field("sequence", ControlSlotLayout.SEQUENCE, 8, Kind.NUMBER),
        new Field("analysis", ControlSlotLayout.ANALYSIS_POINT, 8, Kind.LSN),
        new Field("redo", ControlSlotLayout.REDO_POINT, 8, Kind.LSN),
        new Field("checkpoint", ControlSlotLayout.CHECKPOINT_LSN, 8, Kind.LSN),
        new Field("durable", ControlSlotLayout.DURABLE_LSN, 8, Kind.LSN),
        new Field("life", ControlSlotLayout.LIFE, 4, Kind.COUNT),
        new Field("clean", ControlSlotLayout.CLEAN, 4, Kind.CODE),
        new Field("end of log", ControlSlotLayout.END_OF_LOG, 8, Kind.LSN),
        new Field("size in pages", ControlSlotLayout.HIGH_WATER_PAGES, 8, Kind.COUNT));
  }

  static List<Field> doubleWrite(int images) {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("version", DoubleWriteLayout.VERSION, 4, Kind.CODE));
    fields.add(new Field("magic", DoubleWriteLayout.MAGIC, 8, Kind.NUMBER));
    fields.add(new Field("database id", DoubleWriteLayout.DATABASE_ID, 8, Kind.NUMBER));
    fields.add(new Field("batch", DoubleWriteLayout.BATCH, 8, Kind.NUMBER));
    fields.add(new Field("forced", DoubleWriteLayout.HIGHEST_FORCED, 8, Kind.NUMBER));
    fields.add(new Field("pages", DoubleWriteLayout.PAGES, 4, Kind.COUNT));
    for (int i = 0; i <= images && i < DoubleWriteLayout.MAX_PAGES; i++) {
      int at = DoubleWriteLayout.ENTRIES + i * DoubleWriteLayout.ENTRY_SIZE;
      fields.add(new Field("page " + i, at, 4, Kind.PAGE));
      fields.add(new Field("crc " + i, at + 4, 4, Kind.NUMBER));
    }
    return fields;
  }

  static List<Field> segment() {
    return List.of(
        new Field("version", SegmentLayout.VERSION, 4, Kind.CODE),
        new Field("magic", SegmentLayout.MAGIC, 8, Kind.NUMBER),
        new Field("database id", SegmentLayout.DATABASE_ID, 8, Kind.NUMBER),
        new Field("begin", SegmentLayout.BEGIN, 8, Kind.LSN),
        new Field("size", SegmentLayout.SIZE, 4, Kind.COUNT),
        new Field("life", SegmentLayout.LIFE, 4, Kind.COUNT),
        new Field("first", SegmentLayout.FIRST_LSN, 8, Kind.LSN),
        new Field("former end", SegmentLayout.FORMER_END, 8, Kind.LSN),
        new Field("sealed end", SegmentLayout.SEALED_END, 8, Kind.LSN),
        new Field("durable", SegmentLayout.DURABLE, 8, Kind.LSN),
        new Field("buffer", SegmentLayout.BUFFER, 4, Kind.COUNT),
        new Field("full size", SegmentLayout.FULL_SIZE, 4, Kind.COUNT));
  }

  /** The fields of a page, depending on its content. */
  static List<Field> page(byte[] page) {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("page id", 4, 4, Kind.PAGE));
    fields.add(new Field("lsn", 8, 8, Kind.LSN));
    fields.add(new Field("type", 16, 1, Kind.CODE));
    fields.add(new Field("flags", 17, 1, Kind.CODE));
    ByteBuffer numbers = DamagedDisk.little(page);
    switch (page[16]) {
      case LEAF, INNER -> tree(fields, numbers, /* leaf= */ page[16] == LEAF);
      case HEAD -> head(fields, numbers);
      case INDEX -> {
        owner(fields);
        fields.add(new Field("next index", 56, 4, Kind.PAGE));
        fields.add(new Field("ids", 60, 2, Kind.COUNT));
        ids(fields, numbers);
      }
      case DATA -> {
        owner(fields);
        fields.add(new Field("bytes", 60, 2, Kind.COUNT));
      }
      case IAM -> {
        fields.add(new Field("table", 20, 4, Kind.TABLE));
        fields.add(new Field("range", 24, 4, Kind.COUNT));
        fields.add(new Field("next", 28, 4, Kind.PAGE));
        map(fields);
      }
      case SPACE_MAP, GAM -> map(fields);
      case SHARED -> shared(fields, numbers);
      default -> {}
    }
    return fields;
  }

  private static void map(List<Field> fields) {
    for (int i = 0; i < 40; i++) {
      fields.add(new Field("entry " + i, BODY + i, 1, Kind.CODE));
    }
    fields.add(new Field("entries", BODY + 64, 8, Kind.NUMBER));
    fields.add(new Field("last entry", PAGE - 1, 1, Kind.CODE));
  }

  /** The owner of a page of a large value. */
  private static void owner(List<Field> fields) {
    fields.add(new Field("number", 24, 4, Kind.COUNT));
    fields.add(new Field("origin", 28, 4, Kind.PAGE));
    fields.add(new Field("writer", 32, 8, Kind.TRANSACTION));
  }

  private static void head(List<Field> fields, ByteBuffer page) {
    owner(fields);
    fields.add(new Field("superseder", 40, 8, Kind.TRANSACTION));
    fields.add(new Field("length", 48, 8, Kind.COUNT));
    fields.add(new Field("next index", 56, 4, Kind.PAGE));
    fields.add(new Field("ids", 60, 2, Kind.COUNT));
    fields.add(new Field("inline", 62, 2, Kind.COUNT));
    ids(fields, page);
  }

  private static void ids(List<Field> fields, ByteBuffer page) {
    int count = Math.clamp(page.getShort(60), 0, 12);
    for (int i = 0; i < count; i++) {
      fields.add(new Field("id " + i, PAGE - 4 * (i + 1), 4, Kind.PAGE));
    }
  }

  private static void shared(List<Field> fields, ByteBuffer page) {
    fields.add(new Field("slots", 18, 2, Kind.COUNT));
    fields.add(new Field("top", 20, 2, Kind.OFFSET));
    int count = Math.clamp(page.getShort(18), 0, 40);
    for (int i = 0; i < count; i++) {
      int at = 32 + 20 * i;
      fields.add(new Field("writer " + i, at, 8, Kind.TRANSACTION));
      fields.add(new Field("superseder " + i, at + 8, 8, Kind.TRANSACTION));
      fields.add(new Field("offset " + i, at + 16, 2, Kind.OFFSET));
      fields.add(new Field("length " + i, at + 18, 2, Kind.COUNT));
    }
  }

  private static void tree(List<Field> fields, ByteBuffer page, boolean leaf) {
    fields.add(new Field("slots", 18, 2, Kind.COUNT));
    fields.add(new Field("heap top", 20, 2, Kind.OFFSET));
    fields.add(new Field("garbage", 22, 2, Kind.COUNT));
    fields.add(new Field("garbage bits", 23, 1, Kind.CODE));
    if (leaf && (page.getShort(22) & 0x8000) != 0) {
      stack(fields, page);
    }
    fields.add(new Field("table", 24, 4, Kind.TABLE));
    fields.add(new Field("level", 28, 1, Kind.CODE));
    fields.add(new Field("prefix", 29, 1, Kind.COUNT));
    fields.add(new Field("skip", 30, 2, Kind.COUNT));
    fields.add(new Field("lower fence", 32, 2, Kind.OFFSET));
    fields.add(new Field("lower fence length", 34, 2, Kind.COUNT));
    fields.add(new Field("upper fence", 36, 2, Kind.OFFSET));
    fields.add(new Field("upper fence length", 38, 2, Kind.COUNT));
    fields.add(new Field("at 40", 40, leaf ? 8 : 4, leaf ? Kind.TRANSACTION : Kind.PAGE));
    fields.add(new Field("at 48", 48, 4, Kind.PAGE));
    fields.add(new Field("common", 52, 8, Kind.NUMBER));
    int count = Math.clamp(page.getShort(18), 0, 200);
    int stride = leaf ? 6 : 10;
    for (int i = 0; i < count; i++) {
      int slot = BODY + stride * i;
      fields.add(new Field("head " + i, slot, 4, Kind.NUMBER));
      fields.add(new Field("offset " + i, slot + 4, 2, Kind.OFFSET));
      int cell = page.getShort(slot + 4) & 0xFFFF;
      if (!leaf) {
        fields.add(new Field("child " + i, slot + 6, 4, Kind.PAGE));
        if (cell + 6 <= PAGE) {
          fields.add(new Field("cell child " + i, cell, 4, Kind.PAGE));
          fields.add(new Field("key length " + i, cell + 4, 2, Kind.COUNT));
        }
      } else if (cell + 32 <= PAGE) {
        cell(fields, page, i, cell);
      }
    }
  }

  private static void cell(List<Field> fields, ByteBuffer page, int i, int cell) {
    fields.add(new Field("key length " + i, cell, 2, Kind.COUNT));
    fields.add(new Field("cell flags " + i, cell + 2, 1, Kind.CODE));
    fields.add(new Field("value length " + i, cell + 4, 2, Kind.COUNT));
    fields.add(new Field("former " + i, cell + 6, 2, Kind.OFFSET));
    fields.add(new Field("writer " + i, cell + 8, 8, Kind.TRANSACTION));
    int flags = page.get(cell + 2);
    int value = cell + 16 + (page.getShort(cell) & 0xFFFF);
    int length = page.getShort(cell + 4) & 0xFFFF;
    if ((flags & 2) != 0) {
      reference(fields, "value " + i, value);
    }
    int former = page.getShort(cell + 6) & 0xFFFF;
    if ((flags & 4) != 0 && former + 14 <= PAGE) {
      former(fields, i, former, flags);
    }
    if (page.getInt(24) == 0) { // the catalogue
      catalogue(fields, i, value, length);
    }
  }

  /** The heads of the records of predecessors at the top of the heap. */
  private static void stack(List<Field> fields, ByteBuffer page) {
    int at = page.getShort(20) & 0xFFFF;
    for (int i = 0; i < 20 && at + 2 <= PAGE; i++) {
      fields.add(new Field("stack head " + i, at, 2, Kind.COUNT));
      fields.add(new Field("stack bits " + i, at + 1, 1, Kind.CODE));
      int head = page.getShort(at) & 0xFFFF;
      if (head < 0x8000) {
        return; // the next bytes are no record
      }
      at += head & 0xFFF;
    }
  }

  /** The record of a predecessor. */
  private static void former(List<Field> fields, int i, int record, int flags) {
    fields.add(new Field("former head " + i, record, 2, Kind.COUNT));
    fields.add(new Field("former bits " + i, record + 1, 1, Kind.CODE));
    boolean hasWriter = (flags & 64) == 0;
    if (hasWriter) {
      fields.add(new Field("former writer " + i, record + 2, 8, Kind.TRANSACTION));
    }
    int value = record + (hasWriter ? 10 : 2);
    if ((flags & 16) != 0) {
      reference(fields, "former " + i, value);
    }
    if ((flags & 32) != 0) {
      fields.add(new Field("begin " + i, value, 2, Kind.COUNT));
      fields.add(new Field("end " + i, value + 2, 2, Kind.COUNT));
    }
  }

  private static void reference(List<Field> fields, String name, int at) {
    if (at + 12 <= PAGE) {
      fields.add(new Field(name + " page", at, 4, Kind.PAGE));
      fields.add(new Field(name + " length", at + 4, 4, Kind.COUNT));
      fields.add(new Field(name + " slot", at + 11, 1, Kind.COUNT));
    }
  }

  private static void catalogue(List<Field> fields, int i, int value, int length) {
    if (value + length > PAGE) {
      return;
    }
    String name = "entry " + i;
    if (length == 32) { // a sequence, or the change of a table
      fields.add(new Field(name + " mark", value, 8, Kind.COUNT));
      fields.add(new Field(name + " start", value + 8, 8, Kind.NUMBER));
      fields.add(new Field(name + " increment", value + 16, 8, Kind.COUNT));
      fields.add(new Field(name + " cache", value + 24, 4, Kind.COUNT));
      fields.add(new Field(name + " order", value + 28, 1, Kind.CODE));
    }
    if (length >= 8) {
      fields.add(new Field(name + " table", value, 4, Kind.TABLE));
      fields.add(new Field(name + " root", value + 4, 4, Kind.PAGE));
    }
    if (length >= 12) {
      fields.add(new Field(name + " kind", value + 8, 1, Kind.CODE));
      fields.add(new Field(name + " hash", value + 9, 1, Kind.CODE));
      fields.add(new Field(name + " trees", value + 10, 2, Kind.COUNT));
      for (int at = 12; at + 4 <= length && at < 40; at += 4) {
        fields.add(new Field(name + " at " + at, value + at, 4, Kind.PAGE));
      }
    }
    if (length >= 24) {
      fields.add(new Field(name + " transaction", value + 16, 8, Kind.TRANSACTION));
    }
  }

  /** The fields of a record's header. */
  static List<Field> record() {
    return List.of(
        new Field("length", LogRecordLayout.LENGTH, 4, Kind.COUNT),
        new Field("lsn", LogRecordLayout.LSN, 8, Kind.LSN),
        new Field("durable", LogRecordLayout.DURABLE, 8, Kind.LSN),
        new Field("transaction", LogRecordLayout.TRANSACTION, 8, Kind.TRANSACTION),
        new Field("life", LogRecordLayout.LIFE, 4, Kind.COUNT),
        new Field("type", LogRecordLayout.TYPE, 1, Kind.CODE),
        new Field("padding", LogRecordLayout.PADDING, 1, Kind.COUNT),
        new Field("ahead", LogRecordLayout.AHEAD, 2, Kind.COUNT));
  }

  /** The fields of a record's body, depending on its content. */
  static List<Field> body(byte[] record) {
    List<Field> fields = new ArrayList<>();
    ByteBuffer numbers = DamagedDisk.little(record);
    int at = LogRecordLayout.HEADER;
    switch (record[LogRecordLayout.TYPE]) {
      case 1 -> parts(fields, numbers, at, record.length - record[LogRecordLayout.PADDING]);
      case 4 -> {
        fields.add(new Field("count", at, 4, Kind.COUNT));
        many(fields, "id", at + 4, 8, record.length, Kind.TRANSACTION);
      }
      case 5 -> {
        fields.add(new Field("part", at, 4, Kind.COUNT));
        fields.add(new Field("parts", at + 4, 4, Kind.COUNT));
        fields.add(new Field("highest transaction", at + 8, 8, Kind.TRANSACTION));
        fields.add(new Field("redo", at + 16, 8, Kind.LSN));
        fields.add(new Field("writing", at + 24, 4, Kind.COUNT));
        fields.add(new Field("prepared", at + 28, 4, Kind.COUNT));
        fields.add(new Field("aborted", at + 32, 4, Kind.COUNT));
        many(fields, "id", at + 36, 8, record.length, Kind.TRANSACTION);
      }
      case 7 -> {
        fields.add(new Field("former end", at, 8, Kind.LSN));
        fields.add(new Field("former life", at + 8, 4, Kind.COUNT));
      }
      case 8 -> {
        fields.add(new Field("count", at, 4, Kind.COUNT));
        many(fields, "page", at + 4, 12, record.length, Kind.PAGE);
        many(fields, "lsn", at + 8, 12, record.length - 4, Kind.LSN);
      }
      case 9 -> {
        fields.add(new Field("name", at, 4, Kind.COUNT));
        fields.add(new Field("tables", at + 4, 4, Kind.COUNT));
        many(fields, "table", record.length - 16, 4, record.length, Kind.TABLE);
      }
      default -> {}
    }
    return fields;
  }

  private static void many(
      List<Field> fields, String name, int from, int stride, int end, Kind kind) {
    int width = kind == Kind.PAGE || kind == Kind.TABLE ? 4 : 8;
    for (int at = from, i = 0; at + width <= end && i < 30; at += stride, i++) {
      fields.add(new Field(name + " " + i, at, width, kind));
    }
  }

  private static void parts(List<Field> fields, ByteBuffer record, int from, int end) {
    int at = from;
    for (int part = 0; at + LogRecordLayout.PART_HEADER <= end; part++) {
      int length = record.getShort(at + LogRecordLayout.PART_LENGTH) & 0xFFFF;
      fields.add(new Field("part page " + part, at, 4, Kind.PAGE));
      fields.add(new Field("part kind " + part, at + LogRecordLayout.PART_KIND, 1, Kind.CODE));
      fields.add(new Field("part length " + part, at + LogRecordLayout.PART_LENGTH, 2, Kind.COUNT));
      at += LogRecordLayout.PART_HEADER;
      operations(fields, record, at, Math.min(at + length, end));
      at += length;
    }
  }

  private static void operations(List<Field> fields, ByteBuffer record, int from, int end) {
    int at = from;
    while (at + 3 <= end) {
      int op = record.get(at);
      fields.add(new Field("op", at, 1, Kind.CODE));
      fields.add(new Field("op slot or offset", at + 1, 2, Kind.OFFSET));
      boolean isShort = op == 4 || op == 8 || op == 9 || op == 12;
      if (isShort) {
        at += 3;
      } else if (at + 5 <= end) {
        int n = record.getShort(at + 3) & 0xFFFF;
        fields.add(new Field("op length", at + 3, 2, Kind.COUNT));
        int body = at + 5;
        int size = op == 1 ? n + (record.getShort(at + 1) & 0xFFFF) : n;
        inside(fields, op, body, Math.min(end, body + size));
        at = body + size;
      } else {
        break;
      }
    }
  }

  private static void inside(List<Field> fields, int op, int body, int end) {
    switch (op) {
      case 1 -> {
        for (int at = body; at + 8 <= end && at < body + 64; at += 4) {
          fields.add(new Field("image at " + (16 + at - body), at, 4, Kind.NUMBER));
        }
      }
      case 7 -> {
        fields.add(new Field("update flags", body, 1, Kind.CODE));
        fields.add(new Field("update keep", body + 1, 1, Kind.CODE));
      }
      case 10 -> {
        fields.add(new Field("bits mask", body, 1, Kind.CODE));
        fields.add(new Field("bits value", body + 1, 1, Kind.CODE));
      }
      case 13 -> {
        fields.add(new Field("change keep", body, 1, Kind.CODE));
        fields.add(new Field("change begin", body + 9, 2, Kind.COUNT));
        fields.add(new Field("change end", body + 11, 2, Kind.COUNT));
      }
      case 2, 3 -> {
        fields.add(new Field("cell key length", body, 2, Kind.COUNT));
        fields.add(new Field("cell flags", body + 2, 1, Kind.CODE));
        fields.add(new Field("cell value length", body + 4, 2, Kind.COUNT));
        fields.add(new Field("cell former", body + 6, 2, Kind.OFFSET));
      }
      case 6 -> {
        if (body < end) {
          fields.add(new Field("bytes", body, 1, Kind.NUMBER));
        }
      }
      default -> {}
    }
    fields.removeIf(field -> field.offset() >= body && field.offset() + field.width() > end);
  }
}
