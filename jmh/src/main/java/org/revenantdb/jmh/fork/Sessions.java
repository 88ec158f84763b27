package org.revenantdb.jmh.fork;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.revenantdb.jmh.contend.WaitHistogram;

/**
 * Threads that do one thing again and again, for a time to warm up and a time that counts.
 *
 * <p>The steps are behind an interface: its call takes nanoseconds, a forced commit a hundred
 * microseconds, and it is the same call for all engines.
 */
public final class Sessions {
  /*
   * State       WARMING -> MEASURING -> STOPPED, set by the measuring thread, read by all before
   *             each step. A thread publishes its count by an opaque store of its own cell. The
   *             measuring thread adds the cells up at both ends of the window, so a step counts in
   *             the window in which it ended.
   */

  /** The work of a session. */
  @FunctionalInterface
  public interface Session {
    /**
     * One step: a commit, a read, or many of them where one is too short to be timed.
     *
     * @throws Exception whatever it throws ends the run
     */
    void step() throws Exception;
  }

  /** Makes the sessions. */
  @FunctionalInterface
  public interface Factory {
    /**
     * Makes one.
     *
     * @param number of the session, from 0
     * @return the session
     * @throws Exception if it cannot be made
     */
    Session session(int number) throws Exception;
  }

  /**
   * The work done.
   *
   * @param perSecond steps of all sessions
   * @param steps in the window
   * @param waits how long each step of the window took
   * @param processorMicros of the whole process, for each step: its cost, however many processes
   *     share the machine
   */
  public record Result(double perSecond, long steps, WaitHistogram waits, double processorMicros) {}

  /**
   * How long.
   *
   * @param warmMillis the minimum before it counts; longer until all sessions together have done
   *     {@code warmSteps}, because compiled code depends on calls, not on time; at most {@link
   *     #LONGEST} times that. Then it goes on until their rate is steady, for three seconds at most
   * @param windowMillis that count
   * @param warmSteps of all sessions
   */
  public record Times(long warmMillis, long windowMillis, long warmSteps) {
    /**
     * With the usual number of steps.
     *
     * @param warmMillis as above
     * @param windowMillis as above
     */
    public Times(long warmMillis, long windowMillis) {
      this(warmMillis, windowMillis, WARM_STEPS);
    }
  }

  private enum Phase {
    WARMING,
    MEASURING,
    STOPPED
  }

  private static final int STRIDE = 16;
  private static final int WARM_STEPS = 30_000;

  /** After fewer the compiler is still at work, and takes one of two processors. */
  private static final int COMPILE_STEPS = 400_000;

  /**
   * System property: how long {@link #compile} takes at most, and how long the sessions wait for a
   * steady rate, in milliseconds.
   */
  static final String COMPILE_MILLIS = "revenant.bench.compile.millis";

  private static final long COMPILE_NANOS = Long.getLong(COMPILE_MILLIS, 3_000) * 1_000_000;

  /** A warm-up takes at most this many times its set duration. */
  public static final int LONGEST = 4;

  private static final long PAUSE = 50;

  /** The rate is compared between windows of this many milliseconds. */
  private static final long STEADY_WINDOW = 250;

  /** The rate is steady when two windows in succession differ by at most this part. */
  private static final double STEADY = 0.05;

  private final AtomicLongArray done;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile Phase phase = Phase.WARMING;

  private Sessions(int sessions) {
    done = new AtomicLongArray((sessions + 1) * STRIDE);
  }

  /**
   * Runs them.
   *
   * @param sessions how many
   * @param virtual whether their threads are
   * @param times how long
   * @param factory makes the sessions
   * @param atStart run at the start of the window
   * @param atEnd run at its end
   * @return what was done
   * @throws Exception if a session cannot be made, or one failed
   */
  public static Result run(
      int sessions, boolean virtual, Times times, Factory factory, Runnable atStart, Runnable atEnd)
      throws Exception {
    return new Sessions(sessions).measure(sessions, virtual, times, factory, atStart, atEnd);
  }

  /**
   * Runs them on platform threads.
   *
   * @param sessions how many
   * @param times how long
   * @param factory makes the sessions
   * @return what was done
   * @throws Exception if a session cannot be made, or one failed
   */
  public static Result run(int sessions, Times times, Factory factory) throws Exception {
    return run(sessions, /* virtual= */ false, times, factory, () -> {}, () -> {});
  }

  private Result measure(
      int sessions, boolean virtual, Times times, Factory factory, Runnable atStart, Runnable atEnd)
      throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<WaitHistogram> waits = new ArrayList<>();
    for (int i = 0; i < sessions; i++) {
      Session session = factory.session(i);
      WaitHistogram own = new WaitHistogram();
      waits.add(own);
      int cell = (i + 1) * STRIDE;
      Runnable loop = () -> loop(session, cell, own);
      threads.add(
          virtual ? Thread.ofVirtual().unstarted(loop) : Thread.ofPlatform().unstarted(loop));
    }
    threads.forEach(Thread::start);
    warmUp(times);
    atStart.run();
    phase = Phase.MEASURING;
    long before = sum();
    long busy = processorNanos();
    long start = System.nanoTime();
    Thread.sleep(times.windowMillis());
    long steps = sum() - before;
    long nanos = System.nanoTime() - start;
    busy = processorNanos() - busy;
    atEnd.run();
    phase = Phase.STOPPED;
    WaitHistogram all = new WaitHistogram();
    for (int i = 0; i < sessions; i++) {
      threads.get(i).join();
      all.add(waits.get(i));
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("a session failed", thrown);
    }
    return new Result(steps * 1e9 / nanos, steps, all, busy / 1e3 / Math.max(1, steps));
  }

  /**
   * Has code compiled, by one thread: enough steps, or as many as there is time for.
   *
   * @param session the session of the steps
   * @throws Exception whatever a step throws
   */
  public static void compile(Session session) throws Exception {
    long end = System.nanoTime() + COMPILE_NANOS;
    for (int i = 0; i < COMPILE_STEPS && System.nanoTime() - end < 0; i++) {
      session.step();
    }
  }

  private void warmUp(Times times) throws InterruptedException {
    long millis = times.warmMillis();
    Thread.sleep(millis);
    long longest = (LONGEST - 1) * millis;
    for (long more = 0; more < longest && sum() < times.warmSteps(); more += PAUSE) {
      Thread.sleep(PAUSE);
    }
    awaitSteadyRate();
  }

  /** While code is compiled the rate grows; a window that counts then measures the compiler. */
  private void awaitSteadyRate() throws InterruptedException {
    long end = System.nanoTime() + COMPILE_NANOS;
    double before = -1;
    while (System.nanoTime() - end < 0) {
      double rate = rate();
      if (before >= 0 && Math.abs(rate - before) <= STEADY * before) {
        return;
      }
      before = rate;
    }
  }

  private double rate() throws InterruptedException {
    long steps = sum();
    long begun = System.nanoTime();
    Thread.sleep(STEADY_WINDOW);
    return (sum() - steps) * 1e9 / (System.nanoTime() - begun);
  }

  private void loop(Session session, int cell, WaitHistogram waits) {
    try {
      for (long n = 1; ; n++) {
        Phase before = phase;
        if (before == Phase.STOPPED || failure.get() != null) {
          return;
        }
        long start = System.nanoTime();
        session.step();
        if (before == Phase.MEASURING) {
          waits.record(System.nanoTime() - start);
        }
        done.setOpaque(cell, n);
      }
    } catch (Throwable thrown) {
      failure.compareAndSet(null, thrown);
    }
  }

  private static long processorNanos() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system.getProcessCpuTime()
        : 0;
  }

  private long sum() {
    long sum = 0;
    for (int cell = STRIDE; cell < done.length(); cell += STRIDE) {
      sum += done.getOpaque(cell);
    }
    return sum;
  }
}
