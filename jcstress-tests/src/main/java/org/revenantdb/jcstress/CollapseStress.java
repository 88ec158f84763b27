package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.gc.ActiveSnapshots;
import org.revenantdb.recovery.restart.AbortedTransactions;

/**
 * Claim (rule R21, protocols §38): ids of ended transactions are replaced by one value, or by none,
 * only if no snapshot tells them apart. This also holds for a snapshot that is opened meanwhile.
 *
 * <p>One actor opens a snapshot, which lies between the two commits of a chunk of ids or after
 * both, and looks at the ids. The other actor forgets all ids that it may forget. Result: whether
 * the first actor always saw the first commit, and saw the second always or never.
 *
 * <p>Broken twin: {@link BrokenAhead}. Fails on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=CollapseStress}
 */
public final class CollapseStress {
  /** The number of ids in a chunk. */
  private static final long CHUNK = 4_096;

  private static final long FIRST_COMMIT = 10;
  private static final long BETWEEN = 15;
  private static final long SECOND_COMMIT = 20;
  private static final long BEHIND = 25;

  /** The number of repetitions while the other actor goes over a chunk. */
  private static final int LOOKS = 300;

  private CollapseStress() {}

  /** The last two ids of a chunk, which have committed, and the open snapshots. */
  static class Ids {
    final ActiveSnapshots snapshots = new ActiveSnapshots();
    final AtomicLong clock = new AtomicLong(BETWEEN);
    final TransactionTable table =
        new TransactionTable(new AbortedTransactions(), CHUNK - 3); // the highest of a former life

    private final long first;
    private final long second;

    Ids() {
      first = committed(FIRST_COMMIT);
      second = committed(SECOND_COMMIT);
    }

    private long committed(long lsn) {
      long id = table.enter();
      table.committing(id);
      table.committed(id, lsn);
      return id;
    }

    /** Opens a snapshot, and looks. */
    boolean look() {
      int slot = snapshots.open(clock::get);
      long snapshot = snapshots.snapshot(slot);
      boolean isRight = true;
      for (int i = 0; i < LOOKS && isRight; i++) {
        isRight = sees(first, snapshot) && sees(second, snapshot) == SECOND_COMMIT <= snapshot;
      }
      snapshots.close(slot);
      return isRight;
    }

    private boolean sees(long id, long snapshot) {
      long status = table.status(id);
      return TransactionTable.isCommitted(status)
          && (status == TransactionTable.COMMITTED_FOR_ALL || status <= snapshot);
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "One value for two ids that differ.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "As if each id had its own value.")
  @State
  public static class Collapsed {
    private final Ids ids = new Ids();

    /** Opens, and looks. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = ids.look();
    }

    /** The clock advances, then the actor forgets. */
    @Actor
    public void cleaner() {
      ids.clock.set(BEHIND);
      ids.table.forget(ids.snapshots.snapshots(ids.clock::get), BEHIND);
    }
  }

  /** The cleaner's clock is ahead of the clock of snapshots. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "A snapshot opened after the look is below its bound: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "As if each id had its own, by luck.")
  @State
  public static class BrokenAhead {
    private final Ids ids = new Ids();

    /** Opens, and looks. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = ids.look();
    }

    /** Forgets, then the clock advances. */
    @Actor
    public void cleaner() {
      ids.table.forget(ids.snapshots.snapshots(() -> BEHIND), BEHIND);
      ids.clock.set(BEHIND);
    }
  }
}
