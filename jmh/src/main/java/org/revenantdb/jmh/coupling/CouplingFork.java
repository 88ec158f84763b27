package org.revenantdb.jmh.coupling;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import org.revenantdb.jmh.fork.Told;
import org.revenantdb.jmh.tree.RowChoice;

/**
 * A JVM with one tree, used in all latch modes in turn: the same nodes, the same latches, the same
 * rows.
 *
 * <p>Arguments: rows, rounds of turns, milliseconds of a turn, seed.
 */
public final class CouplingFork {
  private static final List<LatchMode> MODES = List.of(LatchMode.values());
  private static final int MOST_THREADS = 2;
  private static final int WARM_ROUNDS = 5;
  private static final double SKEW = 0.99;

  private final NodeTree tree;
  private final int rounds;
  private final long millis;
  private final long seed;
  private final List<IntSupplier> choices;
  private final List<Workload.Step> steps = new ArrayList<>();

  private CouplingFork(int rows, int rounds, long millis, long seed) {
    this.tree = NodeTree.of(rows);
    this.rounds = rounds;
    this.millis = millis;
    this.seed = seed;
    RowChoice zipfian = RowChoice.zipfian(rows, SKEW);
    this.choices =
        IntStream.range(0, MOST_THREADS).mapToObj(i -> zipfian.choices(seed + i)).toList();
  }

  /**
   * Prints {@code = latched} operations a second of each mode, and {@code = hybrid_vs_best}, for
   * each workload and number of threads.
   *
   * @param arguments see the class
   * @throws InterruptedException never
   */
  public static void main(String[] arguments) throws InterruptedException {
    new CouplingFork(
            Integer.parseInt(arguments[0]),
            Integer.parseInt(arguments[1]),
            Long.parseLong(arguments[2]),
            Long.parseLong(arguments[3]))
        .measure();
  }

  /**
   * The names of all results.
   *
   * @return in order
   */
  public static List<String> points() {
    List<String> points = new ArrayList<>();
    for (Workload workload : Workload.all()) {
      for (int threads = 1; threads <= MOST_THREADS; threads++) {
        for (LatchMode mode : MODES) {
          points.add(point(workload, threads, mode));
        }
        points.add(ratio(workload, threads));
      }
    }
    return points;
  }

  private static String point(Workload workload, int threads, LatchMode mode) {
    return "latched," + workload + ",threads=" + threads + "," + mode.title();
  }

  private static String ratio(Workload workload, int threads) {
    return "hybrid_vs_best," + workload + ",threads=" + threads;
  }

  private void measure() throws InterruptedException {
    for (Workload workload : Workload.all()) { // with as many threads as there will be
      run(workload, MOST_THREADS, WARM_ROUNDS);
    }
    for (Workload workload : Workload.all()) {
      for (int threads = 1; threads <= MOST_THREADS; threads++) {
        tell(workload, threads, run(workload, threads, rounds));
      }
    }
    checkChanges();
  }

  private Turns.Result run(Workload workload, int threads, int count) throws InterruptedException {
    return Turns.run(
        threads,
        MODES.size(),
        count,
        millis,
        (thread, mode) -> {
          Workload.Step step =
              workload.step(tree, MODES.get(mode), choices.get(thread), seed + steps.size());
          steps.add(step);
          return step::run;
        });
  }

  private static void tell(Workload workload, int threads, Turns.Result result) {
    int hybrid = MODES.indexOf(LatchMode.HYBRID);
    int best = -1;
    for (int mode = 0; mode < MODES.size(); mode++) {
      double rate = result.median(mode);
      Told.tell(point(workload, threads, MODES.get(mode)), workload.operationsAStep() * rate);
      if (mode != hybrid && (best < 0 || rate > result.median(best))) {
        best = mode;
      }
    }
    Told.tell(ratio(workload, threads), result.ratio(hybrid, best));
  }

  /** Each change was made under an exclusive latch, or some would be lost. */
  private void checkChanges() {
    long made = steps.stream().mapToLong(Workload.Step::updates).sum();
    long found = tree.countChanges();
    if (made != found) {
      throw new IllegalStateException(made + " changes were made, " + found + " are there");
    }
  }
}
