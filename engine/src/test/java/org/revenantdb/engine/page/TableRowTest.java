package org.revenantdb.engine.page;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Rows of the catalogue, byte by byte (format.md §1.5). */
class TableRowTest {
  private static final byte[] ORDINARY = bytes("07000000 05010000");
  private static final byte[] HASHED = bytes("07000000 05010000 01 01 0300 06010000 09020000");

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  private static byte[] with(int index, int value) {
    byte[] row = HASHED.clone();
    row[index] = (byte) value;
    return row;
  }

  @Test
  void row_ofAnOrdinaryTable() {
    assertArrayEquals(ORDINARY, new TableRow(7, new int[] {0x105}).bytes());
    TableRow row = Objects.requireNonNull(TableRow.of(ORDINARY));
    assertEquals(1, row.trees());
    assertEquals(7, row.id(0));
    assertEquals(7, row.lastId());
    assertEquals(0x105, row.root(0));
  }

  @Test
  void row_ofAHashPartitionedTable() {
    assertArrayEquals(HASHED, new TableRow(7, new int[] {0x105, 0x106, 0x209}).bytes());
    TableRow row = Objects.requireNonNull(TableRow.of(HASHED));
    assertEquals(3, row.trees());
    assertEquals(8, row.id(1));
    assertEquals(9, row.lastId());
    assertEquals(0x105, row.root(0));
    assertEquals(0x106, row.root(1));
    assertEquals(0x209, row.root(2));
  }

  @Test
  void row_thatMakesNoSense_isNone() {
    assertNull(TableRow.of(new byte[0]));
    for (int length = 1; length < HASHED.length; length++) {
      if (length != ORDINARY.length) {
        assertNull(TableRow.of(Arrays.copyOf(HASHED, length)), "of length " + length);
      }
    }
    assertNull(TableRow.of(Arrays.copyOf(HASHED, HASHED.length + 4)));
    assertNull(TableRow.of(with(8, 2)), "another kind");
    assertNull(TableRow.of(with(9, 2)), "another hash");
    assertNull(TableRow.of(with(10, 2)), "another number of partitions");
    assertNull(TableRow.of(new TableRow(1, new int[65]).bytes()), "too many partitions");
  }
}
