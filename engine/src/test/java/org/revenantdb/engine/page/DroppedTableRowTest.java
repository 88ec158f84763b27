package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Entries of dropped tables in the catalogue, byte by byte (format.md §1.5). */
class DroppedTableRowTest {
  private static final byte[] ROW = new TableRow(0x102, new int[] {6, 7}).bytes();

  @Test
  void key_isThePrefixAndTheId() {
    assertArrayEquals(HexFormat.of().parseHex("fe00000102"), DroppedTableRow.key(0x102));
    assertTrue(DroppedTableRow.isKey(DroppedTableRow.key(0x102)));
    assertTrue(DroppedTableRow.isKey(DroppedTableRow.firstKey()));
  }

  @Test
  void keys_comeBehindAllTables_inTheOrderOfTheIds_andBeforeAllSequences() {
    byte[] lastName = "\uDBFF\uDFFF".getBytes(StandardCharsets.UTF_8);
    assertFalse(DroppedTableRow.isKey(lastName));
    assertTrue(Arrays.compareUnsigned(lastName, DroppedTableRow.firstKey()) < 0);
    int[] ids = {1, 2, 255, 256, 1 << 24, Integer.MAX_VALUE, -1};
    byte[] before = DroppedTableRow.firstKey();
    for (int id : ids) {
      assertTrue(Arrays.compareUnsigned(before, DroppedTableRow.key(id)) < 0);
      before = DroppedTableRow.key(id);
    }
    assertTrue(Arrays.compareUnsigned(before, SequenceRow.firstKey()) < 0);
    assertFalse(DroppedTableRow.isKey(SequenceRow.key(lastName)));
  }

  @Test
  void row_hasTheTreesThatAreStillThere() {
    TableRow row = Objects.requireNonNull(DroppedTableRow.of(DroppedTableRow.key(0x102), ROW));
    assertEquals(2, row.trees());
    TableRow shorter = row.withoutLast();
    assertEquals(1, shorter.trees());
    assertEquals(0x102, shorter.id(0));
    assertEquals(6, shorter.root(0));
    assertArrayEquals(new TableRow(0x102, new int[] {6}).bytes(), shorter.bytes());
  }

  @Test
  void row_thatMakesNoSense_isNone() {
    assertNull(DroppedTableRow.of(DroppedTableRow.key(0x103), ROW), "of another table");
    assertNull(DroppedTableRow.of(DroppedTableRow.firstKey(), ROW), "a short key");
    assertNull(DroppedTableRow.of(Arrays.copyOf(DroppedTableRow.key(0x102), 6), ROW), "a long key");
    assertNull(DroppedTableRow.of(DroppedTableRow.key(0x102), new byte[3]));
  }
}
