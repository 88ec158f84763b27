package org.revenantdb.engine.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.LongToDoubleFunction;
import org.junit.jupiter.api.Test;

/** Whether the top of a hill is found, whatever it looks like (docs/protocols.md §40). */
class HillClimbTest {
  private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long VISIT = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /**
   * What is asserted about noise holds on average, not whatever the noise is: the usual run always
   * has the same.
   */
  private static final long SEED = Long.getLong("revenant.seed", 20_261_127);

  /** What a moment of a hill is counted in: so much is committed at its top. */
  private static final double TOP = 100_000;

  /** A database of which nothing is there but how much it commits below a ceiling. */
  private static final class World {
    final Random random;
    final double noise;
    final HillClimb climb = new HillClimb(LONGEST, 0, 0);
    double committed;
    long now;
    double factor = 1;

    /** Of the last {@link #run}: how much was committed, as a part of what could have been. */
    double yield;

    /** The same: for how much of the time the ceiling cost more than half of that. */
    double lost;

    World(long seed, double noise) {
      this.random = new Random(seed);
      this.noise = noise;
    }

    /** There is a conflict each millisecond. */
    void run(long nanos, LongToDoubleFunction hill) {
      double before = committed;
      long visits = nanos / VISIT;
      long bad = 0;
      double undisturbed = 0;
      for (long i = 0; i < visits; i++) {
        now += VISIT;
        if (i % 20 == 0) {
          factor = Math.max(0, 1 + noise * random.nextGaussian());
        }
        double share = hill.applyAsDouble(climb.ceiling());
        undisturbed += share;
        bad += share < 0.5 ? 1 : 0;
        committed += TOP * share * factor * VISIT / SECOND;
        climb.sample(now, (long) committed);
      }
      assertTrue(committed >= before);
      yield = undisturbed / visits;
      lost = (double) bad / visits;
    }
  }

  private static long micros(long micros) {
    return TimeUnit.MICROSECONDS.toNanos(micros);
  }

  /** In powers of two from a microsecond on; 0 is -1. */
  private static double power(long ceiling) {
    return ceiling == 0 ? -1 : Math.log(ceiling / 1e3) / Math.log(2);
  }

  /** A quarter less for each time that the ceiling is twice, or half, the best. */
  private static LongToDoubleFunction hillAt(long best) {
    return ceiling -> Math.pow(0.75, Math.abs(power(ceiling) - power(best)));
  }

  /** Nothing to be seen below 64 us, then twice as much until 512 us, then less. */
  private static double behindThePlain(long ceiling) {
    double power = power(ceiling);
    return power < 6 ? 0.3 : 1 - 0.2 * Math.abs(power - 9);
  }

  private static void assertNear(long expected, long ceiling, String what) {
    assertTrue(Math.abs(power(expected) - power(ceiling)) <= 1.1, what + ": " + ceiling);
  }

  @Test
  void a_hill_whose_top_is_at_0_is_hardly_left() {
    World world = new World(0, 0);
    world.run(20 * SECOND, hillAt(0));
    assertTrue(world.yield > 0.9, "yield " + world.yield);
    assertTrue(world.lost < 0.08, "lost " + world.lost);
  }

  @Test
  void a_top_anywhere_is_found_within_three_seconds() {
    for (long best = 1; best <= 8192; best *= 2) {
      World world = new World(0, 0);
      world.run(3 * SECOND, hillAt(micros(best)));
      world.run(10 * SECOND, hillAt(micros(best)));
      assertTrue(world.yield > 0.85, best + " us: yield " + world.yield);
      assertTrue(world.lost < 0.15, best + " us: lost " + world.lost);
    }
  }

  @Test
  void where_more_is_better_it_goes_to_the_longest_and_no_further() {
    World world = new World(0, 0);
    world.run(3 * SECOND, ceiling -> (1 + power(ceiling)) / 20);
    int[] atTheEnd = {0};
    world.run(
        SECOND,
        ceiling -> {
          assertTrue(ceiling <= LONGEST);
          atTheEnd[0] += ceiling == LONGEST ? 1 : 0;
          return (1 + power(ceiling)) / 20;
        });
    assertTrue(atTheEnd[0] > 600, atTheEnd[0] + " of 1000");
  }

  @Test
  void where_less_is_better_it_goes_to_0() {
    World world = new World(0, 0);
    world.run(3 * SECOND, hillAt(LONGEST));
    world.run(3 * SECOND, ceiling -> 1 - (1 + power(ceiling)) / 20);
    world.run(5 * SECOND, ceiling -> 1 - (1 + power(ceiling)) / 20);
    assertTrue(world.yield > 0.9, "yield " + world.yield);
  }

  @Test
  void a_hill_behind_a_plain_is_found() {
    World world = new World(0, 0);
    world.run(3 * SECOND, HillClimbTest::behindThePlain);
    world.run(10 * SECOND, HillClimbTest::behindThePlain);
    assertTrue(world.yield > 0.8, "yield " + world.yield);
  }

  @Test
  void flat_ground_leads_down_to_0() {
    World world = new World(0, 0);
    world.run(5 * SECOND, hillAt(LONGEST));
    world.run(5 * SECOND, ceiling -> 1);
    int[] atZero = {0};
    world.run(
        SECOND,
        ceiling -> {
          atZero[0] += ceiling == 0 ? 1 : 0;
          return 1;
        });
    assertTrue(atZero[0] > 600, atZero[0] + " of 1000");
  }

  @Test
  void a_top_that_moves_is_followed() {
    World world = new World(0, 0);
    for (long best : new long[] {512, 4, 4096, 32}) {
      world.run(5 * SECOND, hillAt(micros(best)));
      world.run(5 * SECOND, hillAt(micros(best)));
      assertTrue(world.yield > 0.8, best + " us: yield " + world.yield);
    }
  }

  @Test
  void noise_of_a_fifth_costs_little_and_does_not_throw_it_about() {
    System.out.println("HillClimbTest: -Drevenant.seed=" + SEED);
    int rounds = Integer.getInteger("revenant.rounds", 20);
    double yields = 0;
    double losses = 0;
    Random seeds = new Random(SEED);
    for (int round = 0; round < rounds; round++) {
      long best = 1L << seeds.nextInt(13);
      World world = new World(seeds.nextLong(), 0.2);
      world.run(5 * SECOND, hillAt(micros(best)));
      world.run(20 * SECOND, hillAt(micros(best)));
      yields += world.yield / rounds;
      losses += world.lost / rounds;
    }
    System.out.println("yield " + yields + " lost " + losses);
    assertTrue(yields > 0.7, "yield " + yields);
    assertTrue(losses < 0.2, "lost " + losses);
  }

  /** A longer pause has to gain more than the noise makes up, or it would be anywhere. */
  @Test
  void flat_ground_leads_down_in_noise_too() {
    System.out.println("HillClimbTest: -Drevenant.seed=" + SEED);
    Random seeds = new Random(SEED);
    double[] low = {0};
    for (int round = 0; round < 20; round++) {
      World world = new World(seeds.nextLong(), 0.2);
      world.run(2 * SECOND, hillAt(LONGEST));
      world.run(5 * SECOND, ceiling -> 1);
      world.run(
          20 * SECOND,
          ceiling -> {
            low[0] += ceiling <= micros(16) ? 1 / 400_000.0 : 0;
            return 1;
          });
    }
    System.out.println("low " + low[0]);
    assertTrue(low[0] > 0.6, "so much of the time below 16 us: " + low[0]);
  }

  @Test
  void an_interval_of_few_commits_goes_on_for_half_a_second_at_most() {
    HillClimb climb = new HillClimb(LONGEST, 0, 0);
    climb.sample(2 * HillClimb.INTERVAL, 31);
    assertEquals(HillClimb.INTERVAL, climb.due());
    climb.sample(3 * HillClimb.INTERVAL, 32);
    assertEquals(4 * HillClimb.INTERVAL, climb.due());
    climb.sample(3 * HillClimb.INTERVAL + SECOND / 2, 33);
    assertTrue(climb.due() > 3 * HillClimb.INTERVAL + SECOND / 2);
  }

  @Test
  void an_interval_is_long_enough_for_the_pauses_in_it() {
    HillClimb climb = new HillClimb(SECOND, 0, 0);
    long now = 0;
    long commits = 0;
    for (int i = 0; i < 1_000 && climb.ceiling() < SECOND; i++) {
      assertTrue(climb.due() - now >= 2 * climb.ceiling());
      now = climb.due();
      commits += 100 + climb.ceiling();
      climb.sample(now, commits);
    }
    assertEquals(now + 2 * SECOND, climb.due());
  }

  @Test
  void a_sample_of_the_past_is_none() {
    HillClimb climb = new HillClimb(LONGEST, SECOND, 0);
    climb.sample(SECOND / 2, 1000);
    assertEquals(SECOND + HillClimb.INTERVAL, climb.due());
    assertEquals(0, climb.ceiling());
  }

  @Test
  void a_longest_ceiling_of_next_to_nothing_is_a_level() {
    HillClimb climb = new HillClimb(1, 0, 0);
    long now = 0;
    long commits = 0;
    for (int i = 1; i < 100; i++) {
      now = climb.due();
      commits += 100 + 100 * climb.ceiling();
      climb.sample(now, commits);
    }
    assertEquals(1, climb.ceiling());
  }
}
