package org.revenantdb.engine.buffer;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The map of §56: what is known of an extent is never below what was written there. */
class WrittenExtentsTest {
  private static final int PAGES = WrittenExtents.PAGES;

  @Test
  void nothing_is_known_of_an_extent_before_it_was_read() {
    WrittenExtents extents = new WrittenExtents();
    extents.wrote(3, 800);
    assertFalse(extents.isAtMost(3, Long.MAX_VALUE));
    extents.makeRoom(20);
    extents.wrote(4, 800);
    assertFalse(extents.isAtMost(3, Long.MAX_VALUE));
    extents.read(7, 400);
    assertTrue(extents.isAtMost(0, 800));
    assertFalse(extents.isAtMost(0, 792));
    assertFalse(extents.isAtMost(PAGES, Long.MAX_VALUE), "another extent");
  }

  @Test
  void a_number_only_grows() {
    WrittenExtents extents = new WrittenExtents();
    extents.makeRoom(PAGES);
    extents.read(0, 800);
    extents.wrote(1, 400);
    extents.read(2, 600);
    assertTrue(extents.isAtMost(0, 800));
    assertFalse(extents.isAtMost(0, 792));
    extents.wrote(3, 1_600);
    assertFalse(extents.isAtMost(0, 1_592));
    assertTrue(extents.isAtMost(0, 1_600));
  }

  @Test
  void room_is_added_for_a_file_that_grows() {
    WrittenExtents extents = new WrittenExtents();
    int far = 10 * 8_192 * PAGES;
    extents.makeRoom(PAGES);
    extents.read(0, 80);
    extents.wrote(far, 80);
    extents.makeRoom(far + 1);
    assertTrue(extents.isAtMost(0, 80));
    assertFalse(extents.isAtMost(far, Long.MAX_VALUE));
    extents.read(far, 80);
    assertTrue(extents.isAtMost(far, 80));
    extents.makeRoom(PAGES);
    assertTrue(extents.isAtMost(far, 80));
    assertFalse(extents.isAtMost(far + 8_192 * PAGES, Long.MAX_VALUE));
  }

  /** The page writer writes while the first backup makes room and reads. */
  @Test
  @Tag("stress")
  void R26_a_write_beside_the_first_read_is_seen_by_one_of_both() throws Exception {
    int rounds = 20_000;
    AtomicReference<WrittenExtents> extents = new AtomicReference<>(new WrittenExtents());
    AtomicLong file = new AtomicLong(8);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    CyclicBarrier barrier =
        new CyclicBarrier(
            2,
            () -> {
              if (extents.get().isAtMost(0, file.get() - 8)) {
                failure.compareAndSet(null, new AssertionError("a write that nobody has seen"));
              }
              extents.set(new WrittenExtents());
            });
    Thread writer =
        Thread.ofPlatform()
            .start(() -> {
              boolean goesOn = true;
              for (int i = 0; i < rounds && goesOn; i++) {
                long lsn = file.get() + 8;
                file.setPlain(lsn);
                WrittenExtents.beforeNotes();
                extents.get().wrote(0, lsn);
                goesOn = await(barrier, failure);
              }
            });
    boolean goesOn = false;
    try {
      int i = 0;
      do {
        goesOn = false;
        WrittenExtents mine = extents.get();
        mine.makeRoom(1);
        mine.read(0, file.getPlain());
        goesOn = await(barrier, failure);
      } while (goesOn && ++i < rounds);
    } finally {
      if (!goesOn) {
        writer.interrupt(); // it may wait for this thread
      }
      writer.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
  }

  /** False if the other thread has failed. */
  private static boolean await(CyclicBarrier barrier, AtomicReference<Throwable> failure) {
    try {
      barrier.await();
      return failure.get() == null;
    } catch (Exception broken) {
      failure.compareAndSet(null, broken);
      return false;
    }
  }
}
