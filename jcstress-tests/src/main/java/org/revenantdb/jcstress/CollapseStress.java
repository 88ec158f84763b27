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
 * Claim (rule R21, protocols §38): ids of transactions that have ended become one value, or none,
 * for no snapshot that tells them apart, also if that is opened meanwhile.
 *
 * <p>One actor opens a snapshot, which is between the two commits of a chunk of ids or behind both,
 * and looks at these while the other forgets what it may. Result: whether it saw the first always,
 * and the second always or never.
 *
 * <p>Broken twin: {@link BrokenAhead}. Seen to fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=CollapseStress}
 */
public final class CollapseStress {
  /** So many ids are a chunk. */
  private static final long CHUNK = 4_096;

  private static final long FIRST_COMMIT = 10;
  private static final long BETWEEN = 15;
  private static final long SECOND_COMMIT = 20;
  private static final long BEHIND = 25;

  /** As long as the other goes over a chunk. */
  private static final int LOOKS = 300;

  private CollapseStress() {}

  /** The last two ids of a chunk, which have committed, and who has a snapshot. */
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

  /** As it is. */
  @JCStressTest
  @Outcome(id = "false", expect = FORBIDDEN, desc = "One value for two that are told apart.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "As each id had its own.")
  @State
  public static class Collapsed {
    private final Ids ids = new Ids();

    /** Opens, and looks. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = ids.look();
    }

    /** The clock goes on, then it forgets. */
    @Actor
    public void cleaner() {
      ids.clock.set(BEHIND);
      ids.table.forget(ids.snapshots.snapshots(ids.clock::get), BEHIND);
    }
  }

  /** The clock that the cleaner reads is ahead of the one that snapshots are of. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "A snapshot that was opened behind the look is below its bound: the twin is broken.")
  @Outcome(id = "true", expect = ACCEPTABLE, desc = "As each id had its own, by luck.")
  @State
  public static class BrokenAhead {
    private final Ids ids = new Ids();

    /** Opens, and looks. */
    @Actor
    public void reader(Z_Result r) {
      r.r1 = ids.look();
    }

    /** Forgets, then the clock goes on. */
    @Actor
    public void cleaner() {
      ids.table.forget(ids.snapshots.snapshots(() -> BEHIND), BEHIND);
      ids.clock.set(BEHIND);
    }
  }
}
