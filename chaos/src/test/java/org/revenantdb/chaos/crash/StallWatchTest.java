package org.revenantdb.chaos.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The definition of a stall, on a machine whose clock and pace the test sets.
 *
 * <p>{@link #a_healthy_thread_on_a_starved_machine_does_not_stall}, {@link
 * #a_suspended_machine_does_not_stall}, {@link #a_wait_for_a_device_does_not_stall} and {@link
 * #a_stopped_process_does_not_stall} fail where the watch counts wall-clock time, as it did before.
 */
class StallWatchTest {

  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final Duration WORK = Duration.ofMillis(20);

  /** Time passes during a wait and when the pace is measured. */
  private static final class TestMachine implements Machine {
    private long now = 1;
    private double pace = 1;
    private boolean device;

    @Override
    public long nanoTime() {
      return now;
    }

    @Override
    public double pace() {
      now += (long) (WORK.toNanos() / pace);
      return pace;
    }

    @Override
    public boolean waitsForDevice(long process) {
      return device;
    }

    void pass(Duration time) {
      now += time.toNanos();
    }

    Duration passed() {
      return Duration.ofNanos(now);
    }
  }

  private final TestMachine machine = new TestMachine();
  private final StallWatch watch = new StallWatch(LIMIT, /* process= */ 1, machine);

  /** An event that never comes. */
  private boolean never(Duration time) {
    machine.pass(time);
    return false;
  }

  /** A thread that needs some processor time and gets the share that the pace gives. */
  private StallWatch.End work(Duration need) {
    long begun = machine.now;
    return time -> {
      machine.pass(time);
      return (machine.now - begun) * machine.pace >= need.toNanos();
    };
  }

  @Test
  void on_a_quiet_machine_the_limit_is_wall_clock_time() throws InterruptedException {
    assertFalse(watch.await(this::never));
    assertTrue(machine.passed().compareTo(LIMIT) >= 0, machine.passed()::toString);
    assertTrue(machine.passed().compareTo(LIMIT.plusSeconds(2)) < 0, machine.passed()::toString);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 0.1, 0.01})
  void a_hang_on_a_starved_machine_is_found_after_more_time(double pace)
      throws InterruptedException {
    machine.pace = pace;
    assertFalse(watch.await(this::never));
    double chance = machine.passed().toNanos() * pace;
    assertEquals(LIMIT.toNanos(), chance, 0.1 * LIMIT.toNanos());
  }

  @ParameterizedTest
  @ValueSource(doubles = {1, 0.5, 0.1, 0.01})
  void a_healthy_thread_on_a_starved_machine_does_not_stall(double pace)
      throws InterruptedException {
    machine.pace = pace;
    assertTrue(watch.await(work(LIMIT.multipliedBy(8).dividedBy(10))));
  }

  @Test
  void time_counts_at_the_present_pace_of_the_machine() throws InterruptedException {
    double[] chance = {0};
    int[] rounds = {0};
    assertFalse(
        watch.await(time -> {
          machine.pace = ++rounds[0] % 3 == 0 ? 1 : 0.05;
          chance[0] += (time.toNanos() + WORK.toNanos() / machine.pace) * machine.pace;
          return never(time);
        }));
    assertEquals(LIMIT.toNanos(), chance[0], 0.1 * LIMIT.toNanos());
  }

  @Test
  void a_limit_that_is_changed_counts_from_then_on() throws InterruptedException {
    int[] rounds = {0};
    Duration[] at = {Duration.ZERO};
    assertFalse(
        watch.await(time -> {
          if (++rounds[0] == 10) {
            at[0] = machine.passed();
            watch.limit(LIMIT.multipliedBy(5));
          }
          return never(time);
        }));
    double counted = machine.passed().minus(at[0]).toNanos();
    assertEquals(LIMIT.multipliedBy(5).toNanos(), counted, 0.1 * counted);
  }

  @Test
  void a_sign_of_life_behind_a_stall_is_told_that_it_is_too_late() throws InterruptedException {
    assertTrue(watch.alive());
    assertTrue(watch.rest(false));
    assertFalse(watch.await(this::never));
    assertFalse(watch.alive());
    assertFalse(watch.rest(true));
  }

  @Test
  void a_suspended_machine_does_not_stall() throws InterruptedException {
    int[] rounds = {0};
    assertTrue(
        watch.await(time -> {
          machine.pass(Duration.ofHours(8));
          return ++rounds[0] == 15;
        }));
  }

  @Test
  void a_sign_of_life_restarts_the_limit() throws InterruptedException {
    int[] rounds = {0};
    assertTrue(
        watch.await(time -> {
          if (rounds[0] % 15 == 0) {
            watch.alive();
          }
          machine.pass(time);
          return ++rounds[0] == 1_000;
        }));
  }

  @Test
  void the_limit_counts_from_the_last_sign_of_life() throws InterruptedException {
    int[] rounds = {0};
    assertFalse(
        watch.await(time -> {
          if (++rounds[0] == 15) {
            watch.alive();
          }
          return never(time);
        }));
    assertTrue(rounds[0] > 30 && rounds[0] < 40, "after " + rounds[0]);
  }

  @Test
  void a_sign_of_life_while_the_pace_is_measured_counts() throws InterruptedException {
    StallWatch[] watched = {null};
    int[] measured = {0};
    Machine busy =
        new Machine() {
          @Override
          public long nanoTime() {
            return machine.nanoTime();
          }

          @Override
          public double pace() {
            measured[0]++;
            watched[0].alive();
            return machine.pace();
          }

          @Override
          public boolean waitsForDevice(long process) {
            return false;
          }
        };
    watched[0] = new StallWatch(LIMIT, 1, busy);
    assertTrue(
        watched[0].await(time -> {
          machine.pass(time);
          return measured[0] == 1_000;
        }));
  }

  @Test
  void a_wait_for_a_device_does_not_stall() throws InterruptedException {
    int[] rounds = {0};
    machine.device = true;
    assertFalse(
        watch.await(time -> {
          machine.device = ++rounds[0] < 1_000;
          return never(time);
        }));
    assertTrue(rounds[0] >= 1_000, "after " + rounds[0]);
  }

  @Test
  void a_stopped_process_does_not_stall() throws InterruptedException {
    int[] rounds = {0};
    watch.rest(true);
    assertFalse(
        watch.await(time -> {
          if (++rounds[0] == 1_000) {
            watch.rest(false);
          }
          return never(time);
        }));
    assertTrue(rounds[0] > 1_010, "after " + rounds[0]);
  }

  @Test
  void an_event_during_the_last_measurement_counts() throws InterruptedException {
    assertTrue(
        watch.await(time -> {
          machine.pass(time);
          return time.isZero();
        }));
  }

  @Test
  void a_state_that_is_reached_ends_the_wait() throws InterruptedException {
    int[] looks = {0};
    StallWatch real = new StallWatch(Duration.ofDays(1));
    assertTrue(real.awaitState(() -> ++looks[0] == 5));
  }

  @Test
  void a_state_that_is_never_reached_ends_the_wait_too() throws InterruptedException {
    assertFalse(new StallWatch(Duration.ofMillis(50)).awaitState(() -> false));
  }

  @Test
  void the_pace_of_the_real_machine_is_a_share_of_a_processor() {
    for (int i = 0; i < 20; i++) {
      double pace = RealMachine.INSTANCE.pace();
      assertTrue(pace > 0 && pace <= 1, "pace " + pace);
    }
  }
}
