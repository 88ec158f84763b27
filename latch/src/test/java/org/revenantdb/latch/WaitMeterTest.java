package org.revenantdb.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which meter receives a wait whose class is looked up when it begins. */
class WaitMeterTest {
  private final HybridLatch latch = new HybridLatch();
  private final List<String> told = new CopyOnWriteArrayList<>();

  private final WaitTerms terms =
      WaitTerms.endless()
          .meteredBy((waitedFor, shared) -> {
            assertSame(latch, waitedFor);
            told.add(shared ? "shared" : "exclusive");
            return meter(new Object());
          });

  private WaitMeter meter(Object mark) {
    return new WaitMeter() {
      @Override
      public String waitClass() {
        return "leaf";
      }

      @Override
      public Object begin() {
        told.add("begin");
        return mark;
      }

      @Override
      public void end(@Nullable Object begun) {
        assertSame(mark, begun);
        told.add("end");
      }
    };
  }

  private Acquisition acquire(boolean shared, WaitTerms how) {
    return shared ? latch.acquireShared(how) : latch.acquireExclusive(how);
  }

  private void release(boolean shared) {
    if (shared) {
      latch.releaseShared();
    } else {
      latch.releaseExclusive();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCallerThatIsServedAtOnce_reportsNothing(boolean shared) {
    assertEquals(Acquisition.ACQUIRED, acquire(shared, terms));
    release(shared);
    latch.acquireShared();
    if (shared) {
      assertEquals(Acquisition.ACQUIRED, acquire(shared, terms));
      release(shared);
    }
    latch.releaseShared();
    assertEquals(List.of(), told);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWait_isReportedOnce_beforeAndAfter(boolean shared) throws InterruptedException {
    latch.acquireExclusive();
    String mode = shared ? "shared" : "exclusive";
    Thread waiter =
        new Thread(() -> {
          acquire(shared, terms);
          told.add("has it");
          release(shared);
        });
    waiter.start();
    Await.until(() -> LatchWord.isParked(latch.wordOpaque()));
    assertEquals(List.of(mode, "begin"), told);
    latch.releaseExclusive();
    waiter.join();
    assertEquals(List.of(mode, "begin", "end", "has it"), told);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWaitInVain_isReportedToo(boolean shared) {
    latch.acquireExclusive();
    assertEquals(Acquisition.TIMED_OUT, acquire(shared, terms.atMost(Duration.ofNanos(1_000))));
    assertEquals(List.of(shared ? "shared" : "exclusive", "begin", "end"), told);
    told.clear();
    assertEquals(Acquisition.TIMED_OUT, acquire(shared, terms.atMost(Duration.ZERO)));
    assertEquals(List.of(), told, "who has no time does not wait");
    latch.releaseExclusive();
  }

  /**
   * For example without stack for the call: the wait is not reported, but the caller has the latch.
   */
  @Test
  void meterWithoutRoom_losesNoLatch() throws InterruptedException {
    latch.acquireExclusive();
    WaitTerms poor =
        WaitTerms.endless()
            .meteredBy((waitedFor, shared) ->
                new WaitMeter() {
                  @Override
                  public String waitClass() {
                    return "leaf";
                  }

                  @Override
                  public @Nullable Object begin() {
                    return null;
                  }

                  @Override
                  public void end(@Nullable Object begun) {
                    throw new StackOverflowError();
                  }
                });
    Thread waiter =
        new Thread(() -> {
          told.add(acquire(/* shared= */ false, poor).name());
          latch.releaseExclusive();
        });
    waiter.start();
    Await.until(() -> LatchWord.isParked(latch.wordOpaque()));
    latch.releaseExclusive();
    waiter.join();
    assertEquals(List.of("ACQUIRED"), told);
    assertEquals(LatchWord.FREE, latch.wordOpaque());
  }

  @Test
  void statisticsOfCallersThatMeasureThemselves_countTheSame() {
    WaitStatistics statistics = new WaitStatistics("force");
    statistics.record(5_000);
    statistics.record(-1);
    WaitStatistics.Snapshot counted = statistics.snapshot();
    assertEquals(2, counted.waits());
    assertEquals(5_000, counted.totalNanos());
    assertEquals(5_000, counted.maxNanos());
  }
}
