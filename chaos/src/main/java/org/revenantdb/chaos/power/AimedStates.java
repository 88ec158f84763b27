package org.revenantdb.chaos.power;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.power.PendingDisk.Pending;
import org.revenantdb.chaos.profile.DiskRules;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * The states that most likely show that a force is missing: for force coverage.
 *
 * <p>The plan determines which forces are dropped and where promises were made. The power is cut
 * where the dropped forces were needed: right after the promises between a dropped force and the
 * next force of the same node, just before that next force, and at some places between. The targets
 * are the operations that are pending there only because the forces are dropped. First all targets
 * are lost and nothing else, then everything that is pending, then each target alone (some of them,
 * if there are many), then random parts of them, including torn ones. Where there is no target no
 * state is built.
 *
 * <p>Threads: one at a time; the states may be used by others at once.
 */
public final class AimedStates implements Iterator<CrashState> {

  /** Points for each pass: many places with the best losses, or few with random losses as well. */
  private static final int FEW_PER_POINT = 3;

  private static final int MANY_PER_POINT = 8;
  private static final int SINGLES = 4;
  private static final int BETWEEN = 2;

  /** Forces of other nodes and changes of names are steps that may have needed a dropped force. */
  private static final int STEPS = 12;

  private final Trace trace;
  private final DiskRules rules;
  private final CrashPlan plan;
  private final NodePaths paths;
  private final List<Long> candidates;

  /**
   * Places right after a change of names while a dropped force was missing: the likeliest to show
   * it.
   */
  private final List<Long> telling;

  private final StateSeries series;
  private int passes;

  /**
   * Prepares the states; nothing is built yet.
   *
   * @param trace the operations; not changed
   * @param rules what the platform may do
   * @param plan the dropped forces, the places of promises, and the number of states; {@link
   *     CrashPlan#exhaustive} has no effect here
   */
  public AimedStates(Trace trace, DiskRules rules, CrashPlan plan) {
    this.trace = trace;
    this.rules = rules;
    this.plan = plan;
    this.paths = new NodePaths(trace);
    NavigableSet<Long> changes = new TreeSet<>();
    this.candidates = candidates(changes);
    this.telling = List.copyOf(changes);
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
   * @return the number
   */
  public int distinct() {
    return series.distinct();
  }

  /** The places where a dropped force may be missing, in order. */
  private List<Long> candidates(NavigableSet<Long> changes) {
    NavigableSet<Long> promises = new TreeSet<>(plan.preferred());
    NavigableSet<Long> points = new TreeSet<>();
    RandomGenerator random = StateSeries.random(plan.seed());
    Map<Integer, Long> nextForce = new HashMap<>();
    // After a synchronous write a dropped force of the whole file is still missing.
    Map<Integer, Long> nextWhole = new HashMap<>();
    NavigableSet<Long> steps = new TreeSet<>();
    NavigableSet<Long> names = new TreeSet<>();
    List<Operation> operations = trace.operations();
    long end = operations.isEmpty() ? 0 : operations.getLast().seq();
    end = 1 + Math.max(end, promises.isEmpty() ? 0 : promises.last());
    for (Operation operation : operations.reversed()) {
      if (operation instanceof Operation.Force force) {
        Map<Integer, Long> next = force.isOfOneWrite() ? nextForce : nextWhole;
        long last = next.getOrDefault(force.node(), end);
        if (plan.dropped().test(force)) {
          points.add(last);
          promises.subSet(force.seq(), last).forEach(place -> points.add(place + 1));
          names.subSet(force.seq() + 1, last).stream()
              .limit(STEPS)
              .forEach(place -> changes.add(place + 1));
          steps.subSet(force.seq() + 1, last).stream()
              .limit(STEPS)
              .forEach(place -> points.add(place + 1));
          for (int i = 0; i < BETWEEN && last > force.seq() + 1; i++) {
            points.add(random.nextLong(force.seq() + 1, last));
          }
        }
        nextForce.put(force.node(), force.seq());
        if (!force.isOfOneWrite()) {
          nextWhole.put(force.node(), force.seq());
        }
        steps.add(force.seq());
      } else if (operation instanceof Operation.Rename || operation instanceof Operation.Delete) {
        names.add(operation.seq());
      }
    }
    points.addAll(changes);
    points.headSet(plan.from()).clear();
    changes.headSet(plan.from()).clear();
    return List.copyOf(points);
  }

  private final class OnePass implements StateSeries.Pass {

    private final RandomGenerator random;
    private final PendingDisk disk = new PendingDisk(trace, rules, plan.dropped(), paths);
    private final PendingDisk intact =
        new PendingDisk(trace, rules, CrashPlan.NOTHING_DROPPED, paths);

    OnePass(RandomGenerator random) {
      this.random = random;
    }

    @Override
    public List<Long> points() {
      int perPoint = random.nextBoolean() ? FEW_PER_POINT : MANY_PER_POINT;
      int wanted = Math.max(2, plan.states() / perPoint);
      if (candidates.size() <= wanted) {
        return candidates;
      }
      NavigableSet<Long> points = new TreeSet<>();
      draw(telling, Math.min(wanted / 2, telling.size()), points);
      draw(candidates, wanted - points.size(), points);
      return List.copyOf(points);
    }

    private void draw(List<Long> from, int count, NavigableSet<Long> drawn) {
      for (int i = 0; i < count; i++) {
        int first = (int) ((long) from.size() * i / count);
        int last = (int) ((long) from.size() * (i + 1) / count);
        drawn.add(from.get(random.nextInt(first, Math.max(first + 1, last))));
      }
    }

    @Override
    public LossDraw losses(long point, int quota) {
      disk.advance(point);
      intact.advance(point);
      disk.hash();
      SortedMap<Long, Pending> all = disk.pending();
      List<Pending> targets = new ArrayList<>(all.values());
      Set<Long> anyway = intact.pending().keySet();
      targets.removeIf(one -> anyway.contains(one.operation().seq()));
      return LossDraw.aimed(targets, List.copyOf(all.values()), rules, SINGLES, random);
    }

    @Override
    public CrashState state(Losses losses) {
      return disk.state(losses);
    }
  }
}
