package org.revenantdb.jmh.recovery;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** That a row is known whatever its number is, and anything else is not taken for it. */
class BigRowsTest {
  private static final long KEY = 1_234;

  @Test
  void row_ofAnyNumber_isKnown() {
    for (int number : new int[] {0, 1, -1, 77}) {
      assertDoesNotThrow(() -> BigRows.demand(KEY, BigRows.row(KEY, number)));
    }
  }

  @Test
  void otherRow_isNoticed() {
    byte[] row = BigRows.row(KEY, 3);
    assertThrows(IllegalStateException.class, () -> BigRows.demand(KEY + 1, row));
    assertThrows(IllegalStateException.class, () -> BigRows.demand(KEY, null));
    assertThrows(
        IllegalStateException.class, () -> BigRows.demand(KEY, Arrays.copyOf(row, row.length - 1)));
    assertThrows(IllegalStateException.class, () -> BigRows.demand(KEY, new byte[0]));
    row[row.length - 1]++;
    assertThrows(IllegalStateException.class, () -> BigRows.demand(KEY, row));
  }
}
