package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Cells that are gathered make the same leaf as cells that come to the page one by one. */
class LeafCellsTest {
  private static final int TABLE = 7;
  private static final long WRITER = 99;

  @Test
  void gathered_cells_make_the_leaf_that_appended_cells_make() {
    long first = System.nanoTime();
    for (long seed = first; seed < first + 300; seed++) {
      try {
        round(new Random(seed));
      } catch (Throwable failure) {
        throw new AssertionError("seed " + seed + ": " + failure, failure);
      }
    }
  }

  private static void round(Random random) {
    byte[] common = new byte[random.nextInt(3) * random.nextInt(150)];
    random.nextBytes(common);
    TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    for (int i = 1 + random.nextInt(random.nextBoolean() ? 3 : 300); i > 0; i--) {
      byte[] key = Arrays.copyOf(common, common.length + 1 + random.nextInt(12));
      for (int at = common.length; at < key.length; at++) {
        key[at] = (byte) random.nextInt(random.nextBoolean() ? 256 : 3);
      }
      keys.add(key);
    }
    byte[] lower = Arrays.copyOf(common, random.nextInt(common.length + 1));
    byte[] upper = Arrays.copyOf(common, common.length + 14);
    Arrays.fill(upper, common.length, upper.length, (byte) 0xFF);
    SlottedBuilder appended = begun(lower);
    SlottedBuilder gathered = begun(lower);
    for (byte[] key : keys) {
      boolean isOverflow = random.nextInt(10) == 0;
      byte[] value = new byte[isOverflow ? LeafCell.REFERENCE : random.nextInt(60)];
      byte[] cell = LeafCell.build(key, isOverflow ? LeafCell.OVERFLOW : 0, WRITER, value);
      if (appended.free() < cell.length + Slotted.LEAF_SLOT + upper.length) {
        break;
      }
      appended.append(cell);
      gathered.gather(cell);
      assertEquals(appended.free(), gathered.free());
      assertArrayEquals(appended.lastKey(), gathered.lastKey());
    }
    if (random.nextInt(3) > 0) {
      if (random.nextInt(4) == 0) {
        gathered.page(); // is asked for before its fence
      }
      appended.upperFence(upper);
      gathered.upperFence(upper);
    }
    assertSame(appended.page(), gathered.page());
    assertEquals(appended.free(), gathered.free());
    assertEquals(appended.headLength(), gathered.headLength());
    assertEquals(appended.tailLength(), gathered.tailLength());
  }

  /** As many cells as a leaf can have at most: keys as short as possible, and no values. */
  @Test
  void a_leaf_full_of_the_smallest_rows_is_the_one_that_appended_cells_make() {
    for (boolean hasFence : new boolean[] {true, false}) {
      SlottedBuilder appended = begun(new byte[0]);
      SlottedBuilder gathered = begun(new byte[0]);
      byte[] upper = {(byte) 0xFF, (byte) 0xFF, (byte) 0xFF};
      int count = 0;
      for (int key = 0; key < 1 << 16; key++) {
        byte[] bytes = {(byte) (key >> 8), (byte) key};
        byte[] cell = LeafCell.build(bytes, 0, WRITER, new byte[0]);
        if (appended.free() < cell.length + Slotted.LEAF_SLOT + upper.length) {
          break;
        }
        appended.append(cell);
        gathered.gather(cell);
        count++;
      }
      assertTrue(count > 300, "cells: " + count);
      if (hasFence) {
        appended.upperFence(upper);
        gathered.upperFence(upper);
      }
      assertSame(appended.page(), gathered.page());
      assertEquals(appended.free(), gathered.free());
    }
  }

  private static SlottedBuilder begun(byte[] lower) {
    SlottedBuilder builder = new SlottedBuilder();
    builder.begin(0, TABLE, new byte[0], null); // of a former leaf nothing may stay
    builder.gather(LeafCell.build(new byte[] {1, 2, 3}, 0, 1, new byte[5]));
    builder.upperFence(new byte[] {2});
    builder.begin(0, TABLE, lower, null);
    builder.writtenBy(WRITER);
    return builder;
  }

  private static void assertSame(MemorySegment expected, MemorySegment found) {
    assertNull(SlottedSearch.problemOfHeads(found));
    assertEquals(Slotted.count(expected), Slotted.count(found));
    assertEquals(Slotted.skip(expected), Slotted.skip(found));
    assertEquals(Slotted.prefix(expected), Slotted.prefix(found));
    assertEquals(Slotted.maxWriter(expected), Slotted.maxWriter(found));
    assertEquals(Slotted.hasUpperFence(expected), Slotted.hasUpperFence(found));
    assertArrayEquals(Slotted.lowerFence(expected), Slotted.lowerFence(found));
    for (int slot = 0; slot < Slotted.count(expected); slot++) {
      int a = Slotted.cell(expected, slot);
      int b = Slotted.cell(found, slot);
      assertArrayEquals(Slotted.keyOf(expected, a), Slotted.keyOf(found, b));
      assertArrayEquals(LeafCell.value(expected, a), LeafCell.value(found, b));
      assertEquals(LeafCell.writer(expected, a), LeafCell.writer(found, b));
      assertEquals(LeafCell.flags(expected, a), LeafCell.flags(found, b));
      assertEquals(Slotted.head(expected, slot), Slotted.head(found, slot));
    }
  }
}
