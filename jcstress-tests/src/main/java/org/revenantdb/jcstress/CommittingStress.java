package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.revenantdb.engine.txn.OpenOutcomeWords;
import org.revenantdb.recovery.log.OpenLogBuffer;

/**
 * Claims about a transaction that commits. A snapshot at or above its commit never takes it for
 * active. A thread that sleeps until its outcome is known is woken.
 *
 * <p>Runs the production word and tail. The session marks COMMITTING, reserves, publishes, and sets
 * the outcome. The reader takes its snapshot, the tail, and then reads the word. Results of the
 * snapshots: whether the commit has its place at or below the snapshot; and 0 = taken for active,
 * so invisible, 1 = its outcome is waited for, 2 = committed at its LSN.
 *
 * <p>Broken twins: {@link BrokenReserveFirst} reserves before it marks. {@link BrokenLookFirst}
 * reads the word before it takes the snapshot. {@link BrokenReadThenSet} sets the outcome with a
 * read and a store. All fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=CommittingStress}
 */
public final class CommittingStress {
  private static final int INVISIBLE = 0;
  private static final int WAITED_FOR = 1;
  private static final int COMMITTED = 2;

  private CommittingStress() {}

  /** A log and one transaction that has written. */
  public abstract static class Commit {
    final OpenLogBuffer buffer = new OpenLogBuffer();
    final OpenOutcomeWords word = new OpenOutcomeWords();

    Commit() {}

    long reserve() {
      return buffer.reserve();
    }

    void publishAndSettle(long start) {
      buffer.copy(start, OpenLogBuffer.record(1));
      buffer.publish(start);
      word.settle(start + OpenLogBuffer.LENGTH);
    }

    static int covers(long snapshot) {
      return snapshot >= OpenLogBuffer.FIRST + OpenLogBuffer.LENGTH ? 1 : 0;
    }

    int looks(long state) {
      if (state == OpenOutcomeWords.ACTIVE) {
        return INVISIBLE;
      }
      return state == OpenOutcomeWords.COMMITTING ? WAITED_FOR : COMMITTED;
    }
  }

  /** The production code. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = FORBIDDEN, desc = "The snapshot misses a commit below it.")
  @Outcome(expect = ACCEPTABLE, desc = "Seen, waited for, or above the snapshot.")
  @State
  public static class MarkedFirst extends Commit {
    /** Starts with nothing in the log. */
    public MarkedFirst() {}

    /** Commits. */
    @Actor
    public void session() {
      word.committing();
      publishAndSettle(reserve());
    }

    /** Begins, and reads a row of the other transaction. */
    @Actor
    public void reader(II_Result r) {
      r.r1 = covers(buffer.tail());
      r.r2 = looks(word.get());
    }
  }

  /** Reserves, then marks. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE_INTERESTING, desc = "Missed: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "Seen, waited for, or above the snapshot, by luck.")
  @State
  public static class BrokenReserveFirst extends Commit {
    /** Starts with nothing in the log. */
    public BrokenReserveFirst() {}

    /** Commits. */
    @Actor
    public void session() {
      long start = reserve();
      word.committing();
      publishAndSettle(start);
    }

    /** Begins, and reads a row of the other transaction. */
    @Actor
    public void reader(II_Result r) {
      r.r1 = covers(buffer.tail());
      r.r2 = looks(word.get());
    }
  }

  /** The reader reads the word, and takes its snapshot afterwards. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE_INTERESTING, desc = "Missed: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "Seen, waited for, or above the snapshot, by luck.")
  @State
  public static class BrokenLookFirst extends Commit {
    /** Starts with nothing in the log. */
    public BrokenLookFirst() {}

    /** Commits. */
    @Actor
    public void session() {
      word.committing();
      publishAndSettle(reserve());
    }

    /** Reads a row of the other transaction, and begins. */
    @Actor
    public void reader(II_Result r) {
      r.r2 = looks(word.get());
      r.r1 = covers(buffer.tail());
    }
  }

  /** The session knows each thread that goes to sleep on the word. */
  @JCStressTest
  @Outcome(id = "true, false", expect = FORBIDDEN, desc = "Asleep, and no waker knows of it.")
  @Outcome(expect = ACCEPTABLE, desc = "It continued, or is woken.")
  @State
  public static class SleeperIsKnown {
    private final OpenOutcomeWords word = new OpenOutcomeWords();

    /** Starts with a committing transaction. */
    public SleeperIsKnown() {
      word.committing();
    }

    /** Reads a row of the other transaction. */
    @Actor
    public void reader(ZZ_Result r) {
      r.r1 = word.mustWait();
    }

    /** Sets the outcome. */
    @Actor
    public void session(ZZ_Result r) {
      r.r2 = word.settle(/* outcome= */ 400);
    }
  }

  /** Checks for sleeping threads, and then sets the outcome: a model of the word. */
  @BrokenTwin
  @JCStressTest
  @Outcome(
      id = "true, false",
      expect = ACCEPTABLE_INTERESTING,
      desc = "Asleep: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "It continued, or is woken, by luck.")
  @State
  public static class BrokenReadThenSet {
    private static final long COMMITTING = 2;
    private static final long AWAITED = 3;

    private final AtomicLong word = new AtomicLong(COMMITTING);

    /** Starts with a committing transaction. */
    public BrokenReadThenSet() {}

    /** Reads a row of the other transaction. */
    @Actor
    public void reader(ZZ_Result r) {
      r.r1 = word.compareAndSet(COMMITTING, AWAITED);
    }

    /** Sets the outcome. */
    @Actor
    public void session(ZZ_Result r) {
      r.r2 = word.get() == AWAITED;
      word.set(400);
    }
  }
}
