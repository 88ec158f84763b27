package org.revenantdb.chaos.power;

import java.util.Iterator;
import java.util.List;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.trace.Trace;

/**
 * The states of a trace that a plan requests, spread over the whole trace.
 *
 * <p>At each crash point, as far as its share of the states allows: everything kept; everything
 * lost; the newest operation lost alone; every subset lost if few are pending, otherwise each
 * operation alone; then random losses, including torn operations. A state whose image was built
 * before is skipped unless a promise was made since.
 *
 * <p>Threads: one at a time; other threads may use the states at once, also while the next one is
 * built. Failure: an impossible trace, for instance with a write to a node that was never created,
 * causes an {@link IllegalArgumentException}.
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
   * @param trace the operations; not changed
   * @param rules what the platform may do
   * @param plan the wanted states
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
   * Returns how many different images were built so far.
   *
   * @return never more than the states; fewer if promises required a second check of some
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
