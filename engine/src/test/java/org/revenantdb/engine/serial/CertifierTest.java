package org.revenantdb.engine.serial;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.Await;

/**
 * The order of commits, step by step (protocols.md §34). Names of tables stand for what is read.
 */
@Tag("stress")
class CertifierTest {
  private static final SerialReads.Look UNCHANGED = (tree, from, to) -> false;

  private static final int MOST_QUIET = 50;

  private int waits;
  private final Certifier certifier = new Certifier(() -> waits++, 2_000, MOST_QUIET);
  private long lsn = 100;

  private SerialReads begin(String... names) {
    SerialReads reads = certifier.begin();
    reads.snapshot(lsn);
    for (String name : names) {
      reads.read(name);
    }
    return reads;
  }

  /** Another commits that has changed some tables. */
  private void commits(String... names) {
    long pass = certifier.enter();
    long at = ++lsn;
    certifier.committed(
        pass,
        where -> new Commit(where, List.of(), /* isKnown= */ true, List.of(), List.of(names)),
        at);
    certifier.leave(pass);
  }

  private long enter(SerialReads reads) throws ChangedException {
    return certifier.enter(reads, certifier.validate(reads, UNCHANGED));
  }

  @Test
  void R20_nobody_takes_the_gate_before_there_is_a_serializable_transaction() {
    assertEquals(Certifier.UNGATED, certifier.enter());
    assertFalse(certifier.mustEnter(Certifier.UNGATED));
    SerialReads reads = begin();
    assertTrue(certifier.mustEnter(Certifier.UNGATED));
    certifier.end(reads);
    long pass = certifier.enter();
    assertNotEquals(Certifier.UNGATED, pass);
    certifier.leave(pass);
  }

  @Test
  void R20_nobody_takes_the_gate_any_more_when_no_transaction_was_serializable_for_long() {
    certifier.end(begin());
    for (int i = 0; i < MOST_QUIET; i++) {
      assertTrue(certifier.mustEnter(Certifier.UNGATED), "after " + i);
      commits();
    }
    assertEquals(Certifier.UNGATED, certifier.enter());
    assertFalse(certifier.mustEnter(Certifier.UNGATED));
    assertEquals(1, waits);
    certifier.end(begin());
    assertTrue(certifier.mustEnter(Certifier.UNGATED));
    assertEquals(2, waits, "who has committed without the gate meanwhile");
  }

  @Test
  void R20_the_gate_is_taken_while_one_is_serializable_however_many_commit() throws Exception {
    SerialReads reads = begin("a");
    for (int i = 0; i < 3 * MOST_QUIET; i++) {
      commits();
    }
    assertTrue(certifier.mustEnter(Certifier.UNGATED));
    long pass = enter(reads);
    certifier.leave(pass);
    commits("a");
    assertThrows(ChangedException.class, () -> certifier.validate(reads, UNCHANGED));
  }

  @Test
  void R20_what_committed_before_the_gate_was_given_up_does_not_bring_that_nearer() {
    certifier.end(begin());
    for (int i = 1; i < MOST_QUIET; i++) {
      commits();
    }
    certifier.end(begin());
    commits();
    assertTrue(certifier.mustEnter(Certifier.UNGATED));
    assertEquals(1, waits);
  }

  @Test
  void R20_the_first_serializable_one_waits_for_those_who_commit_without_the_gate() {
    boolean[] mustEnter = {false};
    Certifier[] own = new Certifier[1];
    own[0] =
        new Certifier(
            () -> mustEnter[0] = own[0].mustEnter(Certifier.UNGATED)); // who looks now has to
    own[0].begin();
    assertTrue(mustEnter[0]);
  }

  @Test
  void R20_a_second_one_does_not_begin_while_the_first_still_waits() throws Exception {
    CompletableFuture<Void> outcome = new CompletableFuture<>();
    CompletableFuture<Void> waiting = new CompletableFuture<>();
    Certifier own =
        new Certifier(() -> {
          waiting.complete(null);
          outcome.join();
        });
    CompletableFuture<SerialReads> first = CompletableFuture.supplyAsync(own::begin);
    waiting.get();
    Thread second = Thread.ofPlatform().start(own::begin);
    while (second.getState() != Thread.State.WAITING) {
      assertTrue(second.isAlive(), "it has begun");
      Await.pause();
    }
    outcome.complete(null);
    first.get();
    second.join();
  }

  @Test
  void R20_a_wait_that_fails_is_made_again_by_the_next() {
    int[] waits = {0};
    Certifier own =
        new Certifier(() -> {
          if (waits[0]++ == 0) {
            throw new IllegalStateException("planted");
          }
        });
    assertThrows(IllegalStateException.class, own::begin);
    own.end(own.begin());
    own.end(own.begin());
    assertEquals(2, waits[0]);
  }

  @Test
  void R20_nobody_commits_between_the_last_look_and_the_commit() throws Exception {
    SerialReads reads = begin("a");
    long pass = enter(reads);
    Thread other = Thread.ofPlatform().start(() -> commits("a"));
    while (other.getState() != Thread.State.WAITING) {
      assertTrue(other.isAlive(), "it has committed");
      Await.pause();
    }
    certifier.leave(pass);
    other.join();
    assertThrows(ChangedException.class, () -> certifier.validate(reads, UNCHANGED));
  }

  @Test
  void R20_what_comes_between_the_looks_outside_and_inside_is_met_inside() throws Exception {
    SerialReads reads = begin("a");
    commits("b");
    Certifier.Validated validated = certifier.validate(reads, UNCHANGED);
    commits("a");
    ChangedException changed =
        assertThrows(ChangedException.class, () -> certifier.enter(reads, validated));
    assertEquals(lsn, changed.lsn());
    assertThrows(
        ChangedException.class,
        () -> certifier.validate(reads, UNCHANGED),
        "it is no better the next time");
  }

  @Test
  void what_was_committed_at_or_below_the_snapshot_changes_nothing() {
    SerialReads early = begin();
    commits("a");
    SerialReads reads = certifier.begin();
    commits("a");
    reads.snapshot(lsn);
    reads.read("a");
    assertDoesNotThrow(() -> certifier.validate(reads, UNCHANGED));
    certifier.end(early);
  }

  @Test
  void R20_commits_of_whom_nobody_knows_what_they_wrote_have_the_rows_read_again()
      throws Exception {
    SerialReads reads = begin("a");
    Certifier.Validated before = certifier.validate(reads, UNCHANGED);
    long pass = certifier.enter();
    long at = ++lsn;
    certifier.committed(
        pass,
        where -> new Commit(where, List.of(), /* isKnown= */ false, List.of(), List.of()),
        at);
    certifier.leave(pass);
    assertEquals(Certifier.UNGATED, certifier.enter(reads, before), "to be looked at again");
    pass = enter(reads);
    assertNotEquals(Certifier.UNGATED, pass);
    certifier.leave(pass);
  }

  @Test
  void R20_a_list_that_is_begun_anew_is_not_taken_for_one_that_was_looked_at() throws Exception {
    SerialReads reads = begin("a");
    Certifier.Validated before = certifier.validate(reads, UNCHANGED);
    commits("a");
    for (int i = 0; i < 100; i++) {
      commits();
    }
    assertEquals(Certifier.UNGATED, certifier.enter(reads, before));
    assertThrows(ChangedException.class, () -> certifier.validate(reads, UNCHANGED));
  }

  @Test
  void R20_one_that_misses_too_many_changes_of_tables_is_refused() {
    SerialReads reads = begin("a");
    for (int i = 0; i < 3_000; i++) {
      commits("other");
    }
    assertThrows(ChangedException.class, () -> certifier.validate(reads, UNCHANGED));
    SerialReads later = begin("a");
    commits("other");
    assertDoesNotThrow(() -> certifier.validate(later, UNCHANGED));
  }

  @Test
  void R20_a_commit_that_could_not_be_entered_for_want_of_memory_refuses_who_is_open() {
    SerialReads reads = begin("a");
    long pass = certifier.enter();
    certifier.committed(
        pass,
        where -> {
          throw new OutOfMemoryError("planted");
        },
        ++lsn);
    certifier.leave(pass);
    assertThrows(ChangedException.class, () -> certifier.validate(reads, UNCHANGED));
    assertDoesNotThrow(() -> certifier.validate(begin("a"), UNCHANGED));
  }
}
