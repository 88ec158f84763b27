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
 * Claim (rules R8, R10 and R21, protocols §7 and §38): a snapshot sees all writes of a transaction
 * or none of them. This holds whenever the snapshot was taken, and whatever is known of the
 * transaction by then.
 *
 * <p>One actor commits a transaction that has written two rows: it marks it, reserves, publishes,
 * and sets the outcome. Except in {@link Committed}, it also forgets the transaction when that is
 * allowed: its id is replaced by a value shared with others, or by none, and the second row loses
 * its writer id. The other actor takes a snapshot and looks at the first row, and then at the
 * second. All steps run production code. Results: whether it saw the first row, and the second.
 *
 * <p>Broken twins: {@link BrokenNotAwaited} does not wait for a committing transaction. {@link
 * BrokenMarkedLast} marks after it has published. {@link BrokenForgotten} forgets without checking
 * the snapshots. All fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=WholeCommitStress}
 */
public final class WholeCommitStress {
  /** The number of ids in a chunk. */
  private static final long CHUNK = 4_096;

  /** The number of repetitions while the other commits, and goes over a chunk. */
  private static final int LOOKS = 300;

  private WholeCommitStress() {}

  /** The last id of a chunk, which has written two rows. */
  abstract static class TwoRows {
    final OpenLogBuffer log = new OpenLogBuffer();
    final ActiveSnapshots snapshots = new ActiveSnapshots();
    final TransactionTable table =
        new TransactionTable(new AbortedTransactions(), CHUNK - 2); // the highest of a former life

    final long writer = table.enter();

    /** The writer of the second row; none, if the row is committed for all. */
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

    /** Does what the cleaner and the next writer of the second row do. */
    final void forget(ActiveSnapshots open) {
      log.raiseDurable(log.publishedEnd());
      table.forget(open.snapshots(log::tail), log.durable());
      if (table.status(writer) == TransactionTable.COMMITTED_FOR_ALL) {
        writerOfSecond = 0;
      }
    }

    /** Takes a snapshot, and reads the second row until it differs from the first. */
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

  /** The production code. */
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "None of the writes, or all.")
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

  /** The transaction is forgotten, too. */
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "None of the writes, or all.")
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

  /** The transaction was prepared, so its word is another one. */
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "None of the writes, or all.")
  @Outcome(expect = FORBIDDEN, desc = "Half of a transaction.")
  @State
  public static class Prepared extends TwoRows {
    /** The transaction is prepared and undecided. */
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

  /** A committing transaction is taken for active. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "None of the writes, or all, by luck.")
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
      desc = "None of the writes, or all, by luck.")
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

  /** Forgets without knowing the snapshots. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = {"false, false", "true, true"},
      expect = ACCEPTABLE,
      desc = "None of the writes, or all, by luck.")
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
