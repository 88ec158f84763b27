package org.revenantdb.gc.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** What is known of deleted rows that are gone (docs/protocols.md §41). */
class UnseenDeletesWordsTest {
  private static final byte[] KEY = {'k'};

  private final UnseenDeletes deletes = new UnseenDeletes(new DepartedRows(_ -> {}, _ -> {}));

  @Test
  void aDelete_isKnownToThoseFromBeforeIt_inItsTable() {
    deletes.taken(7, KEY, 10);
    deletes.taken(7, KEY, 8);
    assertEquals(10, deletes.after(7, KEY, 9));
    assertTrue(deletes.anyAfter(7, 9));
    assertEquals(0, deletes.after(7, KEY, 10));
    assertFalse(deletes.anyAfter(7, 10));
    assertEquals(0, deletes.after(8, KEY, 0));
    assertFalse(deletes.anyAfter(8, 0));
  }

  @Test
  void wordsOfATable_goWhenAllSnapshotsAreBehindItsDeletes() {
    deletes.taken(7, KEY, 10);
    deletes.taken(8, KEY, 12);
    deletes.forget(9);
    assertEquals(2, deletes.tables());
    deletes.forget(10);
    assertEquals(1, deletes.tables());
    assertEquals(12, deletes.after(8, KEY, 10));
    deletes.forget(12);
    assertEquals(0, deletes.tables());
    deletes.taken(7, KEY, 13);
    assertEquals(13, deletes.after(7, KEY, 12));
  }
}
