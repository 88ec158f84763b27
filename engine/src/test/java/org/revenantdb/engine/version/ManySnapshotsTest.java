package org.revenantdb.engine.version;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.DatabaseStatistics;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.Samples;
import org.revenantdb.testing.Drawn;

/**
 * A hundred thousand sessions, each a virtual thread with a snapshot, while one session writes the
 * rows that all of them read (docs/protocols.md §38, §39).
 */
@Tag("slow")
class ManySnapshotsTest {
  private static final int SESSIONS = 100_000;
  private static final int ROWS = 2;

  /** Updates while all of them are open, besides those while they open. */
  private static final int UPDATES = 50;

  private static final DatabaseOptions OPTIONS =
      DatabaseOptions.defaults().withDurability(Durability.LAZY);

  @TempDir Path directory;

  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final CountDownLatch allOpen = new CountDownLatch(SESSIONS);
  private final CountDownLatch written = new CountDownLatch(1);
  private final CountDownLatch allRead = new CountDownLatch(SESSIONS);
  private final CountDownLatch seen = new CountDownLatch(1);

  /** The number in all rows, before it is committed and after. */
  private final AtomicInteger committing = new AtomicInteger();

  private final AtomicInteger committed = new AtomicInteger();

  /** The numbers that the sessions see. */
  private final Set<Integer> states = ConcurrentHashMap.newKeySet();

  @Test
  @Drawn(oneIn = 2)
  void each_of_100_000_virtual_threads_sees_the_state_at_its_begin_and_nothing_is_left_of_them()
      throws Exception {
    try (Database db = Database.open(directory.resolve("db"), OPTIONS)) {
      Table table = db.getOrCreateTable("t");
      update(db, table);
      List<Thread> sessions = new ArrayList<>(SESSIONS);
      for (int i = 0; i < SESSIONS; i++) {
        sessions.add(
            Thread.ofVirtual()
                .uncaughtExceptionHandler((_, failure) -> failures.add(failure))
                .start(() -> session(db, table)));
      }
      updateUntil(allOpen, db, table);
      for (int i = 0; i < UPDATES; i++) {
        update(db, table);
      }
      assertEquals(SESSIONS, db.statistics().versions().snapshots());
      written.countDown();
      updateUntil(allRead, db, table);
      db.cleanNow();
      DatabaseStatistics counts = db.statistics();
      assertEquals(SESSIONS, counts.versions().snapshots());
      assertEquals(0, counts.versions().chainExcess());
      long kept = Samples.versionsInMemory(counts);
      assertTrue(
          0 < kept && kept <= (long) ROWS * states.size(),
          () -> kept + " versions of " + ROWS + " rows, for " + states.size() + " states");
      seen.countDown();
      for (Thread session : sessions) {
        session.join();
      }
      assertEquals(List.of(), List.copyOf(failures));
      assertEquals(0, db.statistics().versions().snapshots());
      db.cleanNow();
      assertEquals(0, Samples.versionsInMemory(db.statistics()));
      assertEquals(0, db.statistics().versions().memoryBytes());
    }
  }

  private void updateUntil(CountDownLatch all, Database db, Table table) {
    while (all.getCount() > 0 && failures.isEmpty()) {
      update(db, table);
    }
    assertEquals(List.of(), List.copyOf(failures));
  }

  /** Writes the next number to all rows. */
  private void update(Database db, Table table) {
    try (Transaction tx = db.begin()) {
      byte[] next = number(committing.incrementAndGet());
      for (int row = 0; row < ROWS; row++) {
        tx.put(table, number(row), next);
      }
      tx.commit();
    }
    committed.incrementAndGet();
  }

  private void session(Database db, Table table) {
    int atLeast = committed.get();
    try (Transaction tx = db.begin()) {
      int atMost = committing.get();
      allOpen.countDown();
      written.await();
      int first = read(tx, table, 0);
      assertTrue(atLeast <= first && first <= atMost, () -> atLeast + " " + first + " " + atMost);
      for (int row = 1; row < ROWS; row++) {
        assertEquals(first, read(tx, table, row));
      }
      states.add(first);
      allRead.countDown();
      seen.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static int read(Transaction tx, Table table, int row) {
    byte[] value = tx.get(table, number(row));
    assertTrue(value != null, "the row was there before anybody began");
    return ByteBuffer.wrap(value).getInt();
  }

  private static byte[] number(int value) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
  }
}
