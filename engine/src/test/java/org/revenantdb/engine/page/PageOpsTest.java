package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/** Sizes and places, against each other and against docs/format.md; the operations one by one. */
class PageOpsTest {
  private final MemorySegment page = MemorySegment.ofArray(new byte[Page.SIZE]);
  private final RecordBuilder record = new RecordBuilder();

  private void apply(Runnable operation) {
    record.begin(RecordType.PAGES, 0);
    record.beginPart(9, PartKind.CHANGE);
    int from = record.position();
    operation.run();
    record.endPart();
    new PageOps().apply(page, record.array(), from, record.position() - from);
  }

  @Test
  void two_cells_two_fences_and_the_header_fit() {
    assertTrue(
        Slotted.SLOTS + 2 * (LeafCell.MAX_CELL + Slotted.LEAF_SLOT) + 2 * LeafCell.MAX_KEY
            <= Page.SIZE);
    for (int key = 1; key <= LeafCell.MAX_KEY; key++) {
      int value = LeafCell.maxInlineValue(key);
      assertTrue(value >= LeafCell.REFERENCE);
      assertTrue(2 * value + key + 26 <= LeafCell.MAX_CELL);
      assertTrue(2 * (value + 1) + key + 26 > LeafCell.MAX_CELL);
    }
    assertEquals(Page.SIZE - 64, 4 * OverflowPage.MAX_IDS);
    assertEquals(8128, SpaceMapPage.GROUP);
  }

  /** Redo may meet a page that is not the one that was meant. */
  @Test
  void keys_and_fences_that_do_not_belong_to_a_page_are_refused_and_change_nothing() {
    SlottedBuilder builder = new SlottedBuilder();
    builder.begin(0, 7, key("kkkkkkkk1"), key("kkkkkkkk9"));
    builder.append(LeafCell.build(key("kkkkkkkk2"), 0, 1, key("v")));
    builder.append(LeafCell.build(key("kkkkkkkk3"), 0, 1, key("w")));
    byte[] before = Page.bytes(builder.page(), 0, Page.SIZE);
    List<Consumer<RecordBuilder>> wrong =
        List.of(
            record -> PageOps.keepLeft(record, 2, key("zzz")),
            record -> PageOps.keepLeft(record, 2, key("a")),
            record -> PageOps.keepLeft(record, 2, key("kkkkkkkk0")),
            record -> PageOps.keepLeft(record, 2, key("kkkkkkkk1")),
            record -> PageOps.insert(record, 2, LeafCell.build(key("kkkkkkkz4"), 0, 1, key("x"))),
            record -> PageOps.insert(record, 2, LeafCell.build(key("kkk"), 0, 1, key("x"))),
            record -> PageOps.replace(record, 1, LeafCell.build(key("kkkkkkkz3"), 0, 1, key("x"))),
            record ->
                PageOps.insert(
                    record, 2, LeafCell.build(key("kkkkkkkk4"), LeafCell.PREDECESSOR, 1, key("x"))),
            record -> PageOps.replace(record, 1, leadsToRecord("kkkkkkkk3")),
            record -> PageOps.revert(record, 1),
            record -> PageOps.change(record, 1, PageOps.KEEP, 5, new byte[20], 9 << 16 | 8),
            record -> PageOps.change(record, 0, PageOps.REPLACE, 5, new byte[20], 20));
    for (Consumer<RecordBuilder> one : wrong) {
      RecordBuilder record = new RecordBuilder();
      record.begin(RecordType.PAGES, 0);
      int from = record.position();
      one.accept(record);
      MemorySegment page = Arena.ofAuto().allocate(Page.SIZE, Long.BYTES);
      MemorySegment.copy(before, 0, page, ValueLayout.JAVA_BYTE, 0, Page.SIZE);
      assertThrows(
          IllegalStateException.class,
          () -> new PageOps().apply(page, record.array(), from, record.position() - from));
      assertArrayEquals(before, Page.bytes(page, 0, Page.SIZE));
    }
  }

  /** A row that leads to a record of a predecessor, as no log record may bring it. */
  private static byte[] leadsToRecord(String key) {
    byte[] cell = LeafCell.build(key(key), 0, 1, key("x"));
    cell[7] = 1;
    return cell;
  }

  private static byte[] key(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void a_difference_that_is_none_is_a_problem() {
    byte[] page = new byte[Page.SIZE];
    byte[] cell = LeafCell.build(key("k"), LeafCell.PREDECESSOR, 2, new byte[40]);
    int record = 100;
    cell[6] = (byte) record;
    System.arraycopy(cell, 0, page, 0, cell.length);
    System.arraycopy(
        new byte[] {15, 0, 1, 0, 0, 0, 0, 0, 0, 0, 30, (byte) 0x80, 9, 0, 5}, 0, page, record, 15);
    MemorySegment row = MemorySegment.ofArray(page);
    assertNull(LeafCell.problemOf(row, 0));
    assertArrayEquals(new byte[] {30, (byte) 0x80, 9, 0, 5}, LeafCell.predecessor(row, 0));
    assertEquals(1, LeafCell.predecessorWriter(row, 0));
    page[2] |= LeafCell.PREDECESSOR_DIFF;
    assertNull(LeafCell.problemOf(row, 0));
    assertEquals(40, LeafCell.predecessor(row, 0).length);
    int diff = LeafCell.predecessorOffset(row, 0);
    page[diff] = 32; // 32 and 9 are more than 40
    assertTrue(String.valueOf(LeafCell.problemOf(row, 0)).contains("difference"));
    page[diff] = 37;
    page[diff + 1] = 0; // with the 3 bytes that follow, of one length with the value
    assertNull(LeafCell.problemOf(row, 0));
    assertEquals(40, LeafCell.predecessor(row, 0).length);
    page[diff] = 38;
    assertTrue(String.valueOf(LeafCell.problemOf(row, 0)).contains("difference"));
    page[diff] = 30;
    page[diff + 1] = (byte) 0x80;
    for (int tooShort = 10; tooShort < 14; tooShort++) {
      page[record] = (byte) tooShort;
      assertTrue(String.valueOf(LeafCell.problemOf(row, 0)).contains("difference"));
    }
    page[record] = 15;
    assertNull(LeafCell.problemOf(row, 0));
    page[2] |= LeafCell.PREDECESSOR_OVERFLOW;
    assertTrue(String.valueOf(LeafCell.problemOf(row, 0)).contains("difference"));
    page[2] = LeafCell.PREDECESSOR_DIFF;
    assertTrue(String.valueOf(LeafCell.problemOf(row, 0)).contains("flags"));
    page[2] = LeafCell.PREDECESSOR | LeafCell.PREDECESSOR_OVERFLOW | LeafCell.PREDECESSOR_FOR_ALL;
    assertTrue(String.valueOf(LeafCell.problemOf(row, 0)).contains("writer"));
  }

  @Test
  void leaf_cell_asDrawn() {
    byte[] cell =
        LeafCell.build(new byte[] {1, 2, 3}, LeafCell.DELETED, 0x1122334455667788L, new byte[] {4});
    byte[] drawn = {
      3,
      0,
      1,
      0,
      1,
      0,
      0,
      0, // lengths, flags, no record of a predecessor
      (byte) 0x88,
      0x77,
      0x66,
      0x55,
      0x44,
      0x33,
      0x22,
      0x11, // writer
      1,
      2,
      3,
      4
    };
    assertArrayEquals(drawn, cell);
    assertArrayEquals(
        new byte[] {1, 0, 2, 0, 12, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9},
        Arrays.copyOf(
            LeafCell.build(
                new byte[] {9},
                LeafCell.OVERFLOW,
                7,
                new ValueReference(5, ValueReference.WHOLE, 6).bytes()),
            17));
    assertArrayEquals(
        new byte[] {5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0},
        new ValueReference(5, ValueReference.WHOLE, 6).bytes());
    assertArrayEquals(new byte[] {7, 0, 0, 0, 2, 0, 8, 9}, InnerCell.build(new byte[] {8, 9}, 7));
  }

  @Test
  void offsets_asInTheDescriptionOfTheFormat() throws IOException {
    Path path = Path.of("../docs/format.md");
    String format = Files.readString(Files.exists(path) ? path : Path.of("docs/format.md"));
    String[] rows = {
      "| " + Page.ID + " | u32 | page id |",
      "| " + Page.LSN + " | u64 | page LSN",
      "| " + Page.TYPE + " | u8 | type:",
      "| " + Page.FLAGS + " | u8 | flags",
      "| " + Slotted.COUNT + " | u16 | number of slots |",
      "| " + Slotted.HEAP_TOP + " | u16 | heap top",
      "| 22 | u16 | garbage",
      "| " + Slotted.TABLE + " | u32 | table id |",
      "| " + Slotted.LEVEL + " | u8 | level",
      "| " + Slotted.PREFIX + " | u8 | prefix",
      "| " + Slotted.SKIP + " | u16 | skip",
      "| " + Slotted.LOWER_OFFSET + " | u16, u16 | lower fence",
      "| " + Slotted.UPPER_OFFSET + " | u16, u16 | upper fence",
      "| " + Slotted.MAX_WRITER + " | u64 | leaf: highest writer",
      "| " + Slotted.LEFTMOST_CHILD + " | u32 | inner: left-most child |",
      "| " + Slotted.SLOTS + " | u32, u16, u32 each | slots",
      "| " + OverflowPage.WRITER + " | u64 | writer |",
      "| " + OverflowPage.SUPERSEDER + " | u64 | superseder",
      "| " + OverflowPage.LENGTH + " | u64 | length of the value",
      "| " + OverflowPage.NEXT_INDEX + " | u32 | next index page",
      "| " + OverflowPage.COUNT + " | u16 | number of data page ids",
      "| " + OverflowPage.INLINE + " | u16 | bytes of data in the head",
      "| " + OverflowPage.DATA + " | | data in the head",
      "2 space map, 3 leaf, 4 inner, 5 overflow head, 6 overflow index, 7 overflow data",
      "covers pages `g * " + SpaceMapPage.GROUP + "`",
    };
    for (String row : rows) {
      assertTrue(format.contains(row), "docs/format.md does not say: " + row);
    }
    assertEquals(8188, OverflowPage.idOffset(0));
    assertEquals(OverflowPage.DATA, OverflowPage.idOffset(OverflowPage.MAX_IDS - 1));
    assertEquals(8128 * 2 + 3, SpaceMapPage.mapOf(8128 * 3 - 1));
    assertEquals(8191, SpaceMapPage.offset(8127));
  }

  @Test
  void image_blanksWhatLiesBetween() {
    new Random(1).nextBytes((byte[]) page.heapBase().orElseThrow());
    byte[] before = Page.bytes(page, 0, 16);
    byte[] source = new byte[Page.SIZE];
    Arrays.fill(source, (byte) 7);
    apply(() -> PageOps.image(record, MemorySegment.ofArray(source), 10, 20));
    assertArrayEquals(before, Page.bytes(page, 0, 16));
    byte[] expected = new byte[Page.SIZE - 16];
    Arrays.fill(expected, 0, 10, (byte) 7);
    Arrays.fill(expected, expected.length - 20, expected.length, (byte) 7);
    assertArrayEquals(expected, Page.bytes(page, 16, Page.SIZE - 16));
  }

  @Test
  void numbers_littleEndianAndWhereTheyBelong() {
    apply(() -> {
      PageOps.setByte(record, 100, 0xFE);
      PageOps.setShort(record, 102, 0xABCD);
      PageOps.setInt(record, 104, 0x89ABCDEF);
      PageOps.setLong(record, 108, -2);
      PageOps.setBytes(record, 8190, new byte[] {1, 2});
    });
    assertEquals(0xFE, Page.getByte(page, 100));
    assertEquals(0xABCD, Page.getShort(page, 102));
    assertEquals(0xCD, Page.getByte(page, 102));
    assertEquals(0x89ABCDEF, Page.getInt(page, 104));
    assertEquals(-2, Page.getLong(page, 108));
    assertEquals(2, Page.getByte(page, 8191));
  }

  @Test
  void apply_refusesWhatIsNoOperation() {
    assertThrows(
        IllegalStateException.class,
        () ->
            apply(() -> {
              record.putByte(7);
              record.putInt(0);
            }));
  }

  @Test
  void compareKey_asUnsignedBytes() {
    Random random = new Random(3);
    for (int i = 0; i < 20_000; i++) {
      byte[] one = new byte[random.nextInt(30)];
      byte[] other = new byte[random.nextInt(30)];
      random.nextBytes(one);
      random.nextBytes(other);
      System.arraycopy(one, 0, other, 0, random.nextInt(Math.min(one.length, other.length) + 1));
      MemorySegment.copy(MemorySegment.ofArray(one), 0, page, 333, one.length);
      assertEquals(
          Integer.signum(Arrays.compareUnsigned(one, other)),
          Integer.signum(Page.compareKey(page, 333, one.length, other)));
    }
  }
}
