package org.revenantdb.recovery.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.Await;

/** Slowing down, with a clock that advances only when a thread waits. */
class PaceTest {
  private static final long MARK = 6_000;
  private static final long BOUND = 8_000;

  /** The time in which a checkpoint frees a byte. */
  private static final long RATE = 50;

  private static final class Clock implements Pace.Time {
    private long now = Long.MAX_VALUE - 1_000; // as nanoTime may: it overflows
    private final List<Long> pauses = new ArrayList<>();

    @Override
    public long now() {
      return now;
    }

    @Override
    public void pause(long nanos) {
      pauses.add(nanos);
      now += nanos;
    }

    long paused() {
      return pauses.stream().mapToLong(nanos -> nanos).sum();
    }
  }

  private final Clock clock = new Clock();
  private final Pace pace = new Pace(MARK, BOUND, clock);

  private static void slowDown(Pace pace, long used, long total, long credit) {
    long due = pace.due(used, total, credit);
    if (due > 0) {
      pace.pause(due);
    }
  }

  private void measured() {
    pace.asked();
    clock.now += 1_000 * RATE;
    pace.freed(1_000);
  }

  @Test
  void up_to_the_mark_no_caller_waits() {
    measured();
    for (int tail = 100; tail < 10_000; tail += 100) {
      slowDown(pace, MARK, tail, 100);
    }
    assertEquals(List.of(), clock.pauses);
  }

  @Test
  void no_caller_waits_before_a_checkpoint_has_shown_its_speed() {
    slowDown(pace, BOUND, 1_000, 1_000);
    pace.freed(1_000); // not requested, so its duration is unknown
    slowDown(pace, BOUND, 2_000, 1_000);
    assertEquals(List.of(), clock.pauses);
  }

  @Test
  void a_wait_is_in_proportion_to_growth_pressure_and_the_speed_of_checkpoints() {
    measured();
    slowDown(pace, BOUND, 100, 1_000);
    slowDown(pace, BOUND, 300, 1_000);
    slowDown(pace, (MARK + BOUND) / 2, 500, 1_000);
    assertEquals(List.of(100 * RATE, 200 * RATE, 100 * RATE), clock.pauses);
  }

  /** Beyond the bound a byte costs the time in which one is freed, and not more. */
  @Test
  void beyond_the_bound_a_wait_is_as_at_the_bound() {
    measured();
    slowDown(pace, 3 * BOUND, 100, 1_000);
    assertEquals(List.of(100 * RATE), clock.pauses);
  }

  @Test
  void the_speed_of_checkpoints_is_an_average_in_which_a_new_one_counts_a_quarter() {
    measured();
    pace.asked();
    clock.now += 1_000 * (RATE + 40);
    pace.freed(1_000);
    slowDown(pace, BOUND, 100, 1_000);
    assertEquals(List.of(100 * (RATE + 10)), clock.pauses);
  }

  /** The time between two checkpoints does not count for their speed. */
  @Test
  void a_checkpoint_is_measured_from_its_request() {
    measured();
    clock.now += 1_000_000 * RATE;
    measured();
    slowDown(pace, BOUND, 100, 1_000);
    assertEquals(List.of(100 * RATE), clock.pauses);
  }

  @Test
  void a_checkpoint_that_was_not_requested_or_frees_nothing_is_not_measured() {
    pace.asked();
    clock.now += 1_000 * RATE;
    pace.freed(0);
    slowDown(pace, BOUND, 100, 1_000);
    assertEquals(List.of(), clock.pauses, "nothing is known yet");
    measured();
    clock.now += 1_000_000 * RATE;
    pace.freed(1_000);
    slowDown(pace, BOUND, 200, 1_000);
    assertEquals(List.of(200 * RATE), clock.pauses, "as fast as the one that was asked for");
  }

  /** The growth of the log before the first payment is not charged to the first payer. */
  @Test
  void no_caller_pays_for_more_than_its_credit() {
    measured();
    slowDown(pace, BOUND, 1_000_000, 10);
    assertEquals(List.of(10 * RATE), clock.pauses);
  }

  @Test
  void no_wait_is_longer_than_its_bound() {
    pace.asked();
    clock.now += Pace.LONGEST;
    pace.freed(1);
    for (int i = 1; i < 100; i++) {
      slowDown(pace, 2 * BOUND, i * 1_000_000L, 1_000_000);
    }
    assertTrue(clock.pauses.stream().allMatch(nanos -> nanos <= Pace.LONGEST));
  }

  /** However many callers came before, the shared time is never further away than the bound. */
  @Test
  void of_many_simultaneous_callers_none_waits_longer_than_the_bound() {
    List<Long> waits = new ArrayList<>();
    Pace shared = new Pace(MARK, BOUND, standing(waits));
    shared.asked();
    clock.now += Pace.LONGEST;
    shared.freed(100); // a tenth of a millisecond for each byte
    for (int i = 1; i <= 300; i++) {
      slowDown(shared, BOUND, i, 100);
    }
    assertEquals(Pace.LONGEST / 100, waits.getFirst());
    assertEquals(Pace.LONGEST, waits.getLast());
    assertTrue(waits.stream().allMatch(nanos -> nanos <= Pace.LONGEST), waits::toString);
  }

  private Pace.Time standing(List<Long> waits) {
    return new Pace.Time() {
      @Override
      public long now() {
        return clock.now;
      }

      @Override
      public void pause(long nanos) {
        waits.add(nanos);
      }
    };
  }

  /** Simultaneous callers wait one after the other, not all for the same time. */
  @Test
  void all_share_one_time() {
    measured();
    List<Long> waits = new ArrayList<>();
    Pace shared = new Pace(MARK, BOUND, standing(waits));
    shared.asked();
    clock.now += 1_000 * RATE;
    shared.freed(1_000);
    for (int i = 1; i <= 4; i++) {
      slowDown(shared, BOUND, i * 100, 100);
    }
    assertEquals(List.of(100 * RATE, 200 * RATE, 300 * RATE, 400 * RATE), waits);
  }

  /** Writers want twice what is freed: use settles between mark and bound, in many small waits. */
  @Test
  void a_log_that_grows_too_fast_settles_before_the_bound() {
    measured();
    long wanted = RATE / 2;
    long tail = 0;
    long freed = 0;
    long begin = clock.now;
    long worst = 0;
    for (int i = 0; i < 100_000; i++) {
      clock.now += 10 * wanted; // the work itself
      tail += 10;
      freed = Math.min(tail, (clock.now - begin) / RATE); // checkpoints run all the time
      long used = MARK - 1_000 + tail - freed;
      worst = Math.max(worst, used);
      slowDown(pace, used, tail, 1_000);
    }
    assertTrue(worst < BOUND, "used " + worst);
    assertTrue(worst > MARK, "used " + worst);
    assertTrue(clock.pauses.stream().allMatch(nanos -> nanos <= 10 * RATE), "small waits");
    assertTrue(clock.paused() > 0);
  }

  /**
   * A checkpoint is requested at 5,000, the bound is 8,000: half way between, slowing down begins.
   */
  @Test
  void slowing_down_begins_half_way_between_request_and_bound_including_the_new_credit() {
    AtomicLong tail = new AtomicLong();
    LogSpace space = new LogSpace(tail::get, 10_000, 2_000, () -> {}, clock);
    space.acquire(6_000);
    tail.addAndGet(6_000);
    space.release(6_000);
    clock.now += 6_000 * RATE;
    space.redoPointMoved(6_000);
    tail.addAndGet(6_000);
    space.acquire(500);
    space.release(500);
    assertEquals(List.of(), clock.pauses, "at the mark");
    space.acquire(600);
    assertEquals(1, clock.pauses.size(), "beyond it");
  }

  /**
   * The cleaner's steps are many and small. If each had to pay for what writers have written
   * meanwhile, the remains of dropped tables would grow as long as writers write.
   */
  @Test
  void a_cleaning_caller_is_not_slowed_down_but_waits_for_room() throws InterruptedException {
    AtomicLong tail = new AtomicLong();
    LogSpace space = new LogSpace(tail::get, 10_000, 2_000, () -> {}, clock);
    space.acquire(6_000);
    tail.addAndGet(6_000);
    space.release(6_000);
    clock.now += 6_000 * RATE;
    space.redoPointMoved(6_000);
    tail.addAndGet(7_900);
    space.acquireToClean(100);
    assertEquals(List.of(), clock.pauses);
    Thread beyond = Thread.ofPlatform().start(() -> space.acquireToClean(1));
    while (!List.of(Thread.State.WAITING, Thread.State.TIMED_WAITING).contains(beyond.getState())) {
      assertTrue(beyond.isAlive(), "it was given what is not there");
      Await.pause();
    }
    space.redoPointMoved(tail.get());
    beyond.join();
    assertEquals(List.of(), clock.pauses);
  }

  @Test
  void credit_is_granted_after_the_wait_and_not_before() {
    AtomicLong tail = new AtomicLong();
    List<Long> usedInPause = new ArrayList<>();
    LogSpace[] space = new LogSpace[1];
    Pace.Time time =
        new Pace.Time() {
          @Override
          public long now() {
            return clock.now;
          }

          @Override
          public void pause(long nanos) {
            usedInPause.add(space[0].used());
            clock.pause(nanos);
          }
        };
    space[0] = new LogSpace(tail::get, 10_000, 2_000, () -> {}, time);
    space[0].acquire(6_000); // asks for a checkpoint
    tail.addAndGet(6_000);
    space[0].release(6_000);
    clock.now += 6_000 * RATE;
    space[0].redoPointMoved(6_000);
    assertEquals(List.of(), clock.pauses);
    tail.addAndGet(6_600);
    space[0].acquire(600);
    assertEquals(List.of(6_600L), usedInPause);
    assertEquals(7_200, space[0].used());
    space[0].release(600);
    space[0].redoPointMoved(tail.get()); // keeps up again
    space[0].acquire(600);
    assertEquals(1, usedInPause.size());
  }
}
