package org.revenantdb.latch;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.revenantdb.latch.ParkingLot.Outcome;
import org.revenantdb.latch.ParkingLot.Protocol;
import org.revenantdb.latch.ParkingLot.Wake;
import org.revenantdb.testing.Drawn;

/**
 * Claim: no wake-up of the {@link ParkingLot} is lost. It is not lost between the check and the
 * sleep, nor by a waiter that gives up, nor by a waiter that got what it had stopped waiting for.
 *
 * <p>The models are small locks and a condition over a lot of one bucket, with a clock that is one
 * of the operations. Broken twins: the same models, used as the lot's contract forbids.
 */
@Tag("slow")
class LotLincheckTest {

  /** A separate lot, whose time stands still until it passes. */
  public abstract static class WithLot implements LongSupplier {
    private static final long DEADLINE = 100;

    volatile long now;
    final ParkingLot lot = new ParkingLot(1, /* fairnessNanos= */ 10, this);
    private volatile Thread sleeper = Thread.currentThread();

    @Override
    public final long getAsLong() {
      return now;
    }

    /** A deadline in the future; a waiter sleeps until it is told that time passes. */
    final long someTime() {
      sleeper = Thread.currentThread();
      return DEADLINE;
    }

    /** The deadline passes, and the timer of the waiter fires. */
    @Operation
    public void timePasses() {
      now = DEADLINE;
      LockSupport.unpark(sleeper);
    }

    /** All threads have left. */
    @Validate
    public void nobodyIsQueued() {
      if (lot.queuedNear(this, 0) != 0) {
        throw new IllegalStateException("somebody is queued");
      }
    }
  }

  /** An event that happens once. */
  public static class Event extends WithLot {
    volatile boolean happened;
    int message;

    @Operation
    public int await() {
      while (!happened) {
        lot.park(this, 0, () -> !happened);
      }
      return message;
    }

    /** Gives up when time has passed, and leaves no trace. */
    @Operation
    public void awaitSomeTime() {
      long deadline = someTime();
      while (!happened) {
        if (lot.park(this, 0, () -> !happened, deadline) == Outcome.TIMED_OUT) {
          return;
        }
      }
    }

    @Operation
    public void happen() {
      message = 42;
      happened = true;
      lot.unparkAll(this, 0);
    }
  }

  /** The sequential {@link Event}: a waiter has seen it happen, whenever that was. */
  public static class EventAsSeen {
    public int await() {
      return 42;
    }

    public void awaitSomeTime() {}

    public void happen() {}

    public void timePasses() {}
  }

  /** A semaphore of one permit that guards a number; woken threads compete for the permit. */
  public static class Semaphore extends WithLot {
    final AtomicBoolean taken = new AtomicBoolean();
    int number;

    @Operation
    public int increment() {
      acquire();
      int result = ++number;
      release();
      return result;
    }

    /** Is already too late, if it must wait. */
    @Operation
    public void visit() {
      if (acquire(now)) {
        release();
      }
    }

    @Operation
    public void visitForSomeTime() {
      if (acquire(someTime())) {
        release();
      }
    }

    void acquire() {
      while (!taken.compareAndSet(false, true)) {
        lot.park(this, 0, taken::get);
      }
    }

    boolean acquire(long deadline) {
      while (!taken.compareAndSet(false, true)) {
        if (lot.park(this, 0, taken::get, deadline) == Outcome.TIMED_OUT) {
          return false;
        }
      }
      return true;
    }

    void release() {
      taken.set(false);
      lot.unparkOne(this, 0);
    }
  }

  /** The same semaphore, with its permit handed to a waiter. */
  public static class HandedOver extends Semaphore implements Protocol<Object> {
    @Override
    public final boolean mustWait(Object key) {
      return taken.get();
    }

    @Override
    void acquire() {
      while (!taken.compareAndSet(false, true)) {
        if (lot.park(this, 0, this) == Outcome.GRANTED) {
          return;
        }
      }
    }

    @Override
    boolean acquire(long deadline) {
      while (!taken.compareAndSet(false, true)) {
        switch (lot.park(this, 0, this, deadline)) {
          case GRANTED -> {
            return true;
          }
          case TIMED_OUT -> {
            return false;
          }
          default -> {}
        }
      }
      return true;
    }

    @Override
    void release() {
      lot.unpark(
          this,
          0,
          (_, head) -> {
            if (head.count() > 0) {
              return Wake.GRANT;
            }
            taken.set(false);
            return Wake.NONE;
          });
    }
  }

  /** Twin: looks before it parks, and not again under the lock. */
  public static class LookingOutside extends Event {
    @Override
    @Operation
    public int await() {
      while (!happened) {
        lot.park(this, 0, () -> true);
      }
      return message;
    }
  }

  /** Twin: wakes first, and makes the condition true afterwards. */
  public static class WakingFirst extends Event {
    @Override
    @Operation
    public void happen() {
      message = 42;
      lot.unparkAll(this, 0);
      happened = true;
    }
  }

  /** Twin: wakes one waiter where all can continue. */
  public static class WakingOne extends Event {
    @Override
    @Operation
    public void happen() {
      message = 42;
      happened = true;
      lot.unparkOne(this, 0);
    }
  }

  /** Twin: a woken thread looks at the clock and leaves, and wakes no other thread instead. */
  public static class Swallowing extends Semaphore {
    @Override
    boolean acquire(long deadline) {
      while (!taken.compareAndSet(false, true)) {
        if (lot.park(this, 0, taken::get, deadline) != Outcome.NOT_PARKED && now >= deadline) {
          return false;
        }
      }
      return true;
    }
  }

  /** Twin: a thread that got the permit when time had passed does not give it back. */
  public static class Refusing extends HandedOver {
    @Override
    boolean acquire(long deadline) {
      while (!taken.compareAndSet(false, true)) {
        if (lot.park(this, 0, this, deadline) != Outcome.NOT_PARKED && now >= deadline) {
          return false;
        }
      }
      return true;
    }
  }

  @Test
  @Drawn(oneIn = 2)
  void condition_wakesAllWhoWaitForIt() {
    checksEvent(Event.class, "await", "await", "happen");
    checksEvent(Event.class, "await", "happen");
  }

  @Test
  @Drawn(oneIn = 2)
  void condition_withADeadlineWakesTheOthers() {
    checksEvent(Event.class, "await", "awaitSomeTime", "timePasses", "happen");
  }

  @Test
  @Drawn(oneIn = 2)
  void semaphore_isLinearizable() {
    Lincheck.modelChecks(Semaphore.class, 3, 1);
    Lincheck.survivesStress(Semaphore.class, 3, 4);
  }

  @Test
  @Drawn(oneIn = 2)
  void semaphore_deadlinesSwallowNoWakeUp() {
    together(Semaphore.class, "increment", "increment", "visit");
    together(Semaphore.class, "increment", "increment", "visitForSomeTime", "timePasses");
  }

  @Test
  @Drawn(oneIn = 2)
  void handOver_isLinearizable() {
    Lincheck.modelChecks(HandedOver.class, 3, 1);
    Lincheck.survivesStress(HandedOver.class, 3, 4);
  }

  @Test
  @Drawn(oneIn = 2)
  void handOver_deadlinesLoseNoGrant() {
    together(HandedOver.class, "increment", "increment", "visit");
    together(HandedOver.class, "increment", "increment", "visitForSomeTime", "timePasses");
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatLooksOutsideTheLockIsRejected() {
    Lincheck.rejects("hung", () -> checksEvent(LookingOutside.class, "await", "happen"));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatWakesFirstIsRejected() {
    Lincheck.rejects("hung", () -> checksEvent(WakingFirst.class, "await", "happen"));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatWakesOneIsRejected() {
    Lincheck.rejects("hung", () -> checksEvent(WakingOne.class, "await", "await", "happen"));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatSwallowsAWakeUpIsRejected() {
    Lincheck.rejects(
        "hung",
        () ->
            together(Swallowing.class, "increment", "increment", "visitForSomeTime", "timePasses"));
  }

  @Test
  @Drawn(oneIn = 3)
  void twin_thatRefusesAGrantIsRejected() {
    Lincheck.rejects("hung", () -> together(Refusing.class, "increment", "increment", "visit"));
  }

  /** In sequence an event cannot be awaited, so the order of operations is not Lincheck's. */
  private static void checksEvent(Class<?> model, String... operations) {
    Lincheck.modelChecksTogether(model, EventAsSeen.class, operations);
  }

  private static void together(Class<?> model, String... operations) {
    Lincheck.modelChecksTogether(model, model, operations);
  }
}
