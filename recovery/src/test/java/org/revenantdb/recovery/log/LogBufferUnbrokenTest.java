package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/**
 * Which records a committer may count on after a kill: those behind no reservation that is open.
 */
class LogBufferUnbrokenTest {
  private static final int CAPACITY = 4096;
  private static final int LENGTH = 512;

  private final LogBuffer buffer = new LogBuffer(Arena.ofAuto().allocate(CAPACITY), CAPACITY);

  private long publish(long start) {
    buffer.publishRelease(start, start + LENGTH);
    return start + LENGTH;
  }

  @Test
  void a_record_behind_a_hole_is_broken_until_the_hole_is_filled() {
    long first = buffer.reserve(LENGTH);
    long second = buffer.reserve(LENGTH);
    publish(second);
    assertFalse(buffer.isUnbrokenUpTo(second + LENGTH));
    publish(first);
    assertTrue(buffer.isUnbrokenUpTo(second + LENGTH));
    assertTrue(buffer.isUnbrokenUpTo(first + LENGTH));
  }

  @Test
  void what_the_writer_has_passed_is_unbroken() {
    long end = publish(buffer.reserve(LENGTH));
    buffer.setWrittenRelease(end);
    assertTrue(buffer.isUnbrokenUpTo(end));
  }

  /**
   * The end of a later lap stands where a committer looks; between the two laps is a hole. To jump
   * to that end would pass the hole.
   */
  @Test
  void the_end_of_a_later_lap_passes_no_hole() {
    for (int i = 0; i < CAPACITY / LENGTH; i++) {
      publish(buffer.reserve(LENGTH)); // nothing has looked at any of them yet
    }
    buffer.setWrittenRelease(CAPACITY + 2 * LENGTH);
    long hole = buffer.reserve(LENGTH); // at the place of the first record
    long behind = publish(buffer.reserve(LENGTH));
    assertTrue(buffer.isUnbrokenUpTo(hole));
    assertFalse(buffer.isUnbrokenUpTo(behind));
    publish(hole);
    assertTrue(buffer.isUnbrokenUpTo(behind));
  }
}
