package org.revenantdb.jmh.tree;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.revenantdb.jmh.fork.Sessions;
import org.revenantdb.jmh.fork.Told;

/**
 * A JVM for one engine whose rows all fit into its memory, and are updated at random, all alike:
 * nearly each update changes another page. Each is committed lazily, a transaction each.
 *
 * <p>Arguments: class of the engine, directory, rows, bytes of its cache, milliseconds to warm up,
 * milliseconds to measure, seed.
 */
public final class RandomUpdatesFork {
  /**
   * Threads, and how many of a hundred operations read.
   *
   * @param threads that work at the same time
   * @param readPercent the rest updates
   */
  private record Mix(int threads, int readPercent) {
    String point() {
      return readPercent == 0 ? "threads=" + threads : "reads=" + readPercent;
    }
  }

  private static final List<Mix> MIXES =
      List.of(new Mix(1, 0), new Mix(2, 0), new Mix(2, 95), new Mix(2, 50));

  private RandomUpdatesFork() {}

  /**
   * Returns the points that it reports.
   *
   * @return a name for each, in their order
   */
  public static List<String> points() {
    return MIXES.stream().map(mix -> "random_updates," + mix.point()).toList();
  }

  /**
   * Prints {@code = random_updates,threads=1}, {@code threads=2}, {@code reads=95} and {@code
   * reads=50}, the latter two by two threads: operations a second.
   *
   * @param arguments see the class
   * @throws Exception if something cannot be measured
   */
  public static void main(String[] arguments) throws Exception {
    int rows = Integer.parseInt(arguments[2]);
    Sessions.Times times =
        new Sessions.Times(
            Long.parseLong(arguments[4]), Long.parseLong(arguments[5]), TreeFork.WARM_STEPS);
    long seed = Long.parseLong(arguments[6]);
    Path parent = Path.of(arguments[1]);
    warmUp(arguments[0], Files.createDirectory(parent.resolve("warm")), rows);
    Path directory = Files.createDirectory(parent.resolve("measured"));
    try (TreeStore store = TreeFork.open(arguments[0], directory.toString(), arguments[3])) {
      TreeWork.load(store.session(), rows);
      store.settle();
      for (int i = 0; i < MIXES.size(); i++) {
        Mix mix = MIXES.get(i);
        Sessions.Factory factory =
            number ->
                TreeWork.mix(
                    store.session(),
                    RowChoice.uniform(rows, seed + number),
                    mix.readPercent(),
                    seed + number);
        double steps = Sessions.run(mix.threads(), times, factory).perSecond();
        Told.tell(points().get(i), TreeWork.STEP * steps);
      }
    }
  }

  private static void warmUp(String engine, Path directory, int rows) throws Exception {
    int few = Math.min(rows, TreeFork.WARM_ROWS);
    try (TreeStore store = TreeFork.open(engine, directory.toString(), TreeFork.WARM_CACHE)) {
      TreeWork.load(store.session(), few);
      Sessions.compile(TreeWork.mix(store.session(), RowChoice.uniform(few, 1), 50, 1));
    }
  }
}
