package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.jmh.baseline.TenByteLsn;

/**
 * Claims about the paper's page LSN of ten bytes (VLDB 2020, Figures 5 to 7), which we measure ours
 * against: a reader gets one that somebody raised it to, and never one below what he, or the raise
 * that he has made, has seen; in the end it is the highest.
 *
 * <p>The very baseline. An LSN is told as ten times its block plus its slot.
 *
 * <p>Broken twins: {@link BrokenReadOnce} reads once, {@link BrokenLookOnce} does not look again
 * under the lock of the writers. Both seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=TenByteLsnStress}
 */
public final class TenByteLsnStress {
  private static final long SLOT = 8;
  private static final int SLOT_MASK = 0x8000;
  private static final VarHandle FIRST =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
  private static final VarHandle LAST =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

  /** As many as a writer raises it, so that they meet. */
  private static final int READS = 8;

  private TenByteLsnStress() {}

  /** A page with an LSN of block 1, slot 1. */
  public abstract static class Page {
    final MemorySegment bytes = MemorySegment.ofArray(new long[2]);
    final TenByteLsn lsn = new TenByteLsn(bytes, 0);

    Page() {
      lsn.raise(1, 1);
    }

    final int read() {
      TenByteLsn.Lsn now = lsn.read();
      return 10 * (int) now.block() + now.slot();
    }
  }

  /** Odd blocks have slot 1, even ones slot 2: slots come again, blocks do not. */
  public abstract static class Raised extends Page {
    Raised() {}

    static int slotOf(int block) {
      return 2 - (block & 1);
    }

    final void raiseStepByStep() {
      for (int block = 2; block <= 9; block++) {
        lsn.raise(block, slotOf(block));
      }
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "One that it was raised to.")
  @Outcome(expect = FORBIDDEN, desc = "One that never was.")
  @State
  public static class ReadTwice extends Raised {
    /** Starts with 1, 1. */
    public ReadTwice() {}

    /** Raises it. */
    @Actor
    public void writer() {
      raiseStepByStep();
    }

    /** Reads. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = true;
      for (int i = 0; i < READS; i++) {
        TenByteLsn.Lsn now = lsn.read();
        r.r1 &= now.slot() == slotOf((int) now.block());
      }
    }
  }

  /** Read once, in the order of the bytes, and again only while somebody writes. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "One that it was raised to, by luck.")
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "One that never was: the twin is broken.")
  @State
  public static class BrokenReadOnce extends Raised {
    /** Starts with 1, 1. */
    public BrokenReadOnce() {}

    /** Raises it. */
    @Actor
    public void writer() {
      raiseStepByStep();
    }

    /** Reads. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = true;
      for (int i = 0; i < READS; i++) {
        long block;
        int slot;
        do {
          block = (long) FIRST.getVolatile(bytes, 0L) >>> Integer.SIZE;
          slot = (int) LAST.getVolatile(bytes, SLOT);
        } while ((slot & SLOT_MASK) != 0);
        r.r1 &= slot == slotOf((int) block);
      }
    }
  }

  /** As it is: each raises it and reads. */
  @JCStressTest
  @Outcome(
      id = {"21, 32, 32", "32, 32, 32"},
      expect = ACCEPTABLE,
      desc = "Each at least his own, in the end the highest.")
  @Outcome(expect = FORBIDDEN, desc = "It went back.")
  @State
  public static class NeverBack extends Page {
    /** Starts with 1, 1. */
    public NeverBack() {}

    /** The earlier record. */
    @Actor
    public void earlier(III_Result r) {
      lsn.raise(2, 1);
      r.r1 = read();
    }

    /** The later record. */
    @Actor
    public void later(III_Result r) {
      lsn.raise(3, 2);
      r.r2 = read();
    }

    /** Looks. */
    @Arbiter
    public void look(III_Result r) {
      r.r3 = read();
    }
  }

  /** Looked at before the lock, and no more. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"21, 32, 32", "32, 32, 32"},
      expect = ACCEPTABLE,
      desc = "Each at least his own, by luck.")
  @Outcome(
      id = {"21, 32, 21", "21, 21, 21"},
      expect = ACCEPTABLE_INTERESTING,
      desc = "It went back: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Neither.")
  @State
  public static class BrokenLookOnce extends Page {
    /** Starts with 1, 1. */
    public BrokenLookOnce() {}

    /** The earlier record. */
    @Actor
    public void earlier(III_Result r) {
      raise(2, 1);
      r.r1 = read();
    }

    /** The later record. */
    @Actor
    public void later(III_Result r) {
      raise(3, 2);
      r.r2 = read();
    }

    private void raise(int block, int slot) {
      if (read() < 10 * block + slot) {
        while (((int) LAST.getAndBitwiseOr(bytes, SLOT, SLOT_MASK) & SLOT_MASK) != 0) {
          Thread.onSpinWait();
        }
        FIRST.setVolatile(bytes, 0L, (long) block << Integer.SIZE);
        LAST.setVolatile(bytes, SLOT, slot);
      }
    }

    /** Looks. */
    @Arbiter
    public void look(III_Result r) {
      r.r3 = read();
    }
  }
}
