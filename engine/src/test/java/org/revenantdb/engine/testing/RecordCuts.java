package org.revenantdb.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.TableOptions;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.session.PreparedTransactions;
import org.revenantdb.recovery.log.RecordType;

/**
 * Cuts a {@link CrashScript} off behind each of its log records (in the usual build behind one in
 * eight; the seed draws which), pages of any age, and of many of these restarts each behind one of
 * the records that it has written, three deep. Each time every row is compared before, between and
 * after the cleaner's passes, prepared transactions get their outcome, another transaction writes,
 * nothing is left to be cleaned, and nothing has leaked; and in the end another restart, from the
 * same log and pages of other ages, finds the same pages and has nothing to do.
 */
public class RecordCuts {
  private static final int DEPTH = 3;

  /** The log is cut off behind one record in so many. */
  private static final int EVERY = Boolean.getBoolean("revenant.long") ? 1 : 8;

  /** The restart behind one cut in so many is cut off as well; in the long form behind each. */
  private static final int DEEP = Boolean.getBoolean("revenant.long") ? 1 : 3;

  private static final byte[] WRITTEN_ON = Samples.random(4711, 160);

  private final Path directory;
  private final long seed;
  private final Random random;
  private int cuts;

  public RecordCuts(Path directory, long seed) {
    this.directory = directory;
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** What is true from a record on, and what is happening from one on. */
  private record Timeline(TreeMap<Long, Contents> turns, TreeMap<Long, String> points) {
    Timeline() {
      this(new TreeMap<>(), new TreeMap<>());
    }

    Timeline copy() {
      return new Timeline(new TreeMap<>(turns), new TreeMap<>(points));
    }

    Contents at(long end) {
      return turns.floorEntry(end).getValue();
    }

    String pointAt(long end) {
      Map.Entry<Long, String> point = points.lowerEntry(end);
      return point == null ? "" : point.getValue();
    }
  }

  private static final class EngineScene extends Scene {
    private final TestEngine engine;
    private final Timeline timeline;

    EngineScene(TestEngine engine, Timeline timeline, Contents contents) {
      super(contents);
      this.engine = engine;
      this.timeline = timeline;
    }

    @Override
    Transaction begin() {
      return engine.transaction();
    }

    @Override
    Table table(String name, TableOptions options) {
      return engine.table(name, options);
    }

    @Override
    void pass() {
      engine.journal.force();
      engine.pass();
    }

    @Override
    void checkpoint() {
      // The log in memory has none.
    }

    @Override
    void decidePrepared(byte[] name, boolean commits) {
      PreparedTransactions prepared = engine.engine.prepared();
      assertTrue((commits ? prepared.commit(name) : prepared.rollback(name)) > 0);
    }

    @Override
    public void look() {
      assertHolds(engine, contents());
    }

    @Override
    public void point(String name) {
      timeline.points.put(engine.journal.tail(), name);
    }

    @Override
    void turn(Contents before, Contents after, RecordType by, Runnable step) {
      int from = engine.journal.entries().size();
      step.run();
      List<MemoryJournal.Entry> entries = engine.journal.entries();
      for (MemoryJournal.Entry entry : entries.subList(from, entries.size())) {
        if (entry.is(by)) {
          timeline.turns.put(entry.lsn(), after);
          return;
        }
      }
      throw new AssertionError("a step without its record " + by);
    }
  }

  /** Cuts off at every step. */
  public final void cut(CrashScript script) {
    System.out.println("RecordCuts of " + script + " -Drevenant.seed=" + seed);
    Timeline timeline = new Timeline();
    timeline.turns.put(0L, new Contents());
    try (TestEngine engine = new TestEngine(directory, 4096, Samples.SMALL)) {
      EngineScene scene = new EngineScene(engine, timeline, new Contents());
      script.setUp(scene);
      begin(engine, scene.contents());
      assertHolds(engine, scene.contents());
      int from = engine.journal.entries().size();
      script.run(scene);
      scene.point("whoever is open rolls back");
      scene.endAll();
      ran(engine);
      assertHolds(engine, scene.contents());
      scene.point("the rest is cleaned");
      end(engine, scene.contents());
      List<MemoryJournal.Entry> entries = engine.journal.entries();
      assertTrue(entries.size() > from, "no step was made");
      int first = from + Math.floorMod(from + seed, EVERY);
      for (int end = first; end <= entries.size(); end += EVERY) {
        boolean isDeep = Math.floorMod((end - first) / EVERY + seed, (long) DEEP) == 0;
        restart(entries.subList(0, end), timeline, isDeep ? DEPTH : 1, "");
      }
    }
    System.out.println(cuts + " restarts");
  }

  /** Called when the script begins, for tests that compare more than rows. */
  public void begin(TestEngine engine, Contents contents) {}

  /** All its transactions have ended. */
  public void ran(TestEngine engine) {}

  /** A restart has just ended. */
  public void restarted(TestEngine engine) {}

  /** All has been cleaned. */
  public void cleaned(TestEngine engine, Contents contents) {}

  private static void assertHolds(TestEngine engine, Contents contents) {
    engine.journal.force();
    Scene reads = new EngineScene(engine, new Timeline(), contents);
    contents.assertFound(
        Contents.of(engine.catalog.names(), engine.engine.prepared().names(), reads));
    engine.check();
  }

  /** Prepared ones get their outcome, and nothing is left. */
  private void end(TestEngine engine, Contents contents) {
    if (contents.prepared().isEmpty()) {
      engine.checkAllClean();
      cleaned(engine, contents);
    } else {
      engine.journal.force();
      engine.clean();
    }
    assertHolds(engine, contents);
  }

  private void restart(List<MemoryJournal.Entry> log, Timeline former, int depth, String story) {
    String here =
        story
            + "the log ends behind its record "
            + log.size()
            + ", "
            + RecordText.of(log.getLast())
            + ", "
            + former.pointAt(log.getLast().lsn());
    Timeline timeline = former.copy();
    List<MemoryJournal.Entry> whole;
    try {
      whole = restart(log, timeline);
      if (depth == 1 || whole.size() == log.size()) {
        assertNothingLeftToDo(whole, timeline.at(Long.MAX_VALUE));
        return;
      }
    } catch (Throwable failure) {
      throw new AssertionError("-Drevenant.seed=" + seed + ", " + here + ": " + failure, failure);
    }
    int end = log.size() + 1 + random.nextInt(whole.size() - log.size());
    restart(whole.subList(0, end), timeline, depth - 1, here + "; then ");
  }

  private Map<Integer, byte[]> redone(List<MemoryJournal.Entry> log) {
    int redoFrom = random.nextInt(log.size() + 1);
    Map<Integer, byte[]> pages =
        Replay.randomlyFlushed(Replay.newDatabase(), log, redoFrom, random);
    Replay.redo(pages, log.subList(redoFrom, log.size()));
    return pages;
  }

  /** One life after a crash; all records, with its own. */
  private List<MemoryJournal.Entry> restart(List<MemoryJournal.Entry> log, Timeline timeline) {
    cuts++;
    // What was true behind the cut is not.
    long end = log.getLast().lsn();
    timeline.turns.tailMap(end, /* inclusive= */ false).clear();
    timeline.points.tailMap(end, /* inclusive= */ true).clear();
    Contents contents = timeline.at(end);
    try (TestEngine engine = TestEngine.restart(directory, log, redone(log), Samples.SMALL)) {
      EngineScene scene = new EngineScene(engine, timeline, contents);
      assertHolds(engine, contents);
      restarted(engine);
      scene.point("a pass after the restart");
      engine.pass();
      assertHolds(engine, contents);
      scene.point("prepared ones get their outcome");
      for (String name : List.copyOf(contents.prepared())) {
        scene.decide(name, name.startsWith("commits"));
      }
      assertHolds(engine, scene.contents());
      scene.point("somebody writes on");
      writeOn(scene);
      scene.point("the rest is cleaned");
      end(engine, scene.contents());
      return new ArrayList<>(engine.journal.entries());
    }
  }

  private static void writeOn(Scene scene) {
    if (scene.contents().hasTable("t")) {
      scene.session().put(0, WRITTEN_ON).put(13, WRITTEN_ON).rollBack();
      scene.session().put(13, WRITTEN_ON).put(500, WRITTEN_ON).commit();
    }
  }

  /** Recovery is idempotent, and has converged. */
  private void assertNothingLeftToDo(List<MemoryJournal.Entry> log, Contents contents) {
    Map<Integer, byte[]> pages = redone(log);
    try (TestEngine engine =
        TestEngine.restart(directory, log, Replay.copy(pages), Samples.SMALL)) {
      assertHolds(engine, contents);
      engine.checkAllClean();
      assertEquals(log.size(), engine.journal.entries().size(), "records of a life with no work");
      assertHolds(engine, contents);
      TestEngine.assertSamePages(Objects.requireNonNull(pages), engine.memory());
    }
  }
}
