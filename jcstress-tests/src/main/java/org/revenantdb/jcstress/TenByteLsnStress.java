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
 * Claims about the paper's page LSN of ten bytes (VLDB 2020, Figures 5 to 7), the baseline of our
 * measurements. A reader gets an LSN that a thread raised it to. It never gets one below an LSN
 * that it has seen or raised itself. In the end it is the highest.
 *
 * <p>Runs the baseline's own code. An LSN is reported as ten times its block plus its slot.
 *
 * <p>Broken twins: {@link BrokenReadOnce} reads once. {@link BrokenLookOnce} does not look again
 * under the writers' lock. Both fail on x86.
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

  /** The number of raises of a writer, so that the writers meet. */
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

  /** Odd blocks have slot 1, even ones slot 2: slots repeat, blocks do not. */
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

  /** The production code. */
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "An LSN that it was raised to.")
  @Outcome(expect = FORBIDDEN, desc = "An LSN that never existed.")
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

  /** Read once, in the order of the bytes, and again only while a thread writes. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "An LSN that it was raised to, by luck.")
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "An LSN that never existed: the twin is broken.")
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

  /** The production code: each actor raises the LSN and reads it. */
  @JCStressTest
  @Outcome(
      id = {"21, 32, 32", "32, 32, 32"},
      expect = ACCEPTABLE,
      desc = "Each reads at least its own; in the end it is the highest.")
  @Outcome(expect = FORBIDDEN, desc = "The LSN fell.")
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

  /** Looks before it takes the lock, and not again. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"21, 32, 32", "32, 32, 32"},
      expect = ACCEPTABLE,
      desc = "Each reads at least its own, by luck.")
  @Outcome(
      id = {"21, 32, 21", "21, 21, 21"},
      expect = ACCEPTABLE_INTERESTING,
      desc = "The LSN fell: the twin is broken.")
  @Outcome(expect = FORBIDDEN, desc = "Another value.")
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
