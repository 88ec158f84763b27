package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/** The stack of former versions at the top of the heap of a leaf. */
class PredecessorsTest {
  private static final int ROWS = 10;

  private final MemorySegment page = MemorySegment.ofArray(new byte[Page.SIZE]);

  @BeforeEach
  void rows() {
    SlottedBuilder builder = new SlottedBuilder();
    builder.begin(0, 7, new byte[0], null);
    for (int row = 0; row < ROWS; row++) {
      builder.append(LeafCell.build(new byte[] {(byte) row}, 0, 1, value(0)));
    }
    apply(record -> PageOps.image(record, builder));
  }

  private void apply(Consumer<RecordBuilder> operation) {
    RecordBuilder record = new RecordBuilder();
    record.begin(RecordType.PAGES, 0);
    int from = record.position();
    operation.accept(record);
    new PageOps().apply(page, record.array(), from, record.position() - from);
    assertNull(PageStructure.problemOf(9, page));
    assertNull(PageStructure.problemBeforeChange(9, page));
  }

  /** A value that shares nothing with another one. */
  private static byte[] value(int stamp) {
    byte[] value = new byte[100];
    Arrays.fill(value, (byte) stamp);
    return value;
  }

  private void update(int row, int stamp) {
    apply(record -> PageOps.update(record, row, 0, PageOps.KEEP, 1 + stamp, value(stamp)));
  }

  @Test
  void versions_that_go_give_their_bytes_back_in_whatever_order_they_go() {
    int top = Slotted.heapTop(page);
    int[][] orders = {
      IntStream.range(0, ROWS).toArray(),
      IntStream.range(0, ROWS).map(i -> ROWS - 1 - i).toArray(),
      {3, 9, 1, 0, 4, 8, 2, 7, 5, 6}
    };
    for (int[] order : orders) {
      IntStream.range(0, ROWS).forEach(row -> update(row, 1));
      assertEquals(top - ROWS * 110, Slotted.heapTop(page));
      for (int row : order) {
        apply(record -> PageOps.settle(record, row));
      }
      assertEquals(top, Slotted.heapTop(page));
      assertEquals(0, Slotted.garbage(page));
    }
  }

  @Test
  void updates_of_one_length_move_no_cell() {
    int[] cells = IntStream.range(0, ROWS).map(row -> Slotted.cell(page, row)).toArray();
    for (int i = 1; i < 50; i++) {
      update(i % ROWS, i);
      if (i % 3 == 0) {
        int row = i * 7 % ROWS;
        apply(record -> PageOps.settle(record, row));
      }
    }
    assertArrayEquals(
        cells, IntStream.range(0, ROWS).map(row -> Slotted.cell(page, row)).toArray());
  }

  @Test
  void the_second_version_of_a_row_takes_the_bytes_of_the_first() {
    IntStream.range(0, ROWS).forEach(row -> update(row, 1));
    int top = Slotted.heapTop(page);
    IntStream.range(0, ROWS).forEach(row -> update(row, 2));
    assertEquals(top, Slotted.heapTop(page));
    assertEquals(0, Slotted.garbage(page));
    assertArrayEquals(value(1), LeafCell.predecessor(page, Slotted.cell(page, 4)));
  }

  @Test
  void a_row_that_comes_between_ends_the_stack_and_a_compaction_makes_it_anew() {
    int top = Slotted.heapTop(page);
    update(0, 1);
    apply(record -> PageOps.insert(record, 10, LeafCell.build(new byte[] {50}, 0, 1, value(0))));
    update(1, 1);
    apply(record -> PageOps.settle(record, 1));
    apply(record -> PageOps.settle(record, 0));
    assertEquals(110, Slotted.garbage(page), "that of the row below the new one");
    IntStream.range(0, ROWS).forEach(row -> update(row, 1));
    while (Slotted.garbage(page) > 0) {
      int next = Slotted.count(page);
      apply(record ->
          PageOps.insert(
              record, next, LeafCell.build(new byte[] {(byte) (40 + next)}, 0, 1, value(0))));
    }
    int cells = Slotted.count(page) - ROWS;
    IntStream.range(0, ROWS).forEach(row -> apply(record -> PageOps.settle(record, row)));
    // The insert that compacted lies in front of the records.
    assertEquals(ROWS * 110, Slotted.garbage(page));
    apply(record -> PageOps.remove(record, Slotted.count(page) - 1));
    assertEquals(top - cells * 117, Slotted.heapTop(page) + ROWS * 110);
  }

  /** The bits of a stack are checked only if the page's header says that there is one. */
  @Test
  void a_record_that_is_in_no_stack_leads_to_no_other_bytes() {
    byte[] fence = {0x40, 0x40, 0x40}; // the bit of a free record
    apply(record -> PageOps.keepLeft(record, ROWS, fence));
    update(0, 1);
    int top = Slotted.heapTop(page);
    Page.putShort(page, top, Page.getShort(page, top) | 0x8000);
    Slotted.recordOnTop(page, /* isRecord= */ false);
    apply(record -> PageOps.settle(record, 0));
    assertEquals(top, Slotted.heapTop(page));
    assertArrayEquals(fence, Slotted.upperFence(page));
  }

  @Test
  void a_stack_that_leads_to_bytes_in_use_or_to_none_is_refused_before_the_first_change() {
    update(0, 1);
    update(1, 1);
    int second = Slotted.heapTop(page);
    int first = second + 110;
    assertRefused(first, 0x8000 | 110, "a cell is no record");
    assertRefused(first, 0x4000 | 110, "a record of a row is not free");
    assertRefused(second, 0x8000 | 109, "what follows is no record");
    apply(record -> PageOps.settle(record, 0)); // free, below the second one
    assertRefused(first, 0x4000 | 111, "a free record ends before the next cell");
    assertRefused(first, 0x4000 | 1, "a record has a head");
    assertRefused(first, 0x4000 | 0xFFF, "a record ends in the page");
  }

  private void assertRefused(int record, int head, String why) {
    MemorySegment forged = MemorySegment.ofArray(Page.bytes(page, 0, Page.SIZE));
    Page.putShort(forged, record, head);
    assertTrue(
        PageStructure.problemOf(9, forged) != null
            || PageStructure.problemBeforeChange(9, forged) != null,
        why);
  }
}
