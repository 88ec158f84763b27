package org.revenantdb.jmh.contend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The counts of a run, and the detection of a lock that does not lock. */
class ContentionRunTest {
  private static final long WINDOW = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long LONGEST = TimeUnit.SECONDS.toNanos(5);

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void threads_allTakePart(boolean virtual) throws InterruptedException {
    ContentionPoint point = new ContentionPoint(5, virtual, 10);
    ContentionResult result = ContentionRun.run(new Locked(), point, 10, 0, WINDOW);
    assertEquals(5, result.counts().size());
    assertTrue(result.seconds() >= 0.02, "" + result);
    assertTrue(result.jain() >= 0.2 && result.jain() <= 1, "" + result);
    // Each thread's first acquisition is timed, the one that finds that it is over among them.
    assertTrue(result.waits().count() >= result.total(), "" + result);
  }

  @Test
  void waits_ofAStarvingThreadCount() throws InterruptedException {
    ContentionPoint point = new ContentionPoint(2, /* virtual= */ false, 10);
    long window = WINDOW;
    ContentionResult result = ContentionRun.run(new FirstOnly(), point, 10, 0, window);
    // On a busy machine neither thread may be given a processor so soon: then it takes longer.
    while ((result.total() == 0 || result.waits().max() < window / 2) && window < LONGEST) {
      window *= 4;
      result = ContentionRun.run(new FirstOnly(), point, 10, 0, window);
    }
    assertEquals(0.5, result.jain(), 1e-9);
    assertTrue(result.waits().max() >= window / 2, "" + result.waits().max());
  }

  /** As among ten thousand threads, of which none comes 64 times. */
  @Test
  void waits_areTimedOfManyThreadsWithFewAcquisitions() {
    WaitHistogram waits = new WaitHistogram();
    int timed = 0;
    for (int i = 0; i < 64; i++) {
      ContentionRun run = ContentionRun.measuring();
      Competitor me = new Competitor(run, 64, i);
      for (int j = 0; j < 3; j++) {
        me.arrive();
        me.enter();
      }
      waits.add(me.waits());
      timed += me.waits().count() > 1 ? 1 : 0;
    }
    assertEquals(64 + 2, waits.count()); // the first of each, and one of 64 of all others
    assertEquals(2, timed);
  }

  @Test
  void noLock_isNoticed() {
    // Until a thread has entered twice: nothing at all is no sign of a lock.
    ContentionPoint point = new ContentionPoint(4, /* virtual= */ false, 0);
    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () -> {
              while (true) {
                ContentionRun.run(new Unlocked(), point, 10, 0, WINDOW);
              }
            });
    assertTrue(thrown.getMessage().startsWith("not exclusive"), thrown.getMessage());
  }

  @Test
  void failure_ofAThreadIsReported() {
    ContentionPoint point = new ContentionPoint(2, /* virtual= */ false, 0);
    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () -> ContentionRun.run(new Failing(), point, 10, 0, WINDOW));
    assertEquals(UnsupportedOperationException.class, thrown.getCause().getClass());
  }

  @Test
  void jain_isOneIfAllGotAsMuch_andOneNthIfOneGotEverything() {
    assertEquals(1, result(7, 7, 7, 7).jain(), 1e-12);
    assertEquals(0.25, result(0, 9, 0, 0).jain(), 1e-12);
    assertEquals(36.0 / (3 * 14), result(1, 2, 3).jain(), 1e-12);
    assertEquals(1, result(0, 0).jain(), 1e-12);
  }

  @Test
  void metrics_areByTheSecondAndByTheAcquisition() {
    ContentionResult result =
        new ContentionResult(2, List.of(10L, 30L), new WaitHistogram(), /* cpuSeconds= */ 4);
    assertEquals(20, result.metrics().get("throughput"));
    assertEquals(2, result.metrics().get("cpu_per_second"));
    assertEquals(1e8, result.metrics().get("cpu_per_acquisition"));
  }

  @Test
  void point_isReadAsItWasWritten() {
    for (boolean virtual : new boolean[] {false, true}) {
      ContentionPoint point = new ContentionPoint(64, virtual, 100);
      assertEquals(point, ContentionPoint.parse(point.toString()));
    }
    assertThrows(IllegalArgumentException.class, () -> ContentionPoint.parse("threads=1"));
  }

  private static ContentionResult result(long... counts) {
    return new ContentionResult(1, Arrays.stream(counts).boxed().toList(), new WaitHistogram(), 0);
  }

  private static final class Locked extends Contender {
    private final ReentrantLock lock = new ReentrantLock(/* fair= */ true);

    @Override
    protected void compete(Competitor me) {
      while (true) {
        me.arrive();
        lock.lock();
        try {
          if (!me.enter()) {
            return;
          }
          change();
        } finally {
          lock.unlock();
        }
      }
    }
  }

  /** The first that comes keeps the lock to the end. */
  private static final class FirstOnly extends Contender {
    private final ReentrantLock lock = new ReentrantLock();

    @Override
    protected void compete(Competitor me) {
      me.arrive();
      lock.lock();
      try {
        while (me.enter()) {
          change();
          me.arrive();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private static final class Unlocked extends Contender {
    @Override
    protected void compete(Competitor me) {
      boolean lost = true; // its first change, as if another had been inside, too
      me.arrive();
      while (me.enter()) {
        if (!lost) {
          change();
        }
        lost = false;
        me.arrive();
      }
    }
  }

  private static final class Failing extends Contender {
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    protected void compete(Competitor me) {
      if (calls.getAndIncrement() == 1) {
        throw new UnsupportedOperationException("a test");
      }
    }
  }
}
