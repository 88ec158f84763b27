package org.revenantdb.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a backup and concurrent writers share the time; the clock is a number. */
class WriterShareTest {
  private static final long MILLISECOND = 1_000_000;
  private static final long PIECE = 3 * MILLISECOND;

  private final WriterShare share = new WriterShare();

  /** Commits a second: alone, and beside a copy. */
  private double alone;

  private double beside;

  /** Commits come together, with so many nanoseconds between them. */
  private long groups;

  private long nextGroup;
  private long clock;
  private double rest;
  private double copied;
  private double paused;
  private double commits;

  private long commits(double rate, long nanos) {
    rest += rate * nanos / 1e9;
    clock += nanos;
    if (clock < nextGroup) {
      return 0;
    }
    nextGroup = clock + groups;
    long whole = (long) rest;
    rest -= whole;
    commits += whole;
    return whole;
  }

  private void run(long nanos) {
    copied = 0;
    paused = 0;
    commits = 0;
    while (copied + paused < nanos) {
      share.copied(PIECE, commits(beside, PIECE));
      copied += PIECE;
      long pause = share.pause();
      if (pause > 0) {
        share.paused(pause, commits(alone, pause));
        paused += pause;
      }
    }
  }

  private double kept() {
    return commits * 1e9 / (copied + paused) / alone;
  }

  private double worked() {
    return copied / (copied + paused);
  }

  private void settle(double aloneRate, double besideRate) {
    alone = aloneRate;
    beside = besideRate;
    share.paused(10 * MILLISECOND, commits(alone, 10 * MILLISECOND));
    run(3_000 * MILLISECOND);
    run(3_000 * MILLISECOND);
  }

  @Test
  void without_writers_there_is_no_pause() {
    settle(0, 0);
    assertEquals(0, paused);
    assertFalse(share.hasWriters());
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.1, 0.37, 0.6, 0.85})
  void writers_keep_nine_tenths_and_the_backup_gets_what_is_left(double ratio) {
    settle(5_000, 5_000 * ratio);
    assertEquals(WriterShare.KEPT, kept(), 0.01);
    assertEquals((1 - WriterShare.KEPT) / (1 - ratio), worked(), 0.02);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.95, 1, 1.3})
  void a_copy_that_costs_writers_little_hardly_pauses(double ratio) {
    settle(5_000, 5_000 * ratio);
    assertEquals(WriterShare.MOST, worked(), 0.02);
    assertTrue(share.hasWriters());
  }

  @ParameterizedTest
  @ValueSource(doubles = {3, 50, 1_000_000})
  void the_backup_goes_on_at_any_speed_of_writers(double rate) {
    settle(rate, 0);
    assertTrue(worked() >= 1 - WriterShare.KEPT - 0.01, () -> "a share of " + worked());
  }

  @Test
  void writers_that_have_ended_leave_all_the_time_to_the_backup() {
    settle(2_000, 200);
    assertTrue(worked() < 0.2, () -> "a share of " + worked());
    alone = 0;
    beside = 0;
    run(2_000 * MILLISECOND);
    assertFalse(share.hasWriters());
    assertTrue(worked() > 0.8, () -> "a share of " + worked());
  }

  /** Many sessions that wait for the same forces: all commit at once, and then nobody. */
  @ParameterizedTest
  @ValueSource(ints = {5, 20, 50, 100})
  void writers_that_commit_in_groups_keep_nine_tenths_as_well(int milliseconds) {
    groups = milliseconds * MILLISECOND;
    settle(3_200, 960);
    assertEquals(WriterShare.KEPT, kept(), 0.05);
  }

  @Test
  void a_single_commit_at_the_begin_slows_nothing_down_for_long() {
    share.paused(MILLISECOND, 1);
    run(2_000 * MILLISECOND);
    assertTrue(paused < 300 * MILLISECOND, () -> paused / MILLISECOND + " ms of pauses");
  }

  @Test
  void writers_that_begin_are_seen() {
    settle(0, 0);
    settle(5_000, 2_000);
    assertEquals(WriterShare.KEPT, kept(), 0.01);
  }

  @Test
  void writers_that_stand_still_while_pages_are_copied_have_not_ended() {
    settle(5_000, 0);
    share.copied(500 * MILLISECOND, 0);
    assertTrue(share.hasWriters());
    assertTrue(share.pause() > 0);
  }

  @Test
  void a_pause_is_as_long_as_the_piece_while_the_speed_without_a_copy_is_not_known() {
    share.copied(PIECE, 0);
    assertEquals(0, share.pause());
    share.copied(PIECE, 4);
    assertEquals(PIECE, share.pause());
  }
}
