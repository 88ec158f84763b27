package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.file.DamagedFileException;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * Parts of log records with a good checksum whose operations make no legal page: redo refuses them,
 * with the page and the LSN.
 */
class RedoneNonsenseTest {
  /** Above all that the engine has written. */
  private static final long LSN = 1L << 40;

  @TempDir Path directory;

  /** The operations of a part, in hexadecimal digits. */
  private record Part(String what, PartKind kind, String operations) {}

  private static final List<Part> PARTS =
      List.of(
          new Part("an unknown operation", PartKind.CHANGE, "63 0000 0000"),
          new Part("an image of an unknown type", PartKind.FORMAT, "01 0200 0000 6300"),
          new Part("an image with too many slots", PartKind.FORMAT, "01 0600 0000 0300 ffff 0020"),
          new Part("an image that is longer than a page", PartKind.FORMAT, "01 ffff ffff 03"),
          new Part("an image of a map", PartKind.FORMAT, "01 0200 0000 0200"),
          new Part("bytes behind the page", PartKind.CHANGE, "06 ff1f 0400 01020304"),
          new Part("bytes that make the heap begin nowhere", PartKind.CHANGE, "06 1400 0200 ffff"),
          new Part("bits behind the page", PartKind.CHANGE, "0a ffff 0200 ff ff"),
          new Part(
              "a cell with a longer key than it has",
              PartKind.CHANGE,
              "02 0000 1200 ff03 0000 0000 0000 0000000000000000 6161"),
          new Part(
              "a cell with flags that nobody knows",
              PartKind.CHANGE,
              "02 0000 1200 0200 8000 0000 0000 0000000000000000 6161"),
          new Part("a row that is not there", PartKind.CHANGE, "08 7700"),
          new Part("a value for a leaf", PartKind.CHANGE, "0c 0000"),
          new Part("an operation that is cut off", PartKind.CHANGE, "02"),
          new Part("a row on a stack without an end", PartKind.FORMAT, brokenStack()));

  /**
   * The image of a leaf whose former versions lead to a free one without bytes, again and again.
   */
  private static String brokenStack() {
    SlottedBuilder builder = new SlottedBuilder();
    builder.begin(0, 7, new byte[0], null);
    for (byte row = 0; row < 2; row++) {
      builder.append(LeafCell.build(new byte[] {row}, 0, 1, new byte[20]));
    }
    MemorySegment page = MemorySegment.ofArray(new byte[Page.SIZE]);
    RecordBuilder record = new RecordBuilder();
    record.begin(RecordType.PAGES, 0);
    int image = record.position();
    PageOps.image(record, builder);
    byte[] value = new byte[20];
    Arrays.fill(value, (byte) 1);
    PageOps.update(record, 0, 0, PageOps.KEEP_FOR_ALL, 1, value);
    PageOps.update(record, 1, 0, PageOps.KEEP_FOR_ALL, 1, value);
    new PageOps().apply(page, record.array(), image, record.position() - image);
    int top = Slotted.heapTop(page);
    Page.putShort(page, top + 22, 0xC000);
    record.begin(RecordType.PAGES, 0);
    int from = record.position();
    PageOps.image(record, page, 64 + 2 * Slotted.LEAF_SLOT - Page.BODY, Page.SIZE - top);
    return HexFormat.of().formatHex(record.array(), from, record.position()) + "080100";
  }

  @Test
  void an_operation_that_does_not_fit_or_leaves_no_legal_page_is_damage_with_page_and_lsn()
      throws IOException {
    for (Part part : PARTS) {
      Path folder = Files.createDirectory(directory.resolve("" + PARTS.indexOf(part)));
      TestEngine engine = new TestEngine(folder, 64);
      try {
        Tree tree = engine.table("t");
        MemorySegment page = MemorySegment.ofArray(engine.page(tree.root()));
        byte[] operations = HexFormat.of().parseHex(part.operations.replace(" ", ""));
        LoggedChanges changes = new LoggedChanges(null, directory, /* readOnly= */ true);
        DamagedFileException told =
            assertThrows(
                DamagedFileException.class,
                () -> {
                  changes
                      .target(new PageOps(), tree.root(), page)
                      .redo(tree.root(), LSN, part.kind, operations, 0, operations.length);
                  changes.refuseIllegal(tree.root(), page);
                },
                part.what);
        assertEquals((long) tree.root() * Page.SIZE, told.offset(), part.what);
        assertTrue(told.getMessage().contains("LSN " + LSN), told.getMessage());
      } finally {
        engine.pool.close();
      }
    }
  }

  @Test
  void a_page_of_another_kind_is_known_without_its_latch() throws IOException {
    try (TestEngine engine = new TestEngine(directory, 64)) {
      Tree tree = engine.table("t");
      int frame = engine.pool.fixExclusive(tree.root());
      try {
        MemorySegment page = engine.pool.page(frame);
        assertEquals(Slotted.kind(page), engine.pool.peek(tree.root()));
        assertTrue(engine.pool.isOfOtherType(tree.root(), Page.OVERFLOW_HEAD, Page.SHARED_VALUES));
        // By the thread that has the page latched: it does not wait for itself.
        assertThrows(DamagedFileException.class, () -> tree.childExclusive(tree.root(), 1));
      } finally {
        engine.pool.unfixExclusive(frame);
      }
      assertEquals(BufferPool.UNKNOWN, engine.pool.peek(-1));
    }
  }
}
