package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.RowDecision.Writer;

/**
 * All combinations of what a row can be and what is written to it. The expected results are stated
 * in terms of versions, without the table: what the transaction would read, and what all see after
 * it has aborted.
 */
class RowDecisionTest {
  private static final Set<RowDecision> WRITES =
      EnumSet.of(
          RowDecision.INSERT,
          RowDecision.REPLACE_OWN,
          RowDecision.REPLACE_ABORTED,
          RowDecision.KEEP);

  /** A version of the row: its writer, and whether it says that the row was deleted. */
  private record Version(Writer writer, boolean isDeletion) {}

  /** A row on its leaf, and what is written to it. */
  private record Case(
      @Nullable Version current, @Nullable Version before, boolean deletes, boolean isGone) {
    RowDecision decision() {
      return RowDecision.of(
          current == null ? Writer.NOBODY : current.writer,
          current != null && current.isDeletion,
          before == null ? Writer.NOBODY : before.writer,
          before != null && before.isDeletion,
          deletes,
          isGone);
    }

    /** The newest version that was not taken back. */
    @Nullable Version newest() {
      return current != null && current.writer == Writer.ABORTED ? before : current;
    }

    /** The row after the write, as its leaf has it: current version and predecessor. */
    Case after() {
      Version written = new Version(Writer.SELF, deletes);
      Version predecessor =
          switch (decision()) {
            case INSERT -> null;
            case REPLACE_OWN, REPLACE_ABORTED -> before;
            case KEEP -> current;
            default -> throw new AssertionError(this);
          };
      return new Case(written, predecessor, deletes, isGone);
    }

    Case aborted() {
      Version taken = Objects.requireNonNull(current);
      return new Case(new Version(Writer.ABORTED, taken.isDeletion), before, deletes, isGone);
    }
  }

  private static List<Case> cases() {
    List<@Nullable Version> currents = new ArrayList<>();
    currents.add(null);
    for (Writer writer : Writer.values()) {
      if (writer != Writer.NOBODY) {
        currents.add(new Version(writer, false));
        currents.add(new Version(writer, true));
      }
    }
    List<@Nullable Version> befores = new ArrayList<>();
    befores.add(null);
    for (Writer writer : List.of(Writer.VISIBLE, Writer.LATER)) {
      befores.add(new Version(writer, false));
      befores.add(new Version(writer, true));
    }
    List<Case> cases = new ArrayList<>();
    for (Version current : currents) {
      for (Version before : current == null ? befores.subList(0, 1) : befores) {
        for (boolean deletes : new boolean[] {false, true}) {
          cases.add(new Case(current, before, deletes, false));
          cases.add(new Case(current, before, deletes, true));
        }
      }
    }
    assertEquals(4 + 10 * 5 * 4, cases.size());
    return cases;
  }

  @Test
  void the_first_updater_wins_and_nothing_else_is_a_conflict() {
    for (Case row : cases()) {
      Version newest = row.newest();
      boolean another =
          newest == null
              ? row.isGone
              : newest.writer == Writer.OPEN || newest.writer == Writer.LATER;
      RowDecision decision = row.decision();
      assertEquals(another, decision.name().startsWith("CONFLICT"), row::toString);
      if (another) {
        RowDecision expected =
            newest == null
                ? RowDecision.CONFLICT_GONE
                : newest == row.current ? RowDecision.CONFLICT : RowDecision.CONFLICT_BEFORE;
        assertEquals(expected, decision, row::toString);
      }
    }
  }

  @Test
  void only_a_row_that_is_not_there_cannot_be_deleted() {
    for (Case row : cases()) {
      RowDecision decision = row.decision();
      if (decision.name().startsWith("CONFLICT")) {
        continue;
      }
      Version newest = row.newest();
      boolean isThere = newest != null && !newest.isDeletion;
      assertEquals(row.deletes && !isThere, decision == RowDecision.NOTHING, row::toString);
    }
  }

  /** R3: a transaction that aborts leaves the row as the others saw it before. */
  @Test
  void R3_after_an_abort_the_row_is_what_it_was_before_the_first_write() {
    int written = 0;
    for (Case row : cases()) {
      if (!WRITES.contains(row.decision())) {
        continue;
      }
      written++;
      Version untouched =
          row.current != null && row.current.writer == Writer.SELF ? row.before : row.newest();
      assertEquals(untouched, row.after().aborted().newest(), row::toString);
    }
    assertNotEquals(0, written);
  }

  /** A second write has to find the transaction's own version, and keep what stood before it. */
  @Test
  void R3_after_two_writes_and_an_abort_the_row_is_what_it_was() {
    for (Case row : cases()) {
      if (!WRITES.contains(row.decision())) {
        continue;
      }
      for (boolean deletes : new boolean[] {false, true}) {
        Case first = row.after();
        Case second = new Case(first.current, first.before, deletes, row.isGone);
        if (row.deletes && deletes) {
          assertEquals(RowDecision.NOTHING, second.decision(), second::toString);
        } else {
          assertEquals(RowDecision.REPLACE_OWN, second.decision(), second::toString);
          assertEquals(
              first.aborted().newest(), second.after().aborted().newest(), second::toString);
        }
      }
    }
  }

  @Test
  void the_version_that_others_see_is_never_given_up() {
    for (Case row : cases()) {
      if (WRITES.contains(row.decision())
          && row.current != null
          && row.current.writer == Writer.VISIBLE) {
        assertEquals(row.current, row.after().before, row::toString);
      }
    }
  }

  @Test
  void a_new_row_has_no_predecessor() {
    for (Case row : cases()) {
      if (row.decision() == RowDecision.INSERT) {
        assertNull(row.current);
        assertFalse(row.deletes);
      }
    }
  }

  @Test
  void the_snapshot_decides_whether_a_committed_version_is_seen() {
    assertEquals(Writer.OPEN, Writer.of(TransactionTable.ACTIVE, 100));
    assertEquals(Writer.ABORTED, Writer.of(TransactionTable.ABORTED, 100));
    assertEquals(Writer.VISIBLE, Writer.of(TransactionTable.COMMITTED_FOR_ALL, 0));
    assertEquals(Writer.VISIBLE, Writer.of(100, 100));
    assertEquals(Writer.LATER, Writer.of(101, 100));
    assertTrue(TransactionTable.isCommitted(100));
  }
}
