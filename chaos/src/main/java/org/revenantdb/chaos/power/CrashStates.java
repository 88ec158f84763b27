package org.revenantdb.chaos.power;

import java.util.Iterator;
import java.util.List;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.trace.Trace;

/**
 * The states of a trace that a plan asks for, spread over the whole trace.
 *
 * <p>At each crash point, as far as its share of the states goes: everything kept; everything lost;
 * the newest operation lost alone; every subset lost if few are pending, else each operation alone;
 * then what the seed draws, torn operations among it. A state whose image was built before is
 * skipped unless a promise was made since.
 *
 * <p>Threads: one at a time; the states may be used by others at once, also while the next one is
 * built. Failure: a trace that cannot be, such as a write to a node that nobody created, is an
 * {@link IllegalArgumentException}.
 */
public final class CrashStates implements Iterator<CrashState> {

  private static final int PER_POINT = 12;
  private static final int FEWEST_PER_POINT = 4;
  private static final int FEW_POINTS = 64;

  private final Trace trace;
  private final DiskRules rules;
  private final CrashPlan plan;
  private final NodePaths paths;
  private final CrashPoints points;
  private final StateSeries series;
  private int passes;

  /**
   * Prepares the states; nothing is built yet.
   *
   * @param trace what happened; not changed
   * @param rules what the platform may do
   * @param plan which states are wanted
   */
  public CrashStates(Trace trace, DiskRules rules, CrashPlan plan) {
    this.trace = trace;
    this.rules = rules;
    this.plan = plan;
    this.paths = new NodePaths(trace);
    this.points = new CrashPoints(trace, plan.preferred(), plan.from());
    this.series = new StateSeries(plan, this::pass);
  }

  private StateSeries.Pass pass() {
    return new OnePass(StateSeries.random(Seeds.of(plan.seed(), passes++)));
  }

  @Override
  public boolean hasNext() {
    return series.hasNext();
  }

  @Override
  public CrashState next() {
    return series.next();
  }

  /**
   * How many different images were built so far.
   *
   * @return never more than there are states, unless promises made some of them worth a second look
   */
  public int distinct() {
    return series.distinct();
  }

  private final class OnePass implements StateSeries.Pass {

    private final RandomGenerator random;
    private final PendingDisk disk = new PendingDisk(trace, rules, plan.dropped(), paths);

    OnePass(RandomGenerator random) {
      this.random = random;
    }

    @Override
    public List<Long> points() {
      int each = Math.max(PER_POINT, 1 << plan.exhaustive());
      int few = Math.min(FEW_POINTS, Math.ceilDiv(plan.states(), FEWEST_PER_POINT));
      return points.draw(Math.max(few, plan.states() / each), random);
    }

    @Override
    public LossDraw losses(long point, int quota) {
      disk.advance(point);
      disk.hash();
      return new LossDraw(
          List.copyOf(disk.pending().values()), rules, plan.exhaustive(), quota, random);
    }

    @Override
    public CrashState state(Losses losses) {
      return disk.state(losses);
    }
  }
}
