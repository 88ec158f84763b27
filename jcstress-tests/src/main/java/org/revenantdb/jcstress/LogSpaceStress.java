package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.J_Result;
import org.openjdk.jcstress.infra.results.ZJ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.revenantdb.recovery.log.OpenLogSpace;

/**
 * Claims about credit for the log (R17). Two threads that ask at once never get more than there is
 * room for. The same holds if one asks while the other publishes and returns credit. Credit is
 * neither lost nor invented, also while a checkpoint frees log. A thread that is refused has asked
 * for room.
 *
 * <p>Runs the production class, up to the wait for room ({@code LsnWaitersStress}). The twins are
 * models of its words.
 *
 * <p>Broken twins: {@link BrokenCheckThenAdd} checks for room and then adds. {@link BrokenOneLook}
 * does not look again after it has added. {@link BrokenReturn} returns credit with a read and a
 * store. All fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LogSpaceStress}
 */
public final class LogSpaceStress {
  /** The bound of what may be in use. */
  private static final long BOUND = 6;

  /** An amount for which there is room only once. */
  private static final int CREDIT = 4;

  private LogSpaceStress() {}

  /** Two threads ask. */
  @JCStressTest
  @Outcome(id = "true, true", expect = FORBIDDEN, desc = "More is granted than there is room for.")
  @Outcome(expect = ACCEPTABLE, desc = "At most one; after a collision both may try again.")
  @State
  public static class TwoAsk {
    private final OpenLogSpace space = new OpenLogSpace(BOUND);

    /** Starts with nothing in use. */
    public TwoAsk() {}

    /** Asks for credit. */
    @Actor
    public void one(ZZ_Result r) {
      r.r1 = space.take(CREDIT);
    }

    /** Asks for credit. */
    @Actor
    public void other(ZZ_Result r) {
      r.r2 = space.take(CREDIT);
    }
  }

  /** One asks while the other publishes what it had credit for, and returns the credit. */
  @JCStressTest
  @Outcome(id = "true, 8", expect = FORBIDDEN, desc = "Granted beyond the bound.")
  @Outcome(id = "false, 4", expect = ACCEPTABLE, desc = "Refused: the log is in use.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was lost or invented.")
  @State
  public static class OneAsksOnePublishes {
    private final OpenLogSpace space = new OpenLogSpace(BOUND);

    /** Starts with credit given to one. */
    public OneAsksOnePublishes() {
      space.take(CREDIT);
    }

    /** Publishes, and returns its credit. */
    @Actor
    public void writer() {
      space.publish(CREDIT);
      space.release(CREDIT);
    }

    /** Asks for credit. */
    @Actor
    public void asks(ZJ_Result r) {
      r.r1 = space.take(CREDIT);
    }

    /** Adds up. */
    @Arbiter
    public void end(ZJ_Result r) {
      r.r2 = space.used();
    }
  }

  /** Asks while the other takes, publishes and returns: `granted` is then what it was before. */
  @JCStressTest
  @Outcome(id = "true, 8", expect = FORBIDDEN, desc = "Granted beyond the bound.")
  @Outcome(id = "true, 4", expect = ACCEPTABLE, desc = "Granted, and the other one refused.")
  @Outcome(id = "false, 4", expect = ACCEPTABLE, desc = "Refused: the other one was there first.")
  @Outcome(id = "false, 0", expect = ACCEPTABLE, desc = "They collided, and try again.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was lost or invented.")
  @State
  public static class OneAsksOneWorks {
    private final OpenLogSpace space = new OpenLogSpace(BOUND);

    /** Starts with nothing in use. */
    public OneAsksOneWorks() {}

    /** Takes, publishes and returns. */
    @Actor
    public void writer() {
      if (space.take(CREDIT)) {
        space.publish(CREDIT);
        space.release(CREDIT);
      }
    }

    /** Asks for credit. */
    @Actor
    public void asks(ZJ_Result r) {
      r.r1 = space.take(CREDIT);
    }

    /** Adds up. */
    @Arbiter
    public void end(ZJ_Result r) {
      r.r2 = space.used();
    }
  }

  /** A writer returns and takes credit while a checkpoint frees log. */
  @JCStressTest
  @Outcome(id = "true, 4", expect = ACCEPTABLE, desc = "Granted what the checkpoint has freed.")
  @Outcome(id = "false, 0", expect = ACCEPTABLE, desc = "Asked before the log was free.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was lost or invented.")
  @State
  public static class CheckpointFrees {
    private final OpenLogSpace space = new OpenLogSpace(BOUND);

    /** Starts with a log that is in use, and credit for more. */
    public CheckpointFrees() {
      space.publish(CREDIT);
      space.take(2);
    }

    /** Returns what it did not need, and asks for more. */
    @Actor
    public void writer(ZJ_Result r) {
      space.release(2);
      r.r1 = space.take(CREDIT);
    }

    /** The checkpoint's control slot is durable. */
    @Actor
    public void checkpoint() {
      space.redoPointMoved(CREDIT);
    }

    /** Adds up. */
    @Arbiter
    public void end(ZJ_Result r) {
      r.r2 = space.used();
    }
  }

  /** Two threads return credit. */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "All credit is there again.")
  @Outcome(expect = FORBIDDEN, desc = "Credit was lost or invented.")
  @State
  public static class TwoReturn {
    private final OpenLogSpace space = new OpenLogSpace(BOUND);

    /** Starts with credit given to two. */
    public TwoReturn() {
      space.take(2);
      space.take(CREDIT);
    }

    /** Returns credit. */
    @Actor
    public void one() {
      space.release(2);
    }

    /** Returns credit. */
    @Actor
    public void other() {
      space.release(CREDIT);
    }

    /** Adds up. */
    @Arbiter
    public void end(J_Result r) {
      r.r1 = space.used();
    }
  }

  /** The words of the class, for the twins, which use them wrongly. */
  public abstract static class Words {
    final AtomicLong granted = new AtomicLong();
    final AtomicLong tail = new AtomicLong();

    Words() {}

    boolean fits(long credit) {
      return credit + tail.get() <= BOUND;
    }

    boolean checkThenAdd() {
      if (!fits(granted.get() + CREDIT)) {
        return false;
      }
      granted.getAndAdd(CREDIT);
      return true;
    }

    boolean oneLook() {
      while (true) {
        long before = granted.get();
        if (!fits(before + CREDIT)) {
          return false;
        }
        if (granted.compareAndSet(before, before + CREDIT)) {
          return true;
        }
      }
    }
  }

  /** Checks whether there is room, and then adds. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true, true", expect = ACCEPTABLE_INTERESTING, desc = "The twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "At most one, by luck.")
  @State
  public static class BrokenCheckThenAdd extends Words {
    /** Starts with nothing in use. */
    public BrokenCheckThenAdd() {}

    /** Asks for credit. */
    @Actor
    public void one(ZZ_Result r) {
      r.r1 = checkThenAdd();
    }

    /** Asks for credit. */
    @Actor
    public void other(ZZ_Result r) {
      r.r2 = checkThenAdd();
    }
  }

  /** Adds by CAS, so it misses no credit of others; but it misses what was published meanwhile. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "true, 8", expect = ACCEPTABLE_INTERESTING, desc = "The twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "Within the bound, by luck.")
  @State
  public static class BrokenOneLook extends Words {
    /** Starts with nothing in use. */
    public BrokenOneLook() {}

    /** Takes, publishes and returns. */
    @Actor
    public void writer() {
      if (oneLook()) {
        tail.getAndAdd(CREDIT);
        granted.getAndAdd(-CREDIT);
      }
    }

    /** Asks for credit. */
    @Actor
    public void asks(ZJ_Result r) {
      r.r1 = oneLook();
    }

    /** Adds up. */
    @Arbiter
    public void end(ZJ_Result r) {
      r.r2 = granted.get() + tail.get();
    }
  }

  /** Returns with a read and a store. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "All credit is there again, by luck.")
  @Outcome(expect = ACCEPTABLE_INTERESTING, desc = "Credit is lost: the twin is broken.")
  @State
  public static class BrokenReturn extends Words {
    /** Starts with credit given to two. */
    public BrokenReturn() {
      granted.set(2 + CREDIT);
    }

    /** Returns credit. */
    @Actor
    public void one() {
      granted.set(granted.get() - 2);
    }

    /** Returns credit. */
    @Actor
    public void other() {
      granted.set(granted.get() - CREDIT);
    }

    /** Adds up. */
    @Arbiter
    public void end(J_Result r) {
      r.r1 = granted.get();
    }
  }
}
