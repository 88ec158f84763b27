package org.revenantdb.engine.lifecycle;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedEdit;
import org.revenantdb.engine.testing.Allocations;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * What becomes of the pages when carrying out a published record fails (R18), and why it does not:
 * it allocates nothing.
 */
class HalfAppliedRecordTest {
  private static final int ONE = 20;
  private static final int OTHER = 21;

  @TempDir Path directory;

  private TestEngine engine;

  @BeforeEach
  void open() {
    engine = new TestEngine(directory, 64);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static void formatLeaf(TestEngine engine, MiniTransaction mini, int page) {
    int frame = engine.pool.fixNew(page);
    MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
    SlottedEdit.formatEmptyLeaf(image, 7);
    mini.begin(0);
    PageOps.image(mini.format(frame), image, Page.SIZE / 2, 0);
    mini.end();
    mini.commit();
    engine.pool.unfixExclusive(frame);
  }

  private byte[] onDisk(int page) {
    byte[] bytes = new byte[Page.SIZE];
    engine.file.read((long) page * Page.SIZE, MemorySegment.ofArray(bytes));
    return bytes;
  }

  /** The second part's cell does not fit: its page is changed half way, the first one's wholly. */
  @Test
  void R18_a_record_that_cannot_be_carried_out_stops_the_engine_and_none_of_its_pages_is_written() {
    MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
    formatLeaf(engine, mini, ONE);
    formatLeaf(engine, mini, OTHER);
    engine.pool.flushDirtyBefore(Long.MAX_VALUE);
    engine.journal.force();
    byte[] one = onDisk(ONE);
    byte[] other = onDisk(OTHER);

    int first = engine.pool.fixExclusive(ONE);
    int second = engine.pool.fixExclusive(OTHER);
    long lsn = Page.lsn(engine.pool.page(second));
    mini.begin(0);
    PageOps.setInt(mini.change(first), Slotted.LEFTMOST_CHILD, 1);
    mini.end();
    RecordBuilder record = mini.change(second);
    PageOps.setInt(record, Slotted.LEFTMOST_CHILD, 2);
    PageOps.insert(record, 0, new byte[Page.SIZE + 8]);
    mini.end();
    Throwable thrown = assertThrows(Throwable.class, mini::commit);
    assertSame(thrown, engine.journal.failure(), "stopped while both pages are latched");
    assertEquals(2, Page.getInt(engine.pool.page(second), Slotted.LEFTMOST_CHILD), "half way");
    assertEquals(lsn, Page.lsn(engine.pool.page(second)), "with its former LSN, which is durable");
    assertNotEquals(lsn, Page.lsn(engine.pool.page(first)));
    engine.pool.unfixExclusive(second);
    engine.pool.unfixExclusive(first);

    engine.journal.force();
    assertThrows(FileException.class, () -> engine.pool.flushDirtyBefore(Long.MAX_VALUE));
    assertArrayEquals(one, onDisk(ONE));
    assertArrayEquals(other, onDisk(OTHER));
  }

  /** More pages than a mini-transaction has places for at first. */
  @Test
  void a_record_of_many_pages_changes_them_all() {
    MiniTransaction mini = new MiniTransaction(engine.pool, engine.journal);
    int[] frames = new int[30];
    for (int i = 0; i < frames.length; i++) {
      formatLeaf(engine, mini, ONE + i);
    }
    mini.begin(0);
    for (int i = 0; i < frames.length; i++) {
      frames[i] = engine.pool.fixExclusive(ONE + i);
      PageOps.setInt(mini.change(frames[i]), Slotted.LEFTMOST_CHILD, i);
      mini.end();
    }
    long lsn = mini.commit();
    for (int i = 0; i < frames.length; i++) {
      MemorySegment page = engine.pool.page(frames[i]);
      assertEquals(lsn, Page.lsn(page));
      assertEquals(i, Page.getInt(page, Slotted.LEFTMOST_CHILD));
      assertEquals(ONE + i, Page.id(page));
      engine.pool.unfixExclusive(frames[i]);
    }
  }

  /** An object of the smallest size a round would be seen. */
  @Test
  void R18_carrying_out_every_kind_of_operation_allocates_nothing() throws Exception {
    int rounds = 200;
    MemorySegment image = MemorySegment.ofArray(new byte[Page.SIZE]);
    SlottedEdit.formatEmptyLeaf(image, 7);
    RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, 1);
    int start = record.position();
    PageOps.image(record, image, 48, 100);
    for (int i = 0; i < 6; i++) {
      PageOps.insert(record, i, LeafCell.build(new byte[] {1, (byte) i}, 0, 1, new byte[1000]));
    }
    PageOps.replace(record, 1, LeafCell.build(new byte[] {1, 1}, 0, 1, new byte[900]));
    PageOps.replace(record, 2, LeafCell.build(new byte[] {1, 2}, 0, 1, new byte[1200]));
    PageOps.remove(record, 0);
    PageOps.remove(record, 0);
    PageOps.insert(record, 0, LeafCell.build(new byte[] {1}, 0, 1, new byte[2500])); // compacts
    PageOps.keepLeft(record, 2, new byte[] {1, 4});
    PageOps.setByte(record, Page.FLAGS, 1);
    PageOps.setBytes(record, 4000, new byte[100]);
    int length = record.position() - start;
    byte[] bytes = record.array();
    PageOps operations = new PageOps();
    MemorySegment page = engine.pool.page(engine.pool.fixNew(ONE));
    Runnable all =
        () -> {
          for (int i = 0; i < rounds; i++) {
            operations.apply(page, bytes, start, length);
          }
        };
    Allocations.by(all); // links and initializes
    long allocated = Allocations.by(all);
    assertTrue(allocated < 16L * rounds, allocated + " bytes in " + rounds + " rounds");
  }
}
