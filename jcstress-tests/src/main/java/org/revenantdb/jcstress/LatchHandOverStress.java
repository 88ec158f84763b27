package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.revenantdb.latch.HybridLatch;

/**
 * Claim: a latch that is handed over is never free in between. A thread that barges at that moment
 * does not get in beside the new holder, and the new holder sees what the former one wrote.
 *
 * <p>The fairness time is 0 here, so every release with a waiter is a hand-over.
 *
 * <p>Broken twin: gives the latch to the waiter and sets it free as well. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LatchHandOverStress}
 */
public final class LatchHandOverStress {
  private LatchHandOverStress() {}

  /** A hand-over to a writer, and a barging writer. */
  @JCStressTest
  @Outcome(
      id = {"2, 1", "3, 1"},
      expect = ACCEPTABLE,
      desc = "Each holder has counted, and the latch is free.")
  @Outcome(expect = FORBIDDEN, desc = "Two held it at once, or the latch is not free.")
  @State
  public static class ToWriter {
    static {
      System.setProperty("revenant.latch.fairnessNanos", "0"); // one test, one JVM
    }

    private final HybridLatch latch = new HybridLatch();
    private int counter;
    private int barged;

    /** Starts with the latch held. */
    public ToWriter() {
      latch.acquireExclusive();
    }

    /** Releases, and tries to acquire again at once. */
    @Actor
    public void holder() {
      counter++;
      latch.releaseExclusive();
      if (latch.tryAcquireExclusive()) {
        barged = 1;
        counter++;
        latch.releaseExclusive();
      }
    }

    /** Waits. */
    @Actor
    public void waiter() {
      latch.acquireExclusive();
      counter++;
      latch.releaseExclusive();
    }

    /** No count was lost; the first result is -1 if one was. */
    @Arbiter
    public void after(II_Result r) {
      r.r1 = counter == 2 + barged ? counter : -1;
      r.r2 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** A hand-over to a reader, and a barging writer. */
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "The reader saw both fields of one writer, and the latch is free.")
  @Outcome(expect = FORBIDDEN, desc = "A writer held it, too, or the latch is not free.")
  @State
  public static class ToReader {
    static {
      System.setProperty("revenant.latch.fairnessNanos", "0"); // one test, one JVM
    }

    private final HybridLatch latch = new HybridLatch();
    private int x;
    private int y;

    /** Starts with the latch held. */
    public ToReader() {
      latch.acquireExclusive();
    }

    /** Releases, and tries to acquire again at once. */
    @Actor
    public void holder() {
      latch.releaseExclusive();
      if (latch.tryAcquireExclusive()) {
        x = 1;
        y = 1;
        latch.releaseExclusive();
      }
    }

    /** Waits, and reads both; -1 if they differ. */
    @Actor
    public void reader(II_Result r) {
      latch.acquireShared();
      int seen = y;
      r.r1 = x == seen ? seen : -1;
      latch.releaseShared();
    }

    /** The latch is free. */
    @Arbiter
    public void after(II_Result r) {
      r.r2 = latch.tryAcquireExclusive() ? 1 : 0;
    }
  }

  /** Hands the latch over and sets it free as well. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "One after the other, by luck.")
  @Outcome(
      id = "1",
      expect = ACCEPTABLE_INTERESTING,
      desc = "A thread barged into a latch that was handed over: the twin is broken.")
  @State
  public static class BrokenGivesAndFrees {
    private final AtomicInteger word = new AtomicInteger(1);
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger met = new AtomicInteger();
    private volatile boolean granted;

    /** Releases, and tries to acquire again at once. */
    @Actor
    public void holder() {
      granted = true;
      word.set(0);
      if (word.compareAndSet(0, 1)) {
        enter();
        word.set(0);
      }
    }

    /** Waits. */
    @Actor
    public void waiter() {
      while (!granted) {
        Thread.onSpinWait();
      }
      enter();
    }

    private void enter() {
      if (inside.incrementAndGet() > 1) {
        met.set(1);
      }
      inside.decrementAndGet();
    }

    /** Whether two threads held it at once. */
    @Arbiter
    public void after(I_Result r) {
      r.r1 = met.get();
    }
  }
}
