package org.revenantdb.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.lifecycle.DatabaseFiles;
import org.revenantdb.engine.lifecycle.EngineWaits;
import org.revenantdb.engine.lifecycle.WaitEvent;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.engine.testing.TestEngine;
import org.revenantdb.latch.WaitMeter;
import org.revenantdb.recovery.file.FileThread;
import org.revenantdb.recovery.testing.Await;
import org.revenantdb.recovery.testing.FaultyFileSystem;
import org.revenantdb.recovery.testing.IoEvent;

/** The waits that a user sees: each is counted once, in its class, and nothing else is counted. */
@Tag("stress")
class WaitsTest {
  /** Lazy commits are forced only on request, so that only the test decides which threads wait. */
  private static final DatabaseOptions OPTIONS =
      Samples.SMALL.withMaxLazyDelay(DatabaseOptions.NEVER);

  private static final int ROWS = 400;

  @TempDir Path folder;

  private Database open() {
    return Database.open(folder.resolve("db"), OPTIONS);
  }

  private static long count(Waits waits, WaitClass waitClass) {
    return waits.of(waitClass).count();
  }

  /** All that were counted, by class, without those of the engine's own threads. */
  private static List<String> counted(Waits waits) {
    return waits.all().stream()
        .filter(one -> one.count() > 0 && one.waitClass() != WaitClass.LOG_FORCE_AHEAD)
        .map(one -> one.waitClass() + " " + one.count())
        .toList();
  }

  @Test
  void force_countsDurableCommits_durableReadersOfLazyOnes_andSync() {
    try (Database db = open()) {
      Table table = db.getOrCreateTable("t");
      Waits before = db.waitStatistics();
      db.run(TransactionOptions.lazy(), tx -> tx.put(table, bytes("lazy"), bytes("1")));
      assertForces(0, db, before);
      assertEquals("1", Samples.get(db, "t", "lazy")); // makes it durable
      assertForces(1, db, before);
      assertEquals("1", Samples.get(db, "t", "lazy"));
      assertForces(1, db, before);
      for (int i = 0; i < 5; i++) {
        Samples.put(db, "t", "k" + i, "v");
      }
      assertForces(6, db, before);
      db.run(TransactionOptions.lazy(), tx -> tx.put(table, bytes("lazy"), bytes("2")));
      db.sync();
      assertForces(7, db, before);
      long durable = db.statistics().files().durableLsn();
      db.sync();
      if (db.statistics().files().durableLsn() == durable) { // else the cleaner has written
        assertForces(7, db, before);
      }
      Waits all = db.waitStatistics().since(before);
      WaitCounts force = all.of(WaitClass.LOG_FORCE);
      assertTrue(force.maxNanos() > 0, all::toString);
      assertTrue(force.totalNanos() >= force.count() * force.averageNanos(), all::toString);
      assertTrue(force.maxNanos() * 2 > force.averageNanos(), all::toString);
    }
  }

  /** A checkpoint forces for others what was theirs to force, or writes what they force then. */
  private static void assertForces(long expected, Database db, Waits before) {
    Waits during = db.waitStatistics().since(before);
    long differs = Math.abs(count(during, WaitClass.LOG_FORCE) - expected);
    assertTrue(
        differs <= count(during, WaitClass.LOG_FORCE_AHEAD),
        () -> "not " + expected + " forces: " + during);
    assertEquals(0, count(during, WaitClass.LOG_WRITE), during::toString);
    assertEquals(0, count(during, WaitClass.LOG_CREDIT), during::toString);
    assertEquals(0, count(during, WaitClass.PAGE_CREDIT), during::toString);
  }

  /** The checkpoint waits for the log, but that is no commit. */
  @Test
  void force_ofTheEngineItself_isCountedApart() {
    try (Database db = open()) {
      db.run(
          TransactionOptions.lazy(),
          tx -> tx.put(db.getOrCreateTable("t"), bytes("k"), bytes("v")));
      Waits before = db.waitStatistics();
      db.checkpoint();
      assertForces(0, db, before);
      Waits during = db.waitStatistics().since(before);
      assertTrue(count(during, WaitClass.LOG_FORCE_AHEAD) > 0, during::toString);
    }
  }

  @Test
  void read_countsEachPageThatIsRead() {
    try (Database db = open()) {
      Table table = db.getOrCreateTable("t");
      db.run(tx -> {
        for (int i = 0; i < ROWS; i++) {
          tx.put(table, bytes("key" + i), new byte[1000]);
        }
      });
    }
    try (Database db = open()) {
      for (int round = 0; round < 2; round++) {
        db.run(tx -> {
          for (int i = 0; i < ROWS; i++) {
            assertEquals(1000, tx.get(db.getOrCreateTable("t"), bytes("key" + i)).length);
          }
        });
        db.cleanNow(); // what the cleaner reads, it has read
        long misses = db.statistics().pool().misses();
        assertTrue(misses > 50, "it was not read at all: " + misses);
        assertEquals(misses, count(db.waitStatistics(), WaitClass.BUFFER_READ));
      }
    }
  }

  /** One session alone, and a log that forces nothing: whatever it does, it does not wait. */
  @Test
  void nothing_isCounted_whereNobodyWaits() {
    try (TestEngine engine = new TestEngine(folder, 2000)) {
      Tree tree = engine.table("t");
      Waits before = engine.waits.snapshot();
      long misses = engine.pool.statistics().misses();
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < ROWS; i++) {
        tx.put(tree, bytes("key" + i), new byte[100]);
        tx.get(tree, bytes("key" + i / 2));
        if (i % 20 == 0) {
          tx.put(tree, bytes("large" + i), new byte[20_000]);
        }
        if (i % 3 == 0) {
          tx.delete(tree, bytes("key" + i));
        }
      }
      tx.commitDurably();
      engine.clean();
      Waits after = engine.waits.snapshot().since(before);
      long read = engine.pool.statistics().misses() - misses;
      assertEquals(read, count(after, WaitClass.BUFFER_READ));
      assertEquals(
          read == 0 ? List.of() : List.of("BUFFER_READ " + read), counted(after), after::toString);
    }
  }

  /** Pages of each type that a real tree has, latched by the test, and wanted by another thread. */
  @Test
  void latches_areCountedUnderTypeAndMode() throws InterruptedException {
    try (TestEngine engine = new TestEngine(folder, 2000)) {
      Tree tree = engine.table("t");
      TestEngine.Tx tx = engine.begin();
      for (int i = 0; i < ROWS; i++) {
        tx.put(tree, bytes("key" + i), new byte[100]);
      }
      tx.put(tree, bytes("large"), new byte[1_000_000]);
      tx.commitDurably();
      Set<Integer> types = new HashSet<>();
      for (Map.Entry<Integer, byte[]> page : engine.memory().entrySet()) {
        int type = page.getValue()[Page.TYPE];
        if (!types.add(type)) {
          continue;
        }
        for (boolean shared : new boolean[] {true, false}) {
          Waits before = engine.waits.snapshot();
          waitFor(engine, page.getKey(), shared);
          assertEquals(
              List.of(expected(type) + (shared ? "_SHARED 1" : "_EXCLUSIVE 1")),
              counted(engine.waits.snapshot().since(before)),
              "page " + page.getKey());
        }
      }
      assertTrue(
          types.containsAll(
              Set.of(
                  Page.SPACE_MAP, Page.LEAF, Page.INNER, Page.OVERFLOW_HEAD, Page.OVERFLOW_DATA)),
          "some type was not seen: " + types);
    }
  }

  private static String expected(int type) {
    return switch (type) {
      case Page.LEAF -> "LEAF";
      case Page.INNER -> "INNER";
      case Page.SPACE_MAP, Page.GAM, Page.IAM -> "MAP";
      default -> "OVERFLOW";
    };
  }

  private static void waitFor(TestEngine engine, int page, boolean shared)
      throws InterruptedException {
    int frame = engine.pool.fixExclusive(page);
    Thread other =
        Thread.ofPlatform()
            .start(() -> {
              if (shared) {
                engine.pool.unfixShared(engine.pool.fixShared(page));
              } else {
                engine.pool.unfixExclusive(engine.pool.fixExclusive(page));
              }
            });
    while (other.getState() != Thread.State.WAITING
        && other.getState() != Thread.State.TIMED_WAITING) {
      Await.pause();
    }
    engine.pool.unfixExclusive(frame);
    other.join();
  }

  /** A reader meets the row of a transaction whose commit record has no room in the log yet. */
  @Test
  void row_countsReadersThatMeetACommittingWriter() throws InterruptedException {
    try (TestEngine engine = new TestEngine(folder, 100)) {
      Tree tree = engine.table("t");
      TestEngine.Tx writer = engine.begin();
      writer.put(tree, bytes("k"), bytes("v"));
      TestEngine.Tx reader = engine.begin();
      Waits before = engine.waits.snapshot();
      assertNull(reader.get(tree, bytes("k"))); // it is active: nobody waits
      assertEquals(List.of(), counted(engine.waits.snapshot().since(before)));
      engine.storage.transactions().committing(writer.id);
      Thread meets = Thread.ofPlatform().start(() -> reader.get(tree, bytes("k")));
      while (meets.getState() != Thread.State.TIMED_WAITING) {
        Await.pause();
      }
      engine.storage.transactions().committed(writer.id, engine.journal.tail());
      meets.join();
      Waits during = engine.waits.snapshot().since(before);
      assertEquals(1, count(during, WaitClass.ROW), during::toString);
      reader.abort();
    }
  }

  /**
   * With the data file at a stand nothing comes free, until the bound of the log is reached. How
   * often is counted in recovery's own tests: here the cleaner may wait as well.
   */
  @Test
  void credit_countsWhoHasToWaitForRoomInTheLog() throws Exception {
    DatabaseOptions small = OPTIONS.withMaxRecoveryLog(4 * Samples.MIB);
    FaultyFileSystem faulty = new FaultyFileSystem();
    CountDownLatch open = new CountDownLatch(1);
    AtomicBoolean stop = new AtomicBoolean();
    try (Database db = Database.open(faulty.wrap(folder.resolve("db")), small)) {
      Table table = db.getOrCreateTable("t");
      faulty.gate(event -> {
        if (event.is(IoEvent.Kind.WRITE, DatabaseFiles.DATA)) {
          uninterruptibly(open);
        }
      });
      Waits before = db.waitStatistics();
      try {
        Thread writer =
            Thread.ofPlatform()
                .start(() -> {
                  while (!stop.get()) {
                    db.run(
                        TransactionOptions.lazy(), tx -> tx.put(table, bytes("k"), new byte[1000]));
                  }
                });
        while (!isWaitingForCredit(writer)) {
          Thread.yield();
        }
        stop.set(true);
        open.countDown();
        writer.join();
      } finally {
        stop.set(true);
        open.countDown();
      }
      Waits during = db.waitStatistics().since(before);
      assertTrue(count(during, WaitClass.LOG_CREDIT) > 0, during::toString);
      assertEquals(0, count(during, WaitClass.PAGE_CREDIT), during::toString);
    }
  }

  private static boolean isWaitingForCredit(Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .anyMatch(frame -> frame.getMethodName().equals("acquirePatiently"));
  }

  private static void uninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void meters_countUnderTheirClass() {
    EngineWaits waits = new EngineWaits();
    wait(waits.log().room());
    wait(waits.log().file());
    wait(waits.log().force());
    wait(waits.read());
    wait(waits.frame());
    AtomicReference<Throwable> death = new AtomicReference<>();
    FileThread own = FileThread.of("test", () -> wait(waits.log().force()), death::set);
    own.start();
    own.join();
    for (WaitClass waitClass :
        List.of(
            WaitClass.LOG_WRITE,
            WaitClass.LOG_FILE,
            WaitClass.LOG_FORCE,
            WaitClass.LOG_FORCE_AHEAD,
            WaitClass.BUFFER_READ,
            WaitClass.FREE_FRAME)) {
      assertEquals(1, count(waits.snapshot(), waitClass), waitClass.name());
    }
  }

  private static void wait(WaitMeter meter) {
    meter.end(meter.begin());
  }

  @Test
  void since_isTheDifference_andASnapshotDoesNotChange() {
    EngineWaits waits = new EngineWaits();
    Waits none = waits.snapshot();
    waits.of(WaitClass.ROW).end(waits.of(WaitClass.ROW).begin());
    Waits one = waits.snapshot();
    waits.of(WaitClass.ROW).end(waits.of(WaitClass.ROW).begin());
    waits.of(WaitClass.FREE_FRAME).end(waits.of(WaitClass.FREE_FRAME).begin());
    Waits all = waits.snapshot();
    assertNotSame(one, all);
    assertEquals(List.of(), counted(none));
    assertEquals(List.of("ROW 1"), counted(one));
    assertEquals(List.of("ROW 2", "FREE_FRAME 1"), counted(all));
    Waits between = all.since(one);
    assertEquals(List.of("ROW 1", "FREE_FRAME 1"), counted(between));
    assertEquals(
        all.of(WaitClass.ROW).totalNanos() - one.of(WaitClass.ROW).totalNanos(),
        between.of(WaitClass.ROW).totalNanos());
    assertEquals(List.of(), counted(all.since(all)));
    assertThrows(IllegalArgumentException.class, () -> one.since(all));
    assertThrows(UnsupportedOperationException.class, () -> all.all().clear());
    assertEquals(WaitClass.values().length, all.all().size());
    assertEquals("", none.toString());
    assertTrue(all.toString().startsWith("row: 2 waits"), all::toString);
  }

  @Test
  void averages_areOfAllThatWereCounted() {
    assertEquals(0, new WaitCounts(WaitClass.ROW, 0, 0, 0).averageNanos());
    assertEquals(33, new WaitCounts(WaitClass.ROW, 3, 100, 90).averageNanos());
  }

  @Test
  void whatBeganWithoutMemory_isLeftOut() {
    EngineWaits waits = new EngineWaits();
    waits.of(WaitClass.ROW).end(null);
    assertEquals(List.of(), counted(waits.snapshot()));
  }

  @Test
  void waits_ofAClosedDatabase_areRefused() {
    Database db = open();
    db.close();
    assertThrows(DatabaseClosedException.class, db::waitStatistics);
  }

  @Test
  void flightRecorder_receivesEachWait_withItsClass() throws Exception {
    List<RecordedEvent> events = new ArrayList<>();
    long counted;
    try (Database db = open();
        Recording recording = new Recording()) {
      db.getOrCreateTable("t");
      recording.enable(WaitEvent.NAME).withThreshold(Duration.ZERO);
      recording.start();
      Waits before = db.waitStatistics();
      for (int i = 0; i < 3; i++) {
        Samples.put(db, "t", "k" + i, "v");
      }
      counted = count(db.waitStatistics().since(before), WaitClass.LOG_FORCE);
      recording.stop();
      events.addAll(dumped(recording));
    }
    List<RecordedEvent> forces =
        events.stream()
            .filter(event -> event.getString("waitClass").equals(WaitClass.LOG_FORCE.text()))
            .toList();
    assertEquals(3, counted);
    assertEquals(counted, forces.size(), events::toString);
    for (RecordedEvent force : forces) {
      assertTrue(force.getDuration().isPositive(), force::toString);
      assertEquals(Thread.currentThread().getName(), force.getThread().getJavaName());
    }
  }

  @Test
  void flightRecorder_receivesNoWaitsBelowItsThreshold_norWhenTheEventIsOff() throws Exception {
    try (Database db = open();
        Recording recording = new Recording()) {
      recording.enable(WaitEvent.NAME).withThreshold(Duration.ofDays(1));
      recording.start();
      Samples.put(db, "t", "k", "v");
      recording.disable(WaitEvent.NAME);
      Samples.put(db, "t", "k", "v");
      recording.stop();
      assertEquals(List.of(), dumped(recording));
      assertTrue(count(db.waitStatistics(), WaitClass.LOG_FORCE) >= 2);
    }
  }

  private List<RecordedEvent> dumped(Recording recording) throws IOException {
    Path file = folder.resolve("waits.jfr");
    recording.dump(file);
    Stream<RecordedEvent> all = RecordingFile.readAllEvents(file).stream();
    return all.filter(event -> event.getEventType().getName().equals("org.revenantdb.Wait"))
        .toList();
  }
}
