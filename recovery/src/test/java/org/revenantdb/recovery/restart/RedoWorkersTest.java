package org.revenantdb.recovery.restart;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;
import org.revenantdb.recovery.testing.CrashDisk;

/** R13: several threads redo what one would. */
class RedoWorkersTest {
  private static final byte[] NOTHING = new byte[0];

  /** Two pages that two workers share out between them. */
  private static final int ONE = 1;

  private final int other = otherWorkers(ONE);

  private static int otherWorkers(int page) {
    Map<Integer, Thread> owners = new ConcurrentHashMap<>();
    RedoWorkers.run(
        2,
        () -> (id, lsn, kind, bytes, offset, length) -> owners.put(id, Thread.currentThread()),
        "test",
        target -> {
          for (int id = 0; id < 100; id++) {
            target.redo(id, 1, PartKind.CHANGE, NOTHING, 0, 0);
          }
        });
    return owners.keySet().stream()
        .filter(id -> owners.get(id) != owners.get(page))
        .findFirst()
        .orElseThrow();
  }

  /** What each page is told, in order. */
  private static Map<Integer, List<String>> redone(Restart restart, int workers) {
    Map<Integer, List<String>> parts = new ConcurrentHashMap<>();
    Map<Integer, Thread> owners = new ConcurrentHashMap<>();
    restart.redo(
        workers,
        () -> {
          AtomicReference<Thread> user = new AtomicReference<>();
          return (page, lsn, kind, bytes, offset, length) -> {
            Thread current = Thread.currentThread();
            assertTrue(user.compareAndSet(null, current) || user.get() == current, "a target each");
            assertSame(current, owners.computeIfAbsent(page, id -> current), "a page, a worker");
            parts
                .computeIfAbsent(page, id -> new ArrayList<>())
                .add(
                    kind
                        + "@"
                        + lsn
                        + Arrays.toString(Arrays.copyOfRange(bytes, offset, offset + length)));
          };
        },
        "test");
    return new TreeMap<>(parts);
  }

  private static long randomLog(Log log, Random random) {
    long redo = log.tail();
    for (int i = 0; i < 400; i++) {
      RecordBuilder record = new RecordBuilder().begin(RecordType.PAGES, 0);
      int first = random.nextInt(60);
      for (int part = random.nextInt(1, 5); part > 0; part--) {
        PartKind kind =
            switch (random.nextInt(40)) {
              case 0 -> PartKind.FREE;
              case 1, 2 -> PartKind.FORMAT;
              default -> PartKind.CHANGE;
            };
        record.beginPart(first + part, kind);
        byte[] bytes = new byte[kind == PartKind.FREE ? 0 : random.nextInt(60)];
        random.nextBytes(bytes);
        record.putBytes(bytes, 0, bytes.length);
        record.endPart();
      }
      log.publish(record);
    }
    log.awaitDurable(log.tail());
    return redo;
  }

  @Test
  void R13_each_page_gets_what_redo_by_one_thread_gives_it_in_the_same_order() {
    for (int run = 0; run < 4; run++) {
      long seed = Long.getLong("redo.seed", System.nanoTime()) + run;
      String story = "redo.seed=" + seed;
      CrashDisk disk = new CrashDisk();
      Map<Integer, List<String>> expected;
      try (Log log = LogFixture.create(disk)) {
        long redo = randomLog(log, new Random(seed));
        Restart restart =
            LogFixture.analyse(disk.afterKill(), LogFixture.state(redo, redo, 0, redo, 1));
        expected = redone(restart, 1);
        assertTrue(expected.size() > 40, story);
        for (int workers = 2; workers <= RedoWorkers.MOST; workers++) {
          assertEquals(expected, redone(restart, workers), story + ", workers: " + workers);
        }
      }
    }
  }

  /** Batches are used again and again, and parts of every length find room. */
  @Test
  void much_more_than_all_batches_hold_arrives_whole() {
    byte[] longest = new byte[0xFFFF];
    Arrays.fill(longest, (byte) 7);
    AtomicInteger parts = new AtomicInteger();
    long[] last = new long[3];
    RedoWorkers.run(
        3,
        () ->
            (page, lsn, kind, bytes, offset, length) -> {
              assertEquals(last[page] + 1, lsn);
              assertEquals(PartKind.FORMAT, kind);
              assertEquals((int) (lsn * 31 % 0x10000), length);
              for (int i = 0; i < length; i++) {
                assertEquals(7, bytes[offset + i]);
              }
              last[page] = lsn;
              parts.incrementAndGet();
            },
        "test",
        target -> {
          for (int lsn = 1; lsn <= 1000; lsn++) {
            for (int page = 0; page < last.length; page++) {
              target.redo(page, lsn, PartKind.FORMAT, longest, 0, lsn * 31 % 0x10000);
            }
          }
        });
    assertEquals(3000, parts.get());
  }

  @Test
  void a_reader_waits_for_a_worker_that_is_far_behind() throws InterruptedException {
    RedoLane lane = new RedoLane();
    byte[] bytes = new byte[1 << 12];
    int parts = 20 * RedoLane.DEPTH * RedoLane.BATCH / bytes.length;
    Thread reader =
        Thread.ofPlatform()
            .start(() -> {
              for (int number = 1; number <= parts; number++) {
                lane.put(number, ONE, number, PartKind.CHANGE, bytes, 0, bytes.length);
              }
              lane.end();
            });
    while (reader.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    assertEquals(RedoLane.DEPTH, lane.batches());
    AtomicInteger found = new AtomicInteger();
    RedoLane.Batch batch;
    while ((batch = lane.take()) != null) {
      for (int at = 0; batch.hasPartAt(at); ) {
        at =
            batch.redo(
                at,
                (page, lsn, kind, from, offset, length) ->
                    assertEquals(found.incrementAndGet(), lsn));
      }
      lane.giveBack(batch);
    }
    reader.join();
    assertEquals(parts, found.get());
    assertEquals(RedoLane.DEPTH, lane.batches());
  }

  /** The other worker meets a failure that comes before it in the log, only later in time. */
  @Test
  void the_first_failure_in_the_log_is_thrown_not_the_first_in_time() {
    RuntimeException first = new IllegalStateException("first in the log");
    RuntimeException second = new IllegalStateException("second in the log");
    CountDownLatch secondHasFailed = new CountDownLatch(1);
    RuntimeException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                RedoWorkers.run(
                    2,
                    () ->
                        (page, lsn, kind, bytes, offset, length) -> {
                          if (page == other) {
                            secondHasFailed.countDown();
                            throw second;
                          }
                          await(secondHasFailed);
                          throw first;
                        },
                    "test",
                    target -> {
                      target.redo(ONE, 100, PartKind.CHANGE, NOTHING, 0, 0);
                      target.redo(other, 100, PartKind.CHANGE, NOTHING, 0, 0);
                    }));
    assertSame(first, thrown);
  }

  /** A part that half changed its page stops the log, and others fail because of that. */
  @Test
  void a_failure_that_another_one_caused_does_not_hide_it() {
    RuntimeException cause = new IllegalStateException("the damage");
    CountDownLatch failed = new CountDownLatch(1);
    RuntimeException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                RedoWorkers.run(
                    2,
                    () ->
                        (page, lsn, kind, bytes, offset, length) -> {
                          if (page == other) {
                            failed.countDown();
                            throw cause;
                          }
                          await(failed);
                          throw new IllegalStateException("stopped", new RuntimeException(cause));
                        },
                    "test",
                    target -> {
                      target.redo(ONE, 100, PartKind.CHANGE, NOTHING, 0, 0);
                      target.redo(other, 200, PartKind.CHANGE, NOTHING, 0, 0);
                    }));
    assertSame(cause, thrown);
  }

  /** The reader would go on for ever, or wait for room in the lane of the worker that has ended. */
  @Test
  void a_failure_ends_the_scan() {
    byte[] bytes = new byte[1 << 12];
    AssertionError failure = new AssertionError("as it was thrown");
    for (int page : new int[] {ONE, other}) {
      assertSame(
          failure,
          assertThrows(
              AssertionError.class,
              () ->
                  RedoWorkers.run(
                      2,
                      () ->
                          (id, lsn, kind, from, offset, length) -> {
                            if (id == ONE) {
                              throw failure;
                            }
                          },
                      "test",
                      target -> {
                        // More than a batch: what does not fill one is handed over at the end.
                        long lsn = 1;
                        for (; lsn <= 2 * RedoLane.BATCH / bytes.length; lsn++) {
                          target.redo(ONE, lsn, PartKind.CHANGE, bytes, 0, bytes.length);
                        }
                        for (; ; lsn++) {
                          target.redo(page, lsn, PartKind.CHANGE, bytes, 0, bytes.length);
                        }
                      })));
    }
  }

  @Test
  void what_the_scan_throws_comes_after_all_that_it_handed_out() {
    IllegalStateException damage = new IllegalStateException("the log ends too early");
    AtomicInteger parts = new AtomicInteger();
    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () ->
                RedoWorkers.run(
                    3,
                    () -> (page, lsn, kind, bytes, offset, length) -> parts.incrementAndGet(),
                    "test",
                    target -> {
                      for (int page = 0; page < 50; page++) {
                        target.redo(page, 1, PartKind.CHANGE, NOTHING, 0, 0);
                      }
                      throw damage;
                    }));
    assertSame(damage, thrown);
    assertEquals(50, parts.get());
    IllegalStateException earlier = new IllegalStateException("a page is damaged");
    assertSame(
        earlier,
        assertThrows(
            IllegalStateException.class,
            () ->
                RedoWorkers.run(
                    3,
                    () ->
                        (page, lsn, kind, bytes, offset, length) -> {
                          throw earlier;
                        },
                    "test",
                    target -> {
                      target.redo(ONE, 1, PartKind.CHANGE, NOTHING, 0, 0);
                      throw damage;
                    })));
  }

  /** The checkpoint may move the redo point when redo returns: nothing may be left over (R6). */
  @Test
  void R6_redo_returns_when_the_last_worker_has_ended() {
    long[] done = new long[1000];
    RedoWorkers.run(
        4,
        () -> (page, lsn, kind, bytes, offset, length) -> done[page] = lsn,
        "test",
        target -> {
          for (int page = 0; page < done.length; page++) {
            target.redo(page, page + 1, PartKind.CHANGE, NOTHING, 0, 0);
          }
        });
    for (int page = 0; page < done.length; page++) {
      assertEquals(page + 1, done[page]);
    }
  }

  @Test
  void a_worker_that_gets_no_target_is_a_failure() {
    IllegalStateException none = new IllegalStateException("no target");
    assertSame(
        none,
        assertThrows(
            IllegalStateException.class,
            () ->
                RedoWorkers.run(
                    2,
                    () -> {
                      throw none;
                    },
                    "test",
                    target -> target.redo(ONE, 1, PartKind.CHANGE, NOTHING, 0, 0))));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
