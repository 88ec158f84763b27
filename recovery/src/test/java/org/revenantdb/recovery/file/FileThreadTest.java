package org.revenantdb.recovery.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class FileThreadTest {

  private static FileThread started(String name, Runnable work) {
    FileThread thread = FileThread.of(name, work, FileThreadTest::untold);
    thread.start();
    return thread;
  }

  /** A failure could not be reported; so join throws it. */
  private static void untold(Throwable cause) {
    throw new IllegalStateException(cause);
  }

  @Test
  void work_isDoneOnADaemonOfItsNameThatMayTouchFiles() {
    AtomicReference<String> seen = new AtomicReference<>();
    FileThread thread =
        started(
            "writer",
            () ->
                seen.set(
                    Thread.currentThread().getName()
                        + FileThread.isCurrent()
                        + Thread.currentThread().isDaemon()));
    thread.join();
    assertEquals("writertruetrue", seen.get());
    assertFalse(FileThread.isCurrent());
  }

  @Test
  void start_twice_isRefused() {
    FileThread thread = started("once", () -> {});
    assertThrows(IllegalThreadStateException.class, thread::start);
    thread.join();
  }

  @Test
  void join_ofWhatWasNeverStarted_doesNotWait() {
    FileThread.of("never", () -> {}, FileThreadTest::untold).join();
  }

  @Test
  void join_ofAnInterruptedCaller_waitsAndKeepsTheInterrupt() {
    CountDownLatch go = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    FileThread thread =
        started(
            "slow",
            () -> {
              awaitQuietly(go);
              ended.set(true);
            });
    Thread.currentThread().interrupt();
    new Thread(go::countDown).start();
    thread.join();
    assertTrue(Thread.interrupted());
    assertTrue(ended.get());
  }

  @Test
  void unpark_reachesWorkThatWaits_howeverEarlyItComes() {
    for (int i = 0; i < 2_000; i++) {
      AtomicBoolean told = new AtomicBoolean();
      FileThread thread =
          started(
              "waiter",
              () -> {
                while (!told.get()) {
                  LockSupport.park();
                }
              });
      told.set(true);
      thread.unpark();
      thread.join();
    }
  }

  @Test
  void anInterruptLeftByWork_isNotSeenByTheNextWorkOfItsThread() {
    for (int i = 0; i < 100; i++) {
      AtomicBoolean interrupted = new AtomicBoolean();
      started("first", () -> Thread.currentThread().interrupt()).join();
      started("second", () -> interrupted.set(Thread.currentThread().isInterrupted())).join();
      assertFalse(interrupted.get());
    }
  }

  @Test
  void nothingOfTheStarter_isInherited() throws InterruptedException {
    InheritableThreadLocal<String> mine = new InheritableThreadLocal<>();
    AtomicReference<String> local = new AtomicReference<>("unset");
    AtomicReference<Thread> stranger = new AtomicReference<>();
    Thread tenant =
        new Thread(
            new ThreadGroup("tenant"),
            () -> {
              mine.set("mine");
              started(
                      "stranger",
                      () -> {
                        local.set(mine.get());
                        stranger.set(Thread.currentThread());
                        assertEquals(Thread.NORM_PRIORITY, Thread.currentThread().getPriority());
                        assertNull(Thread.currentThread().getThreadGroup().getParent());
                      })
                  .join();
            });
    AtomicReference<Throwable> failed = new AtomicReference<>();
    tenant.setUncaughtExceptionHandler((who, what) -> failed.set(what));
    tenant.setPriority(Thread.MIN_PRIORITY);
    tenant.start();
    tenant.join();
    assertNull(failed.get());
    assertNull(local.get());
    assertNotNull(stranger.get());
  }

  @Test
  void whileADatabaseIsOpen_aThreadWhoseWorkHasEnded_doesTheNext() {
    FileThread.databaseOpens();
    try {
      Set<Thread> seen = new HashSet<>();
      int works = 0;
      while (seen.size() == works) { // it may take a moment until it waits for more
        started("again", () -> seen.add(Thread.currentThread())).join();
        works++;
      }
      assertTrue(works > 1);
    } finally {
      FileThread.databaseClosed();
    }
  }

  @Test
  void theLastClose_endsAllThreadsThatHaveNoWork_andOnlyThose() {
    CountDownLatch go = new CountDownLatch(1);
    Set<Thread> seen = ConcurrentHashMap.newKeySet();
    AtomicReference<Thread> busy = new AtomicReference<>();
    CountDownLatch begun = new CountDownLatch(1);
    for (int round = 0; round < 200; round++) {
      FileThread.databaseOpens();
      FileThread.databaseOpens();
      for (int i = 0; i < 5; i++) {
        started("short", () -> seen.add(Thread.currentThread())).join();
      }
      FileThread.databaseClosed();
      FileThread.call("called", () -> seen.add(Thread.currentThread()));
      if (round == 0) {
        FileThread _ =
            started(
                "busy",
                () -> {
                  busy.set(Thread.currentThread());
                  begun.countDown();
                  awaitQuietly(go);
                });
        awaitQuietly(begun);
      }
      FileThread.databaseClosed();
      seen.remove(busy.get()); // it may have done other work before
      seen.forEach(thread -> assertFalse(thread.isAlive(), thread.getName()));
      seen.clear();
    }
    assertTrue(busy.get().isAlive());
    go.countDown();
    FileThreadPool.joinUninterruptibly(busy.get());
  }

  @Test
  void workThatThrows_endsAndIsReportedUnderItsName_andToTheThreadThatJoins() throws Exception {
    AtomicReference<String> died = new AtomicReference<>();
    CountDownLatch heard = new CountDownLatch(1);
    FileThread thread =
        started(
            "unlucky",
            () -> {
              Thread.currentThread()
                  .setUncaughtExceptionHandler((who, what) -> {
                    died.set(who.getName());
                    heard.countDown();
                  });
              throw new IllegalStateException("on purpose");
            });
    IllegalStateException told = assertThrows(IllegalStateException.class, thread::join);
    assertEquals("on purpose", told.getCause().getCause().getMessage());
    heard.await();
    assertEquals("unlucky", died.get());
    AtomicReference<Thread> next = new AtomicReference<>();
    started("next", () -> next.set(Thread.currentThread())).join();
    assertNotNull(next.get());
  }

  @Test
  void aFailureThatWasReported_isNotReportedToTheThreadThatJoins() {
    AtomicReference<Throwable> told = new AtomicReference<>();
    Error error = new StackOverflowError("on purpose");
    List<String> order = new CopyOnWriteArrayList<>();
    FileThread thread =
        FileThread.of(
            "unlucky",
            () -> {
              throw error;
            },
            cause -> {
              order.add("death");
              told.set(cause);
            },
            () -> order.add("end"));
    thread.start();
    thread.join();
    assertSame(error, told.get());
    assertEquals(List.of("death", "end"), order);
  }

  @Test
  void call_thatDies_throwsWhatItDiedOf() {
    Error error = new OutOfMemoryError("on purpose");
    assertSame(
        error,
        assertThrows(
            OutOfMemoryError.class,
            () ->
                FileThread.call(
                    "unlucky",
                    () -> {
                      throw error;
                    })));
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
