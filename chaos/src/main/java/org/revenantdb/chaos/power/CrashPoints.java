package org.revenantdb.chaos.power;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/**
 * The places of a trace where a power cut makes a difference, with weights.
 *
 * <p>If nothing was done between several places, the disk is the same at all of them, and two
 * represent the rest: the last one that follows a promise, where most is promised, and with little
 * weight the first one, where least was attempted. Places right before and after a force or a
 * rename and right after a promise weigh more.
 */
final class CrashPoints {

  private static final int HEAVY = 4;
  private static final int MIDDLE = 2;
  private static final int LIGHT = 1;

  /** The sum of the weights up to and including a place, mapped to the place. */
  private final NavigableMap<Long, Long> bySum = new TreeMap<>();

  private long total;

  CrashPoints(Trace trace, List<Long> promises, long from) {
    NavigableMap<Long, Integer> weights = new TreeMap<>();
    for (Operation operation : trace.operations()) {
      weights.merge(operation.seq() + 1, weight(operation), Math::max);
      if (weight(operation) == HEAVY) {
        weights.merge(operation.seq(), HEAVY, Math::max);
      }
    }
    promises.forEach(place -> weights.merge(place + 1, HEAVY, Math::max));
    if (from > 0) {
      // That place itself: the state that former processes left, before the next one did anything.
      weights.headMap(from, /* inclusive= */ false).clear();
      weights.merge(from, HEAVY, Math::max);
    }
    Happened happened = new Happened(trace, promises);
    long done = -1;
    long promised = 0;
    long first = 0;
    long point = 0;
    int weight = 0;
    for (Map.Entry<Long, Integer> entry : weights.entrySet()) {
      happened.before(entry.getKey());
      if (happened.done != done) {
        add(first, point, weight);
        weight = 0;
        first = entry.getKey();
      }
      if (weight == 0 || happened.promised > promised) {
        point = entry.getKey();
      }
      weight = Math.max(weight, entry.getValue());
      done = happened.done;
      promised = happened.promised;
    }
    add(first, point, weight);
  }

  private void add(long first, long point, int weight) {
    if (first < point) {
      add(first, LIGHT);
    }
    add(point, weight);
  }

  private void add(long place, int weight) {
    if (weight > 0) {
      total += weight;
      bySum.put(total, place);
    }
  }

  private static int weight(Operation operation) {
    return switch (operation) {
      case Operation.Force _, Operation.ForceFailed _, Operation.Rename _ -> HEAVY;
      case Operation.Create _, Operation.Link _, Operation.Delete _, Operation.Truncate _ -> MIDDLE;
      case Operation.Write _ -> LIGHT;
    };
  }

  /** The number of different places. */
  int count() {
    return bySum.size();
  }

  /**
   * Draws places so that every stretch of the same weight contains one of them, or takes all.
   *
   * @return in order, at most the wanted number
   */
  List<Long> draw(int wanted, RandomGenerator random) {
    if (wanted >= bySum.size()) {
      return List.copyOf(bySum.values());
    }
    List<Long> drawn = new ArrayList<>();
    for (int i = 0; i < wanted; i++) {
      long from = total * i / wanted;
      long to = Math.max(from + 1, total * (i + 1) / wanted);
      Map.Entry<Long, Long> entry = bySum.higherEntry(random.nextLong(from, to));
      if (entry != null && (drawn.isEmpty() || drawn.getLast() < entry.getValue())) {
        drawn.add(entry.getValue());
      }
    }
    return drawn;
  }

  /** Counts events before a place; queried in order of the places. */
  private static final class Happened {

    private final List<Operation> operations;
    private final List<Long> promises;
    private int done;
    private int promised;

    Happened(Trace trace, List<Long> promises) {
      this.operations = trace.operations();
      this.promises = promises;
    }

    void before(long place) {
      while (done < operations.size() && operations.get(done).seq() < place) {
        done++;
      }
      while (promised < promises.size() && promises.get(promised) < place) {
        promised++;
      }
    }
  }
}
