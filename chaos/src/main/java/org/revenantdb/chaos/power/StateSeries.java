package org.revenantdb.chaos.power;

import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * A sequence of different states: crash points forwards through the trace, several states at each;
 * then perhaps again from the beginning, with other points.
 *
 * <p>Threads: one at a time.
 */
final class StateSeries implements Iterator<CrashState> {
  /*
   * A pass goes through the trace once with a new PendingDisk. The remaining number of states is
   * divided among the remaining points of the pass. What a point does not use is left for later
   * points, and then for the next pass. The series ends with a pass that adds (nearly) no new
   * state.
   */

  /** One way through the trace. */
  interface Pass {

    /** The crash points, in order. */
    List<Long> points();

    /** Moves to a crash point and returns the losses to try there, best first; may have no end. */
    LossDraw losses(long point, int quota);

    /** Builds a state at that crash point. */
    CrashState state(Losses losses);
  }

  private static final int MOST_PASSES = 64;
  private static final int MOST_REPEATS = 24;
  private static final int NEARLY_NOTHING = 200;

  private final Supplier<Pass> passes;
  private final CrashPlan plan;
  private final LongHashSet images = new LongHashSet();
  private final LongHashSet seen = new LongHashSet();

  private Pass pass;
  private Iterator<Long> points = Collections.emptyIterator();
  private LossDraw losses = LossDraw.NOTHING;
  private int pointsLeft;
  private int quota;
  private int passCount;
  private int passStates;
  private int built;
  private int promises;
  private @Nullable CrashState ready;

  StateSeries(CrashPlan plan, Supplier<Pass> passes) {
    this.plan = plan;
    this.passes = passes;
    this.pass = passes.get();
    begin();
  }

  static RandomGenerator random(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  /** How many of the states built so far have different images. */
  int distinct() {
    return images.size();
  }

  private void begin() {
    List<Long> all = pass.points();
    points = all.iterator();
    pointsLeft = all.size();
    losses = LossDraw.NOTHING;
    passCount++;
    passStates = 0;
  }

  @Override
  public boolean hasNext() {
    if (ready == null && built < plan.states()) {
      ready = find();
    }
    return ready != null;
  }

  @Override
  public CrashState next() {
    CrashState state = hasNext() ? ready : null;
    if (state == null) {
      throw new NoSuchElementException("all states are built");
    }
    ready = null;
    built++;
    passStates++;
    quota--;
    return state;
  }

  private @Nullable CrashState find() {
    while (true) {
      for (int repeats = 0; quota > 0 && repeats < MOST_REPEATS && losses.hasNext(); ) {
        repeats += losses.isByChance() ? 1 : 0;
        CrashState state = pass.state(losses.next());
        long hash = state.image().hash();
        images.add(hash);
        if (seen.add(hash * 31 + promises)) {
          return state;
        }
      }
      if (points.hasNext()) {
        enter(points.next());
      } else if (passCount < MOST_PASSES && passStates > plan.states() / NEARLY_NOTHING) {
        pass = passes.get();
        begin();
      } else {
        return null;
      }
    }
  }

  private void enter(long point) {
    quota = Math.ceilDiv(plan.states() - built, pointsLeft--);
    promises = Math.abs(Collections.binarySearch(plan.preferred(), point - 1) + 1);
    losses = pass.losses(point, quota);
  }
}
