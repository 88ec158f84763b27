package org.revenantdb.chaos.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.disk.MemoryFileSystem;
import org.revenantdb.chaos.power.CrashPlan;
import org.revenantdb.chaos.power.CrashState;
import org.revenantdb.chaos.power.CrashStates;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.recording.RecordingFileSystem;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.history.History;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.IsolationLevel;

/**
 * The histories of a store after power cuts. A few lives are recorded with their history. Each
 * crash state gets the history up to its crash and a further life that reads everything and
 * continues.
 *
 * <p>Threads: one.
 */
public final class HistoryPowerCuts {

  private static final String DIRECTORY = "store";

  /**
   * Fewer transactions are enough after a crash: its first reads already show whether the content
   * is consistent.
   */
  private static final int TRANSACTIONS_AFTERWARDS = 8;

  private final HistoryStore.Opener opener;
  private final HistoryWorkload workload;
  private final IsolationLevel level;
  private final long seed;
  private final History history;
  private final Trace trace;

  private HistoryPowerCuts(
      HistoryStore.Opener opener,
      HistoryWorkload workload,
      IsolationLevel level,
      long seed,
      History history,
      Trace trace) {
    this.opener = opener;
    this.workload = workload;
    this.level = level;
    this.seed = seed;
    this.history = history;
    this.trace = trace;
  }

  /**
   * Records lives on a disk in memory, each closed in order.
   *
   * @param opener of the store
   * @param workload of each life
   * @param level the level that the store promises
   * @param seed of all random choices
   * @param lives the number of lives
   * @return the recording, to be cut
   * @throws Exception if the store fails on an intact disk
   */
  public static HistoryPowerCuts record(
      HistoryStore.Opener opener,
      HistoryWorkload workload,
      IsolationLevel level,
      long seed,
      int lives)
      throws Exception {
    Path directory =
        Files.createDirectory(MemoryFileSystem.of(new DiskImage()).root().resolve(DIRECTORY));
    RecordingFileSystem disk = RecordingFileSystem.over(directory).start();
    HistoryRecorder recorder = new HistoryRecorder(disk.clock()::next);
    for (int life = 0; life < lives; life++) {
      live(opener, disk.directory(), new HistoryDriver(workload, seed, life), recorder);
    }
    return new HistoryPowerCuts(opener, workload, level, seed, recorder.history(), disk.trace());
  }

  private static void live(
      HistoryStore.Opener opener, Path directory, HistoryDriver driver, HistoryRecorder recorder)
      throws Exception {
    try (HistoryStore store = opener.open(directory)) {
      driver.run(store, recorder::session);
    }
    recorder.closed();
  }

  /**
   * Returns the history recorded on the intact disk.
   *
   * @return the history
   */
  public History history() {
    return history;
  }

  /**
   * Cuts the power.
   *
   * @param profile what the disk may lose
   * @param states the maximum number of crash states
   * @return the result; the first failure ends the run
   */
  public Outcome cut(PlatformProfile profile, int states) {
    return cut(profile, states, /* judged= */ any -> {});
  }

  /**
   * Cuts the power.
   *
   * @param profile what the disk may lose
   * @param states the maximum number of crash states
   * @param judged receives each history before it is checked, that of the intact disk first
   * @return the result; the first failure ends the run
   */
  public Outcome cut(PlatformProfile profile, int states, Consumer<History> judged) {
    HistoryVerdicts verdicts =
        new HistoryVerdicts("history across power cuts, " + profile, level, seed);
    judged.accept(history);
    verdicts.judge(history, "on an intact disk, seed " + seed);
    CrashPlan plan = CrashPlan.of(Seeds.of(seed, states), states).preferring(answers());
    CrashStates all = new CrashStates(trace, profile.rules(), plan);
    long looked = 0;
    while (all.hasNext() && !verdicts.hasFailed()) {
      CrashState state = all.next();
      String where = "power cut at " + state.seq() + ", seed " + seed;
      String story = state.losses().story();
      History after;
      try {
        after = recover(state);
      } catch (Exception e) { // of the store, on the files that the crash has left
        verdicts.threw(where, e);
        return verdicts.outcome(looked + 1, /* kills= */ 0);
      }
      judged.accept(after);
      verdicts.judge(after, where + (story.isEmpty() ? "" : "\n" + story));
      looked++;
    }
    return verdicts.outcome(looked, /* kills= */ 0);
  }

  private List<Long> answers() {
    List<Long> places = new ArrayList<>();
    for (int t = 0; t < history.size(); t++) {
      places.add(history.transaction(t).completed());
    }
    return places;
  }

  private History recover(CrashState state) throws Exception {
    History before = history.cutAt(state.seq());
    HistoryRecorder recorder = HistoryRecorder.after(before);
    HistoryWorkload few = workload.withTransactions(TRANSACTIONS_AFTERWARDS);
    HistoryDriver driver = new HistoryDriver(few, seed, before.lives() - 1);
    live(opener, directoryIn(state.image()), driver, recorder);
    return recorder.history();
  }

  private static Path directoryIn(DiskImage image) throws IOException {
    return MemoryFileSystem.of(image).root();
  }
}
