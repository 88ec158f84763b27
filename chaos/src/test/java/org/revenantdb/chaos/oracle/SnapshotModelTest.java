package org.revenantdb.chaos.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SnapshotModelTest {

  private final SnapshotModel<String, Integer> model = new SnapshotModel<>();

  @Test
  void session_seesItsSnapshotAndItsOwnChanges() {
    var first = model.begin();
    first.change("a", 1);
    var second = model.begin();
    assertEquals(Map.of("a", 1), first.rows());
    assertEquals(Map.of(), second.rows());
    first.commit();
    assertEquals(Map.of(), second.rows());
    assertEquals(Map.of("a", 1), model.begin().rows());
  }

  @Test
  void conflict_withAChangeInProgressAndWithALaterCommit() {
    var first = model.begin();
    var second = model.begin();
    first.change("a", 1);
    assertTrue(second.conflicts("a"));
    assertFalse(first.conflicts("a"));
    first.commit();
    assertTrue(second.conflicts("a"));
    assertThrows(IllegalStateException.class, () -> second.change("a", 2));
    assertFalse(model.begin().conflicts("a"));
  }

  @Test
  void rollback_freesTheRows() {
    var first = model.begin();
    var second = model.begin();
    first.change("a", 1);
    first.rollback();
    assertFalse(second.conflicts("a"));
    second.change("a", 2);
    second.commit();
    assertEquals(Map.of("a", 2), model.committed());
  }

  @Test
  void rollback_twice_doesNotAffectOthers() {
    var first = model.begin();
    first.change("a", 1);
    first.rollback();
    var second = model.begin();
    second.change("a", 2);
    first.rollback();
    assertTrue(model.begin().conflicts("a"));
  }

  @Test
  void delete_andReinsert_countAsChanges() {
    var first = model.begin();
    first.change("a", 1);
    first.commit();
    var old = model.begin();
    var deleting = model.begin();
    deleting.change("a", null);
    deleting.commit();
    assertTrue(old.conflicts("a"));
    assertEquals(Map.of("a", 1), old.rows());
    assertEquals(Map.of(), model.committed());
  }
}
