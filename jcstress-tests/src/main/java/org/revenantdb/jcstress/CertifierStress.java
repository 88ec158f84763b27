package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.engine.serial.Certifier;
import org.revenantdb.engine.serial.ChangedException;
import org.revenantdb.engine.serial.Commit;
import org.revenantdb.engine.serial.SerialReads;

/**
 * Claim: no commit has its place between the snapshot of the first serializable transaction and the
 * place of that transaction's own commit, unless it was validated against that transaction
 * (docs/protocols.md §34, S1 and S3).
 *
 * <p>Broken twins: {@link BrokenOneLook} does not check a second time for serializable
 * transactions, after it was marked as committing. {@link BrokenSnapshotFirst} takes its snapshot,
 * then begins. Both fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=CertifierStress}
 */
public final class CertifierStress {
  private CertifierStress() {}

  /** A transaction that writes what the other reads. */
  abstract static class Both {
    private static final long ACTIVE = 1;
    private static final long COMMITTING = 2;
    private static final long COMMITTED = 3;
    private static final String READ = "read";

    private final AtomicLong word = new AtomicLong(ACTIVE);
    private final AtomicLong tail = new AtomicLong(1);
    private final Certifier certifier = new Certifier(this::awaitCommitting, 1 << 20, 1);
    private long writtenBefore;
    private long written;
    private long snapshot;
    private long serialized;

    private void awaitCommitting() {
      while (word.get() == COMMITTING) {
        Thread.onSpinWait();
      }
    }

    /** There was a serializable transaction: the next commit turns validation off. */
    final void turnOn() {
      certifier.end(certifier.begin());
    }

    /** A change of a table: a thread that returns an unneeded gate turns validation off. */
    final void turnOff() {
      certifier.leave(certifier.enterAlways());
    }

    /** One commit that turns validation off, and one without the gate. */
    final void commitTwice() {
      commitWriter(/* looksAgain= */ true);
      writtenBefore = written;
      commitWriter(/* looksAgain= */ true);
    }

    final void commitWriter(boolean looksAgain) {
      long pass = certifier.enter();
      word.set(COMMITTING);
      if (looksAgain && certifier.mustEnter(pass)) {
        word.set(ACTIVE);
        pass = certifier.enterAlways();
        word.set(COMMITTING);
      }
      commitWriter(pass);
    }

    /** The steps of a writer that saw validation on when it was committing, and has to enter. */
    final void enterAndCommit(boolean entersAlways) {
      long pass = entersAlways ? certifier.enterAlways() : certifier.enter();
      for (int i = 0; i < 10; i++) {
        Thread.onSpinWait(); // as long as it takes to turn it on
      }
      word.set(COMMITTING);
      commitWriter(pass);
    }

    private void commitWriter(long pass) {
      long lsn = tail.incrementAndGet();
      word.set(COMMITTED);
      certifier.committed(
          pass,
          at -> new Commit(at, List.of(), /* isKnown= */ true, List.of(), List.of(READ)),
          lsn);
      certifier.leave(pass);
      written = lsn;
    }

    final void serializable(boolean beginsFirst) {
      long before = tail.get();
      SerialReads reads = certifier.begin();
      long taken = beginsFirst ? tail.get() : before;
      reads.snapshot(taken);
      reads.read(READ);
      snapshot = taken;
      try {
        Certifier.Validated validated =
            certifier.validate(reads, (tree, from, to) -> false); // rows do not come into it
        long pass = certifier.enter(reads, validated);
        serialized = tail.incrementAndGet();
        certifier.leave(pass);
      } catch (ChangedException refused) {
        serialized = 0;
      }
    }

    /** Whether the reads are right in the order of the commits. */
    final boolean isSerial() {
      return serialized == 0 || (isSerial(writtenBefore) && isSerial(written));
    }

    private boolean isSerial(long lsn) {
      return lsn <= snapshot || lsn > serialized;
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "Read what was overwritten before its commit.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "One behind the other, or refused.")
  @State
  public static class Validated extends Both {
    /** Starts without serializable transactions. */
    public Validated() {}

    /** Writes. */
    @Actor
    public void writer() {
      commitWriter(/* looksAgain= */ true);
    }

    /** Reads, and writes something else. */
    @Actor
    public void reader() {
      serializable(/* beginsFirst= */ true);
    }

    /** Compares their places. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = isSerial();
    }
  }

  /** The production code, where validation is turned off while a transaction begins. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "Read what was overwritten before its commit.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "One behind the other, or refused.")
  @State
  public static class TurnedOff extends Both {
    /** Starts after a serializable transaction. */
    public TurnedOff() {
      turnOn();
    }

    /** Writes twice. */
    @Actor
    public void writer() {
      commitTwice();
    }

    /** Reads, and writes something else. */
    @Actor
    public void reader() {
      serializable(/* beginsFirst= */ true);
    }

    /** Compares their places. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = isSerial();
    }
  }

  /**
   * The production code. A writer has seen validation on; it is off again when the writer enters,
   * and on a moment later.
   */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "Read what was overwritten before its commit.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "One behind the other, or refused.")
  @State
  public static class OffAndOn extends Both {
    /** Starts after a serializable transaction. */
    public OffAndOn() {
      turnOn();
    }

    /** Writes. */
    @Actor
    public void writer() {
      enterAndCommit(/* entersAlways= */ true);
    }

    /** Turns validation off, and on again; reads, and writes something else. */
    @Actor
    public void reader() {
      turnOff();
      serializable(/* beginsFirst= */ true);
    }

    /** Compares their places. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = isSerial();
    }
  }

  /** A writer that has seen validation on enters if it is still on. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Read what was overwritten before its commit: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Right, by luck.")
  @State
  public static class BrokenEntersIfOn extends Both {
    /** Starts after a serializable transaction. */
    public BrokenEntersIfOn() {
      turnOn();
    }

    /** Writes. */
    @Actor
    public void writer() {
      enterAndCommit(/* entersAlways= */ false);
    }

    /** Turns validation off, and on again; reads, and writes something else. */
    @Actor
    public void reader() {
      turnOff();
      serializable(/* beginsFirst= */ true);
    }

    /** Compares their places. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = isSerial();
    }
  }

  /** The state "on" and the count of active transactions, in a word each; a minimal model. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Read what was overwritten before its commit: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Right, by luck.")
  @State
  public static class BrokenTwoWords {
    private final AtomicLong tail = new AtomicLong(1);
    private final AtomicInteger active = new AtomicInteger();
    private volatile boolean isOn = true;
    private volatile long entered;
    private long writtenBefore;
    private long written;
    private long snapshot;
    private long serialized;

    /** Starts after a serializable transaction. */
    public BrokenTwoWords() {}

    private long commit() {
      if (!isOn) {
        return tail.incrementAndGet();
      }
      synchronized (tail) {
        long lsn = tail.incrementAndGet();
        if (active.get() > 0) {
          entered = lsn;
        } else {
          isOn = false; // and another has found it on
        }
        return lsn;
      }
    }

    /** Writes twice. */
    @Actor
    public void writer() {
      writtenBefore = commit();
      written = commit();
    }

    /** Reads, and writes something else. */
    @Actor
    public void reader() {
      if (!isOn) {
        isOn = true;
      }
      active.getAndIncrement();
      snapshot = tail.get();
      synchronized (tail) {
        serialized = entered > snapshot ? 0 : tail.incrementAndGet();
      }
    }

    /** Compares their places. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = serialized == 0 || (isSerial(writtenBefore) && isSerial(written));
    }

    private boolean isSerial(long lsn) {
      return lsn <= snapshot || lsn > serialized;
    }
  }

  /** Looks once, before it is marked. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Read what was overwritten before its commit: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Right, by luck.")
  @State
  public static class BrokenOneLook extends Both {
    /** Starts without serializable transactions. */
    public BrokenOneLook() {}

    /** Writes. */
    @Actor
    public void writer() {
      commitWriter(/* looksAgain= */ false);
    }

    /** Reads, and writes something else. */
    @Actor
    public void reader() {
      serializable(/* beginsFirst= */ true);
    }

    /** Compares their places. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = isSerial();
    }
  }

  /** Takes its snapshot before any other thread knows of it. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Read what was overwritten before its commit: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "Right, by luck.")
  @State
  public static class BrokenSnapshotFirst extends Both {
    /** Starts without serializable transactions. */
    public BrokenSnapshotFirst() {}

    /** Writes. */
    @Actor
    public void writer() {
      commitWriter(/* looksAgain= */ true);
    }

    /** Reads, and writes something else. */
    @Actor
    public void reader() {
      serializable(/* beginsFirst= */ false);
    }

    /** Compares their places. */
    @Arbiter
    public void look(Z_Result r) {
      r.r1 = isSerial();
    }
  }
}
