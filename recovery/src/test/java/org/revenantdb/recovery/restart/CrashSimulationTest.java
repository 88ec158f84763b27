package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * Thousands of crashes, kills and power cuts mixed, of a database and of its restarts, over several
 * lives. After each, every acknowledged operation is there, and the content is a prefix of history.
 */
class CrashSimulationTest {
  private static final int STATES =
      Integer.getInteger("crash.states", Boolean.getBoolean("revenant.long") ? 3_000 : 1_000);
  private static final int DEPTH = 4;
  private static final int IMAGES_PER_RUN = 6;

  /** The disk that a crash left, and the operations that were acknowledged to the user. */
  private record Image(
      CrashDisk disk, long acknowledged, List<TinyEngine.Operation> history, String story) {}

  private final List<Image> pending = new ArrayList<>();
  private int states;
  private int kills;
  private int cuts;
  private int lives;
  private int segmentsSealed;
  private int maxFiles;

  @Test
  void every_crash_leaves_a_prefix_with_all_acknowledged_operations() {
    long seed = Long.getLong("crash.seed", System.nanoTime());
    for (int run = 0; states < STATES || !hasMetAll(); run++) {
      Random random = new Random(seed + run);
      String story = "crash.seed=" + seed + " run " + run;
      try (TinyEngine engine = TinyEngine.create(new CrashDisk())) {
        live(engine, new ArrayList<>(), 0, random, story);
      }
      for (int depth = 0; depth < DEPTH; depth++) {
        List<Image> images = List.copyOf(pending);
        pending.clear();
        for (Image image : images) {
          recover(image, random, depth < DEPTH - 1);
        }
      }
    }
    System.out.printf(
        "crash simulation: seed %d, %d states (%d kills, %d power cuts), %d lives,"
            + " %d tails sealed, at most %d files%n",
        seed, states, kills, cuts, lives, segmentsSealed, maxFiles);
    assertTrue(maxFiles < 60, "files pile up: " + maxFiles);
  }

  /** Both kinds of crashes and tails that were sealed; each is frequent. */
  private boolean hasMetAll() {
    return kills > 100 && cuts > 100 && segmentsSealed > 100;
  }

  private void recover(Image image, Random random, boolean goOn) {
    states++;
    String story = image.story;
    List<TinyEngine.Operation> history = new ArrayList<>(image.history);
    Watch watch = new Watch(image.disk, random, story);
    watch.acknowledged = image.acknowledged;
    watch.history = history;
    try (TinyEngine engine = TinyEngine.analyse(image.disk)) {
      if (goOn) {
        watch.start(random.nextInt(30));
      }
      AnalysisResult result = engine.restart().result();
      segmentsSealed += result.durableKnown() < result.endOfLog() ? 1 : 0;
      engine.startLife();
      maxFiles = Math.max(maxFiles, image.disk.files().size());
      engine.redo();
      long reached = checkPrefix(engine.values(), history, image.acknowledged, story);
      watch.acknowledged = reached;
      history.subList((int) reached, history.size()).clear();
      lives++;
      engine.startCheckpoints();
      if (goOn) {
        live(engine, history, reached, random, story);
      }
    } catch (RuntimeException | AssertionError failure) {
      throw new AssertionError(story, failure);
    }
  }

  /** Continues to work, and lets crashes happen. */
  private void live(
      TinyEngine engine,
      List<TinyEngine.Operation> history,
      long acknowledged,
      Random random,
      String story) {
    Watch watch = new Watch(engine.disk(), random, story);
    watch.acknowledged = acknowledged;
    watch.history = history;
    watch.start(random.nextInt(60));
    int operations = 20 + random.nextInt(150);
    for (int i = 0; i < operations; i++) {
      long number = history.size() + 1L;
      int[] pages = random.ints(1 + random.nextInt(3), 0, TinyEngine.PAGES).distinct().toArray();
      TinyEngine.Operation operation =
          new TinyEngine.Operation(number, pages, random.nextInt(8) == 0 ? 200 : 20);
      synchronized (history) {
        history.add(operation);
      }
      long lsn = engine.apply(operation);
      if (random.nextInt(6) == 0) {
        engine.log().awaitDurable(lsn);
        watch.acknowledged = number;
      }
      if (random.nextInt(40) == 0) {
        engine.checkpoint();
      }
    }
    if (random.nextInt(4) == 0) {
      engine.closeCleanly();
      watch.acknowledged = history.size();
      watch.keep();
    }
    watch.stop();
  }

  private static long checkPrefix(
      long[] values, List<TinyEngine.Operation> history, long acknowledged, String story) {
    long last = 0;
    for (long value : values) {
      last = Math.max(last, value);
    }
    assertTrue(last >= acknowledged, story + ": " + acknowledged + " acknowledged, " + last);
    assertTrue(last <= history.size(), story + ": operation " + last + " never was");
    long[] expected = new long[TinyEngine.PAGES];
    for (TinyEngine.Operation operation : history.subList(0, (int) last)) {
      for (int page : operation.pages()) {
        expected[page] = operation.number();
      }
    }
    for (int page = 0; page < values.length; page++) {
      assertEquals(expected[page], values[page], story + ": page " + page + " after " + last);
    }
    return last;
  }

  /** Takes images of a disk at some of its changes. */
  private final class Watch {
    private final CrashDisk disk;
    private final Random random;
    private final String story;
    private volatile long acknowledged;
    private List<TinyEngine.Operation> history = List.of();
    private int changes;
    private int next;
    private int taken;

    Watch(CrashDisk disk, Random random, String story) {
      this.disk = disk;
      this.random = new Random(random.nextLong());
      this.random.nextInt();
      this.story = story;
    }

    void start(int first) {
      next = first;
      disk.observe(this::beforeChange);
    }

    void stop() {
      disk.observe(() -> {});
    }

    private void beforeChange() {
      if (changes++ == next && taken < IMAGES_PER_RUN) {
        next = changes + random.nextInt(40);
        keep();
      }
    }

    private void keep() {
      taken++;
      boolean kill = random.nextInt(3) == 0;
      long promised = acknowledged;
      CrashDisk image = kill ? disk.afterKill() : disk.afterPowerCut(random);
      List<TinyEngine.Operation> soFar;
      synchronized (history) {
        soFar = List.copyOf(history);
      }
      kills += kill ? 1 : 0;
      cuts += kill ? 0 : 1;
      synchronized (pending) {
        pending.add(
            new Image(
                image,
                promised,
                soFar,
                story + (kill ? ", kill" : ", power cut") + " at " + changes));
      }
    }
  }
}
