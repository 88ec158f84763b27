package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/** {@code -Drevenant.seed=n} repeats a run. */
class SharedValuesTest {
  private record Value(long writer, long superseder, byte[] bytes) {}

  private final long seed =
      Long.getLong("revenant.seed", ThreadLocalRandom.current().nextInt(1 << 30));
  private final Random random = new Random(seed);
  private final PageOps operations = new PageOps();
  private final MemorySegment page = MemorySegment.ofArray(new byte[Page.SIZE]);
  private final RecordBuilder record = new RecordBuilder();

  private static byte[] filled(int length, int with) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) with);
    return bytes;
  }

  private void apply(MemorySegment target, Runnable operation) {
    record.begin(RecordType.PAGES, 0);
    record.beginPart(9, PartKind.CHANGE);
    int from = record.position();
    operation.run();
    record.endPart();
    operations.apply(target, record.array(), from, record.position() - from);
  }

  private void put(MemorySegment target, int slot, long writer, long superseder, byte[] value) {
    apply(target, () -> PageOps.putValue(record, slot, writer, superseder, value));
  }

  private void take(MemorySegment target, int slot) {
    apply(target, () -> PageOps.takeValue(record, slot));
  }

  @Test
  void values_come_and_go_as_in_a_map_and_redo_makes_the_same_page() {
    System.out.println("SharedValuesTest -Drevenant.seed=" + seed);
    for (int round = 0; round < 300; round++) {
      MemorySegment redone = MemorySegment.ofArray(new byte[Page.SIZE]);
      byte[] first = filled(1 + random.nextInt(SharedValues.MAX_VALUE), 1);
      SharedValues.build(page, 3, 7, 8, first);
      MemorySegment.copy(page, 0, redone, 0, Page.SIZE);
      Map<Integer, Value> model = new TreeMap<>();
      model.put(0, new Value(7, 8, first));
      int most = 1 << random.nextInt(13);
      for (int step = 0; step < 200; step++) {
        int slot = SharedValues.nextSlot(page);
        byte[] value = filled(1 + random.nextInt(most), step);
        boolean fits = SharedValues.hasRoom(page, slot, value.length);
        if (random.nextBoolean() && fits) {
          int after = SharedValues.freeAfterPut(page, slot, value.length);
          long writer = random.nextLong();
          long superseder = random.nextLong();
          put(page, slot, writer, superseder, value);
          put(redone, slot, writer, superseder, value);
          assertEquals(after, SharedValues.free(page));
          model.put(slot, new Value(writer, superseder, value));
        } else if (!model.isEmpty()) {
          int taken =
              model.keySet().stream().skip(random.nextInt(model.size())).findFirst().orElseThrow();
          int free = SharedValues.free(page) + SharedValues.length(page, taken);
          take(page, taken);
          take(redone, taken);
          assertEquals(free, SharedValues.free(page));
          model.remove(taken);
        }
        assertSame(model);
      }
      assertEquals(-1, page.mismatch(redone));
    }
  }

  private void assertSame(Map<Integer, Value> model) {
    for (int slot = 0; slot < SharedValues.count(page); slot++) {
      Value value = model.get(slot);
      assertEquals(value != null, SharedValues.isTaken(page, slot), "slot " + slot);
      if (value == null) {
        continue;
      }
      assertEquals(value.writer, SharedValues.writer(page, slot));
      assertEquals(value.superseder, SharedValues.superseder(page, slot));
      assertArrayEquals(
          value.bytes,
          Page.bytes(page, SharedValues.offset(page, slot), SharedValues.length(page, slot)));
    }
    int used = model.values().stream().mapToInt(value -> value.bytes.length).sum();
    int slots = SharedValues.headLength() + Page.BODY - 32;
    assertEquals(Page.SIZE - 32 - SharedValues.count(page) * slots - used, SharedValues.free(page));
  }

  /** What a search relies on: a page that is at most so full has room for so many bytes. */
  @Test
  void a_page_of_a_fullness_has_room_for_every_value_that_asks_for_it() {
    for (int bytes = 1; bytes <= SharedValues.MAX_VALUE; bytes++) {
      int fullness = SharedValues.fullnessFor(bytes);
      for (int alone = 1; alone <= SharedValues.MAX_VALUE; alone += 13) {
        int found = SharedValues.fullnessAlone(alone);
        if (found > fullness) {
          continue;
        }
        SharedValues.build(page, 0, 1, 0, new byte[alone]);
        assertEquals(found, SharedValues.fullness(page));
        int slot = SharedValues.nextSlot(page);
        assertTrue(SharedValues.hasRoom(page, slot, bytes), bytes + " beside " + alone);
      }
    }
    assertEquals(1, SharedValues.fullnessAlone(4_060), "two that are as large share a page");
    assertEquals(1, SharedValues.fullnessFor(4_060));
    assertEquals(0, SharedValues.fullnessFor(4_061));
  }

  @Test
  void a_page_has_at_most_255_slots() {
    SharedValues.build(page, 0, 1, 0, filled(1, 1));
    while (SharedValues.nextSlot(page) >= 0) {
      put(page, SharedValues.nextSlot(page), 1, 0, filled(1, 2));
    }
    assertEquals(SharedValues.MAX_SLOTS, SharedValues.count(page));
    assertFalse(SharedValues.hasRoom(page, -1, 1));
    take(page, 100);
    assertEquals(100, SharedValues.nextSlot(page));
  }

  /** Redo may meet a page that is not the one that the change was made to. */
  @Test
  void what_does_not_fit_the_page_is_refused() {
    SharedValues.build(page, 0, 1, 0, filled(8_000, 1));
    assertThrows(IllegalStateException.class, () -> put(page, 0, 1, 0, filled(1, 1)));
    assertThrows(IllegalStateException.class, () -> put(page, 2, 1, 0, filled(1, 1)));
    assertThrows(IllegalStateException.class, () -> put(page, 1, 1, 0, filled(200, 1)));
    assertThrows(IllegalStateException.class, () -> take(page, 1));
    Page.putByte(page, Page.TYPE, Page.OVERFLOW_HEAD);
    assertThrows(IllegalStateException.class, () -> put(page, 1, 1, 0, filled(1, 1)));
    assertThrows(IllegalStateException.class, () -> take(page, 0));
  }

  @Test
  void references_asDrawn() {
    ValueReference reference = new ValueReference(5, 2, 258);
    assertArrayEquals(new byte[] {5, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 3}, reference.bytes());
    assertEquals(reference, ValueReference.of(reference.bytes()));
    assertEquals(258, ValueReference.length(reference.bytes()));
    ValueReference whole = new ValueReference(-1, ValueReference.WHOLE, 1L << 40);
    assertEquals(whole, ValueReference.of(MemorySegment.ofArray(whole.bytes()), 0));
    assertFalse(whole.isShared());
    ValueReference last = new ValueReference(1, SharedValues.MAX_SLOTS - 1, 1);
    assertEquals(last, ValueReference.of(last.bytes()));
  }
}
