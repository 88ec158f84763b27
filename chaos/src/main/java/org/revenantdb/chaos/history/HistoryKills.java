package org.revenantdb.chaos.history;

import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import org.revenantdb.chaos.crash.ChildFailedException;
import org.revenantdb.chaos.crash.ForkedJvm;
import org.revenantdb.chaos.crash.KillPoint;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.IsolationLevel;

/**
 * The history of a store whose processes are killed: after a number of acknowledged commits, while
 * they open or close, or not at all. Each next process reads everything and continues.
 *
 * <p>Threads: one.
 */
public final class HistoryKills {

  private static final String NAME = "history across kills";
  private static final int MOST_ACKNOWLEDGED = 1_500;
  private static final int TRANSACTIONS_OF_AN_ORDERLY_LIFE = 40;

  private final Class<? extends HistoryStore.Opener> opener;
  private final HistoryWorkload workload;
  private final IsolationLevel level;
  private final long seed;
  private final Path directory;
  private final SplittableRandom random;
  private final HistoryRecorder recorder = new HistoryRecorder();
  private int lives;
  private int kills;

  /**
   * Prepares a run.
   *
   * @param opener a public class with a constructor without parameters
   * @param workload of each life; the kills determine the number of transactions
   * @param level the level that the store promises
   * @param seed of all random choices
   * @param directory for the store's files; must be empty
   */
  public HistoryKills(
      Class<? extends HistoryStore.Opener> opener,
      HistoryWorkload workload,
      IsolationLevel level,
      long seed,
      Path directory) {
    this.opener = opener;
    this.workload = workload;
    this.level = level;
    this.seed = seed;
    this.directory = directory;
    this.random = new SplittableRandom(Seeds.of(seed, -1));
  }

  /** How a process ends. */
  private enum Ending {
    ACKNOWLEDGED,
    OPENING,
    CLOSING,
    IN_ORDER
  }

  /**
   * Runs a number of lives, and one that only reads.
   *
   * @param count the number of lives that work
   * @return the result
   */
  public Outcome run(int count) {
    HistoryVerdicts verdicts = new HistoryVerdicts(NAME, level, seed);
    try {
      for (int life = 0; life < count; life++) {
        live(draw());
      }
      live(Ending.IN_ORDER);
    } catch (ChildFailedException e) {
      verdicts.threw("life " + lives + " of seed " + seed, e);
    }
    verdicts.judge(recorder.history(), lives + " lives of seed " + seed);
    return verdicts.outcome(/* states= */ 0, kills);
  }

  /**
   * Returns the history, after {@link #run}.
   *
   * @return the history
   */
  public History history() {
    return recorder.history();
  }

  private Ending draw() {
    int dice = random.nextInt(20);
    return dice < 14
        ? Ending.ACKNOWLEDGED
        : dice < 16 ? Ending.OPENING : dice < 18 ? Ending.CLOSING : Ending.IN_ORDER;
  }

  private void live(Ending ending) {
    boolean orderly = ending == Ending.CLOSING || ending == Ending.IN_ORDER;
    KillPoint point = KillPoint.logUniform(random, MOST_ACKNOWLEDGED);
    Duration delay = Duration.ofNanos(random.nextLong(30_000_000));
    WireReader reader = new WireReader(recorder);
    boolean closed = false;
    try (ForkedJvm child = fork(orderly ? TRANSACTIONS_OF_AN_ORDERLY_LIFE : 0)) {
      for (String line; (line = child.readLine()) != null; ) {
        boolean due = false;
        if (line.equals(HistoryMain.CLOSED)) {
          closed = true;
        } else if (line.startsWith(HistoryMain.FAILED)) {
          throw new ChildFailedException(line, child.stderr());
        } else if (line.equals(HistoryMain.OPENS) || line.equals(HistoryMain.CLOSES)) {
          boolean opening = line.equals(HistoryMain.OPENS);
          if (ending == (opening ? Ending.OPENING : Ending.CLOSING)) {
            child.killAfter(delay);
          }
        } else {
          reader.accept(line);
          due = ending == Ending.ACKNOWLEDGED && point.reached(reader.acknowledged());
        }
        if (due && !child.killed()) {
          child.kill();
        }
      }
      child.demandOrderlyEnd();
      kills += child.killed() ? 1 : 0;
    }
    if (closed) {
      recorder.closed();
    } else {
      recorder.crashed();
    }
    lives++;
  }

  private ForkedJvm fork(int transactions) {
    return ForkedJvm.of(HistoryMain.class)
        .withCodeOf(opener)
        .shortLived()
        .heap("128m")
        .flags("--sun-misc-unsafe-memory-access=deny", "--illegal-native-access=deny")
        .argument(opener.getName())
        .argument(directory)
        .argument(seed)
        .argument(lives)
        .argument(workload.sessions())
        .argument(transactions)
        .argument(workload.keys())
        .argument(workload.lazyOfTen())
        .fork();
  }
}
