package org.revenantdb.engine.starved;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The seam of the allocation failures: {@link StarvingLoader} puts a call of {@link #allocating}
 * before each place of the engine's classes that may allocate, and the test decides which call
 * throws.
 *
 * <p>Threads: any thread may call anything. One test at a time.
 */
public final class Starvation {
  /** Whose allocations fail. */
  public enum Victim {
    /** One thread, that of the test. */
    CALLER,
    /** The threads of the engine, whose names begin with "revenant". */
    ENGINE,
    /** Every thread: the heap is full. */
    EVERYBODY
  }

  private static final String ENGINE_THREADS = "revenant";

  /** As many errors as are kept to be shown. */
  private static final int KEPT = 60;

  private static final AtomicLong SEEN = new AtomicLong();
  private static volatile boolean armed;
  private static volatile Victim victim = Victim.CALLER;
  private static volatile Thread caller = Thread.currentThread();
  private static volatile String named = ENGINE_THREADS;
  private static volatile long first;
  private static volatile long last;
  private static volatile Throwable thrown;
  private static volatile long fired;

  private Starvation() {}

  /**
   * From now on the {@code first}-th allocation of the victim fails, and those after it up to the
   * {@code last}-th.
   */
  public static void arm(Victim who, String threadName, long first, long last) {
    armed = false;
    victim = who;
    named = threadName;
    caller = Thread.currentThread();
    Starvation.first = first;
    Starvation.last = last;
    thrown = null;
    fired = 0;
    SEEN.set(0);
    armed = true;
  }

  /** Nothing fails any more; returns how many allocations of the victim there were. */
  public static long disarm() {
    armed = false;
    return SEEN.get();
  }

  /** How many allocations have failed since {@link #arm}. */
  public static long fired() {
    return fired;
  }

  /** The first error since {@link #arm}, for its stack trace; or null. */
  public static Throwable thrown() {
    return thrown;
  }

  /** Called by the engine's classes before each place that may allocate. */
  public static void allocating() {
    if (armed) {
      count();
    }
  }

  @SuppressWarnings({"ReferenceEquality", "NonAtomicVolatileUpdate"}) // which thread it is
  private static void count() {
    Thread current = Thread.currentThread();
    boolean hit =
        switch (victim) {
          case CALLER -> current == caller;
          case ENGINE -> current.getName().startsWith(named);
          case EVERYBODY -> true;
        };
    if (!hit) {
      return;
    }
    long n = SEEN.incrementAndGet();
    if (n < first || n > last) {
      return;
    }
    Error error = new OutOfMemoryError("planted at " + n + " in " + current.getName());
    fired++;
    Throwable before = thrown;
    if (before == null) {
      thrown = error;
    } else if (before.getSuppressed().length < KEPT) {
      before.addSuppressed(error);
    }
    throw error;
  }
}
