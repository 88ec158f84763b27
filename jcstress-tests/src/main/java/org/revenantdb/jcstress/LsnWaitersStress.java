package org.revenantdb.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.revenantdb.recovery.log.OpenLsnWaiters;

/**
 * Claim: no waiter for an LSN falls asleep unseen. Either the waiter sees that the position is
 * reached, or a waker that comes after that sees the waiter. This also holds with two wakers at the
 * same time.
 *
 * <p>The claims run the production class, up to the point where a thread would be parked. The twins
 * are models of it: a stack with room for one.
 *
 * <p>Broken twins: {@link BrokenWithoutFence} looks at the stack without a fence after the position
 * was raised. {@link BrokenOneRound} does not look again after it has pushed a waiter back. Both
 * fail on x86.
 *
 * <p>{@code mvn -pl jcstress-tests -am test -Dtest=ProtocolsTest
 * -Dsurefire.failIfNoSpecifiedTests=false -Dtest.excluded.tags=none
 * -Djcstress.tests=LsnWaitersStress}
 */
public final class LsnWaitersStress {
  private static final long LSN = 1;

  private LsnWaitersStress() {}

  /** A position that is raised like that of the log. */
  public abstract static class Position {
    static final VarHandle POSITION =
        ConstantBootstraps.fieldVarHandle(
            MethodHandles.lookup(), "position", VarHandle.class, Position.class, long.class);

    long position;

    Position() {}

    void raise() {
      POSITION.setRelease(this, LSN);
    }

    boolean isReached(long lsn) {
      return (long) POSITION.getVolatile(this) >= lsn;
    }
  }

  /** One thread waits, one wakes. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "Asleep, and no waker knows of it.")
  @Outcome(expect = ACCEPTABLE, desc = "It continued, or was woken.")
  @State
  public static class WaiterAndWaker extends Position {
    private final OpenLsnWaiters waiters = new OpenLsnWaiters();

    /** Starts without waiters. */
    public WaiterAndWaker() {}

    /** Waits. */
    @Actor
    public void session(II_Result r) {
      r.r1 = waiters.awaitOrFallAsleep(LSN, this::isReached) ? 1 : 0;
    }

    /** Raises the position, and wakes. */
    @Actor
    public void writer(II_Result r) {
      raise();
      waiters.wake(lsn -> {
        boolean reached = isReached(lsn);
        r.r2 |= reached ? 1 : 0;
        return reached;
      });
    }
  }

  /** No fence between the position and the stack. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE_INTERESTING, desc = "Asleep: the twin is broken.")
  @Outcome(expect = ACCEPTABLE, desc = "It continued, or was woken, by luck.")
  @State
  public static class BrokenWithoutFence extends Position {
    private final AtomicReference<@Nullable Thread> stack = new AtomicReference<>();

    /** Starts without waiters. */
    public BrokenWithoutFence() {}

    /** Waits. */
    @Actor
    public void session(II_Result r) {
      stack.compareAndSet(null, Thread.currentThread());
      VarHandle.fullFence();
      r.r1 = isReached(LSN) ? 1 : 0;
    }

    /** Raises the position, and looks for waiters. */
    @Actor
    public void writer(II_Result r) {
      raise();
      if (stack.getAcquire() != null) {
        r.r2 = stack.getAndSet(null) == null ? 0 : 1;
      }
    }
  }

  /** Two threads wake, one of them before the position is reached. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "One of the two wakers has woken it.")
  @Outcome(id = "0", expect = FORBIDDEN, desc = "Asleep, although its position is reached.")
  @State
  public static class TwoWakers extends Position {
    private final OpenLsnWaiters waiters = new OpenLsnWaiters();

    /** Starts with a sleeping waiter. */
    public TwoWakers() {
      waiters.awaitOrFallAsleep(LSN, lsn -> false);
    }

    /** Wakes for another reason. */
    @Actor
    public void early() {
      waiters.wake(this::isReached);
    }

    /** Raises the position, and wakes. */
    @Actor
    public void writer() {
      raise();
      waiters.wake(this::isReached);
    }

    /** Looks whether it is still on the stack. */
    @Arbiter
    public void end(I_Result r) {
      r.r1 = waiters.isEmpty() ? 1 : 0;
    }
  }

  /** Takes the stack, tests, pushes back, and does not look again. */
  @BrokenTwin
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "One of the two has woken it, by luck.")
  @Outcome(id = "0", expect = ACCEPTABLE_INTERESTING, desc = "Asleep: the twin is broken.")
  @State
  public static class BrokenOneRound extends Position {
    private final AtomicReference<@Nullable Thread> stack =
        new AtomicReference<>(Thread.currentThread());

    /** Starts with a sleeping waiter. */
    public BrokenOneRound() {}

    private void wake() {
      VarHandle.fullFence();
      @Nullable Thread waiter = stack.getAndSet(null);
      if (waiter != null && !isReached(LSN)) {
        stack.set(waiter);
      }
    }

    /** Wakes for another reason. */
    @Actor
    public void early() {
      wake();
    }

    /** Raises the position, and wakes. */
    @Actor
    public void writer() {
      raise();
      wake();
    }

    /** Looks whether it is still on the stack. */
    @Arbiter
    public void end(I_Result r) {
      r.r1 = stack.get() == null ? 1 : 0;
    }
  }
}
