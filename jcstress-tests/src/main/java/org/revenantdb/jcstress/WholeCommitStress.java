package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.OpenSight;
import org.revenantdb.engine.version.Reading;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.recovery.log.OpenLogBuffer;
import org.revenantdb.recovery.restart.AbortedTransactions;

/**
 * Claim (rules R8, R10 and R21, protocols §7 and §38): a snapshot sees all that a transaction has
 * written or nothing of it, whenever it was taken, and whatever is known of the transaction by
 * then.
 *
 * <p>One actor commits a transaction that has written two rows: marks it, reserves, publishes, sets
 * the outcome; and, but for {@link Committed}, forgets it when that may be: its id becomes one
 * value with others, or none, and the second row loses the name of its writer. The other actor
 * takes a snapshot and looks at the first row, and then at the second. All steps are the very code.
 * Results: what it saw of the one, and of the other.
 *
 * <p>Broken twins: {@link BrokenNotAwaited} does not wait for one who commits; {@link
 * BrokenMarkedLast} marks when it has published; {@link BrokenForgotten} forgets without a look at
 * the snapshots. All seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=WholeCommitStress}
 */
public final class WholeCommitStress {
  /** So many ids are a chunk. */
  private static final long CHUNK = 4_096;

  /** As long as the other commits, and goes over a chunk. */
  private static final int LOOKS = 300;

  private WholeCommitStress() {}

  /** The last id of a chunk, which has written two rows. */
  abstract static class TwoRows {
    final OpenLogBuffer log = new OpenLogBuffer();
    final ActiveSnapshots snapshots = new ActiveSnapshots();
    final TransactionTable table =
        new TransactionTable(new AbortedTransactions(), CHUNK - 2); // the highest of a former life

    final long writer = table.enter();

    /** Who has written the second row; nobody, if that is committed for all. */
    private volatile long writerOfSecond = writer;

    final void commit() {
      table.committing(writer);
      table.committed(writer, publish());
    }

    /** Puts its commit record into the log; returns the LSN. */
    final long publish() {
      long start = log.reserve();
      log.copy(start, OpenLogBuffer.record(1));
      log.publish(start);
      return start + OpenLogBuffer.LENGTH;
    }

    /** As the cleaner and the next writer of the second row do. */
    final void forget(ActiveSnapshots open) {
      log.raiseDurable(log.publishedEnd());
      table.forget(open.snapshots(log::tail), log.durable());
      if (table.status(writer) == TransactionTable.COMMITTED_FOR_ALL) {
        writerOfSecond = 0;
      }
    }

    /** Takes a snapshot, and looks at the second row until that is not as the first was. */
    final void look(ZZ_Result r) {
      int slot = snapshots.open(log::tail);
      Reading reading = new Reading(snapshots.snapshot(slot));
      boolean first = sees(writer, reading);
      boolean second = sees(writerOfSecond, reading);
      for (int i = 1; i < LOOKS && second == first; i++) {
        second = sees(writerOfSecond, reading);
      }
      snapshots.close(slot);
      r.r1 = first;
      r.r2 = second;
    }

    boolean sees(long of, Reading reading) {
      return OpenSight.sees(of, reading, table);
    }
  }

  /** As it is. */
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "Nothing of it, or all.")
  @Outcome(expect = FORBIDDEN, desc = "Half of a transaction.")
  @State
  public static class Committed extends TwoRows {
    /** Commits. */
    @Actor
    public void session() {
      commit();
    }

    /** Looks. */
    @Actor
    public void reader(ZZ_Result r) {
      look(r);
    }
  }

  /** It is forgotten, too. */
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "Nothing of it, or all.")
  @Outcome(expect = FORBIDDEN, desc = "Half of a transaction.")
  @State
  public static class Forgotten extends TwoRows {
    /** Commits, and forgets. */
    @Actor
    public void session() {
      commit();
      forget(snapshots);
    }

    /** Looks. */
    @Actor
    public void reader(ZZ_Result r) {
      look(r);
    }
  }

  /** It was prepared, so its word is another. */
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "Nothing of it, or all.")
  @Outcome(expect = FORBIDDEN, desc = "Half of a transaction.")
  @State
  public static class Prepared extends TwoRows {
    /** It is prepared, and nobody has decided. */
    public Prepared() {
      table.prepare(writer);
      table.prepared(writer);
    }

    /** Decides that it commits, and forgets. */
    @Actor
    public void session() {
      commit();
      forget(snapshots);
    }

    /** Looks. */
    @Actor
    public void reader(ZZ_Result r) {
      look(r);
    }
  }

  /** Who commits is taken for one that is active. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "Nothing of it, or all, by luck.")
  @Outcome(
      id = "false, true",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Half of a transaction: the twin is broken.")
  @State
  public static class BrokenNotAwaited extends TwoRows {
    /** Commits. */
    @Actor
    public void session() {
      commit();
    }

    /** Looks. */
    @Actor
    public void reader(ZZ_Result r) {
      look(r);
    }

    @Override
    boolean sees(long of, Reading reading) {
      long status = table.status(of);
      return TransactionTable.isCommitted(status) && status <= reading.snapshot();
    }
  }

  /** Publishes, then marks. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "Nothing of it, or all, by luck.")
  @Outcome(
      id = "false, true",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Half of a transaction: the twin is broken.")
  @State
  public static class BrokenMarkedLast extends TwoRows {
    /** Commits. */
    @Actor
    public void session() {
      long lsn = publish();
      table.committing(writer);
      table.committed(writer, lsn);
    }

    /** Looks. */
    @Actor
    public void reader(ZZ_Result r) {
      look(r);
    }
  }

  /** Who forgets knows of no snapshot. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "Nothing of it, or all, by luck.")
  @Outcome(
      id = "false, true",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Half of a transaction: the twin is broken.")
  @State
  public static class BrokenForgotten extends TwoRows {
    /** Commits, and forgets. */
    @Actor
    public void session() {
      commit();
      forget(/* open= */ new ActiveSnapshots());
    }

    /** Looks. */
    @Actor
    public void reader(ZZ_Result r) {
      look(r);
    }
  }
}
