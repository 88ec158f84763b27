package org.revenantdb.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.CrashDisk;

/**
 * Cuts a {@link CrashScript} off before operations on files, those of its close included: the
 * process is killed, or the power goes. The restart is cut off in the same way, three deep. Each
 * time every row is compared, as in {@link RecordCuts}; in the end the database is closed, and
 * opened once more without a crash.
 *
 * <p>How many operations there are is a matter of time (threads write when they come to it), so a
 * run looks at one of so many operations, from one on that its seed says; as many rounds look at
 * all.
 */
public final class FileCuts {
  private static final int DEPTH = 3;

  /** One of so many operations is cut off in a round. */
  private static final int EVERY = Integer.getInteger("revenant.every", 3);

  private static final int ROUNDS = Integer.getInteger("revenant.rounds", 1);

  /** Behind so many operations a restart may be cut off: its own, then those of what follows. */
  private static final int OF_A_RESTART = 90;

  private static final byte[] WRITTEN_ON = Samples.random(4711, 160);
  private static final DatabaseOptions OPTIONS = Samples.SMALL.withCountersFile(false);

  private final long seed;
  private final Random random;
  private int cuts;

  public FileCuts(long seed) {
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** Between two steps both are the same. */
  private record Moment(Contents before, Contents after) {}

  /** What a crash has left, and what may be true then. */
  private record Image(CrashDisk disk, Moment moment, String story) {}

  private static final class DatabaseScene extends Scene {
    private final Database db;
    private final Life life;

    DatabaseScene(Database db, Life life, Contents contents) {
      super(contents);
      this.db = db;
      this.life = life;
    }

    @Override
    Transaction begin() {
      return db.begin();
    }

    @Override
    Table table(String name, TableOptions options) {
      return db.getOrCreateTable(name, options);
    }

    @Override
    void pass() {
      db.cleanNow();
    }

    @Override
    void checkpoint() {
      db.checkpoint();
    }

    @Override
    void decidePrepared(byte[] name, boolean commits) {
      assertTrue(commits ? db.commitPrepared(name) : db.rollbackPrepared(name));
    }

    @Override
    public void look() {
      contents().assertFound(Contents.of(db.tableNames(), db.preparedTransactions(), this));
      assertEquals(List.of(), db.check().problems());
    }

    @Override
    public void point(String name) {
      life.point = name;
    }

    @Override
    void turn(Contents before, Contents after, RecordType by, Runnable step) {
      life.moment = new Moment(before, after);
      step.run();
      life.moment = new Moment(after, after);
    }
  }

  /** Takes images of a disk before operations on it. */
  private static final class Life implements CrashDisk.Observer {
    private final CrashDisk disk;
    private final String story;
    private final Random random;
    private final BooleanSupplier takes;
    private final List<Image> images = new ArrayList<>();
    private int operations;
    volatile Moment moment;
    volatile String point = "";

    Life(CrashDisk disk, Moment moment, String story, Random random, BooleanSupplier takes) {
      this.disk = disk;
      this.moment = moment;
      this.story = story;
      this.random = random;
      this.takes = takes;
    }

    @Override
    public void beforeChange() {
      throw new AssertionError();
    }

    @Override
    public void beforeChange(String operation) {
      operations++;
      if (takes.getAsBoolean()) {
        boolean kill = random.nextInt(3) == 0;
        CrashDisk left = kill ? disk.afterKill() : disk.afterPowerCut(random);
        String what =
            (kill ? "killed" : "power cut")
                + " before operation "
                + operations
                + ", "
                + operation
                + ", "
                + point;
        images.add(new Image(left, moment, story + what));
      }
    }
  }

  /** Cuts off in a slice of all operations. */
  public void cut(CrashScript script) {
    System.out.println("FileCuts of " + script + " -Drevenant.seed=" + seed);
    for (int round = 0; round < ROUNDS; round++) {
      for (Image image : live(script, (int) Math.floorMod(seed + round, (long) EVERY))) {
        recover(image, DEPTH);
      }
    }
    System.out.println(cuts + " restarts");
  }

  private List<Image> live(CrashScript script, int first) {
    CrashDisk disk = new CrashDisk();
    Contents nothing = new Contents();
    int[] next = {0};
    Life life =
        new Life(
            disk,
            new Moment(nothing, nothing),
            "",
            new Random(random.nextLong()),
            () -> next[0]++ % EVERY == first);
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      DatabaseScene scene = new DatabaseScene(db, life, nothing);
      script.setUp(scene);
      disk.observe(life);
      script.run(scene);
      scene.point("whoever is open rolls back");
      scene.endAll();
      scene.look();
      scene.point("the rest is cleaned");
      db.cleanNow();
      scene.point("the close");
    }
    disk.observe(() -> {});
    return life.images;
  }

  private void recover(Image image, int depth) {
    cuts++;
    int[] left = {depth == 1 ? -1 : random.nextInt(OF_A_RESTART)};
    Random own = new Random(random.nextLong());
    Life life =
        new Life(image.disk, image.moment, image.story + "; then ", own, () -> left[0]-- == 0);
    life.point = "the restart";
    try {
      image.disk.observe(life);
      recover(image, life);
      image.disk.observe(() -> {});
      assertNothingLeftToDo(image.disk, life);
    } catch (Throwable failure) {
      throw new AssertionError("-Drevenant.seed=" + seed + ", " + image.story, failure);
    }
    life.images.forEach(deeper -> recover(deeper, depth - 1));
  }

  private void recover(Image image, Life life) {
    try (Database db = Database.open(image.disk.path("/db"), OPTIONS)) {
      assertEquals(
          List.of(), image.disk.files().stream().filter(name -> name.endsWith(".spill")).toList());
      Contents found =
          Contents.of(
              db.tableNames(),
              db.preparedTransactions(),
              new DatabaseScene(db, life, image.moment.before));
      Contents contents =
          found.isSame(image.moment.before) ? image.moment.before : image.moment.after;
      contents.assertFound(found);
      life.moment = new Moment(contents, contents); // somebody has seen it
      DatabaseScene scene = new DatabaseScene(db, life, contents);
      assertEquals(List.of(), db.check().problems());
      scene.point("a pass after the restart");
      db.cleanNow();
      scene.look();
      scene.point("prepared ones get their outcome");
      for (String name : List.copyOf(contents.prepared())) {
        scene.decide(name, name.startsWith("commits"));
      }
      scene.point("somebody writes on");
      scene.session().put(0, WRITTEN_ON).put(13, WRITTEN_ON).rollBack();
      scene.session().put(13, WRITTEN_ON).put(500, WRITTEN_ON).commit();
      scene.point("the rest is cleaned");
      db.cleanNow();
      scene.look();
      assertNothingToClean(db);
      scene.point("the close");
    }
  }

  private static void assertNothingToClean(Database db) {
    CheckReport report = db.check();
    assertEquals(List.of(), report.problems());
    assertEquals(0, report.pagesToClean());
    assertEquals(0, db.statistics().commits().abortedPending());
  }

  /** Recovery has converged: a life later all is as it was. */
  private static void assertNothingLeftToDo(CrashDisk disk, Life life) {
    Contents contents = life.moment.after;
    try (Database db = Database.open(disk.path("/db"), OPTIONS)) {
      assertTrue(db.recoveryReport().clean());
      assertNothingToClean(db);
      contents.assertFound(
          Contents.of(
              db.tableNames(), db.preparedTransactions(), new DatabaseScene(db, life, contents)));
    }
  }
}
