package org.revenantdb.chaos.crash;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Distinguishes a process or thread that hangs from one that gets no processor.
 *
 * <p>A stall means: no sign of life for the limit, on a machine that would have let the process
 * work. Time in which the machine did not let it work is not counted. On a quiet machine the limit
 * is wall-clock time.
 *
 * <p>Threads: {@link #alive} and {@link #rest} may be called by any thread, {@code await} by one.
 *
 * {@snippet :
 * StallWatch watch = new StallWatch(Duration.ofSeconds(20));
 * if (!watch.await(thread::join)) {
 *   complain(thread.getStackTrace());
 * }
 * }
 */
public final class StallWatch {
  /*
   * The wait is cut into rounds, ROUNDS to a limit. After a round without a sign of life the watch
   * measures the pace of the machine: the share of a processor that a thread gets now. The round
   * counts with
   *
   *     (min(time it took, time it was meant to take) + time of the measurement) * pace
   *
   * and there is a stall when the sum since the last sign of life reaches the limit.
   *
   *   what is watched                  the machine            counted in a second
   *   deadlocked, or spins             quiet                  1 s
   *   deadlocked, or spins             8 others a processor   about 0.1 s: found, but later
   *   healthy                          8 others a processor   about 0.1 s: what the thread got itself
   *   anything                         suspended              0 s: the round took too long
   *   waits for a device (Linux)       any                    0 s
   *   stopped by us                    any                    0 s
   *
   * The processor time that the watched process used is not read. It cannot distinguish a deadlock
   * from a process that the machine does not run, nor an endless loop from work. The share of a
   * processor shows what the process could have used.
   *
   * Limits. Threads that spin by themselves slow the machine down for the watch, too: n of them on
   * one processor are found after n + 1 limits. A device that never answers is never reported as a
   * stall of the store.
   *
   * A sign of life and the decision that there is a stall exclude each other (DECISION): the caller
   * of alive or rest learns whether it came too late, and a stall is never found behind a sign.
   */

  private static final int ROUNDS = 20;
  private static final Duration SHORTEST_ROUND = Duration.ofMillis(10);
  private static final Duration LONGEST_ROUND = Duration.ofSeconds(5);
  private static final Duration LOOK = Duration.ofMillis(1);

  private final Object decision = new Object();
  private final long process;
  private final Machine machine;
  private final AtomicBoolean seen = new AtomicBoolean();
  private volatile long limit;
  private volatile boolean rests;
  private boolean stalled; // guarded by decision

  /** The event to wait for. */
  @FunctionalInterface
  public interface End {

    /**
     * Waits for the event.
     *
     * @param time the longest wait
     * @return true if it has happened
     * @throws InterruptedException if the waiting thread is interrupted
     */
    boolean within(Duration time) throws InterruptedException;
  }

  /**
   * Watches threads of this process.
   *
   * @param limit how long they may give no sign of life
   */
  public StallWatch(Duration limit) {
    this(limit, ProcessHandle.current().pid());
  }

  /**
   * Watches a process.
   *
   * @param limit how long it may give no sign of life
   * @param process its id
   */
  public StallWatch(Duration limit, long process) {
    this(limit, process, RealMachine.INSTANCE);
  }

  StallWatch(Duration limit, long process, Machine machine) {
    this.limit = limit.toNanos();
    this.process = process;
    this.machine = machine;
  }

  /**
   * Notes a sign of life.
   *
   * @return false if a stall was found before
   */
  public boolean alive() {
    synchronized (decision) {
      seen.set(true);
      return !stalled;
    }
  }

  /**
   * Changes the limit, which is a sign of life.
   *
   * @param other how long there may be no sign of life from now on
   */
  public void limit(Duration other) {
    synchronized (decision) {
      limit = other.toNanos();
      seen.set(true);
    }
  }

  /**
   * Notes whether the watcher has stopped the process. A stopped process does not stall.
   *
   * @param now true when it is stopped, false when it continues
   * @return false if a stall was found before
   */
  public boolean rest(boolean now) {
    synchronized (decision) {
      rests = now;
      seen.set(true);
      return !stalled;
    }
  }

  /** Finds a stall, unless a sign of life has come. */
  private boolean decide() {
    synchronized (decision) {
      stalled = !seen.get() && !rests;
      return stalled;
    }
  }

  /**
   * Waits until the event or a stall.
   *
   * @param end the event
   * @return true after the event, false after the limit without a sign of life
   * @throws InterruptedException if this thread is interrupted
   */
  public boolean await(End end) throws InterruptedException {
    for (long counted = 0; counted < limit || !decide(); ) {
      Duration round = round();
      long begun = machine.nanoTime();
      if (end.within(round)) {
        return true;
      }
      long chance = seen.get() || rests ? 0 : chance(round.toNanos(), begun);
      counted = seen.getAndSet(false) || rests ? 0 : counted + chance;
    }
    return end.within(Duration.ZERO);
  }

  /**
   * Like {@link #await(End)}, for a state that has to be polled.
   *
   * @param reached whether it is reached
   * @return true if it is, false after the limit without a sign of life
   * @throws InterruptedException if this thread is interrupted
   */
  public boolean awaitState(BooleanSupplier reached) throws InterruptedException {
    return await(time -> {
      long begun = machine.nanoTime();
      while (!reached.getAsBoolean()) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (machine.nanoTime() - begun >= time.toNanos()) {
          return false;
        }
        LockSupport.parkNanos(LOOK.toNanos());
      }
      return true;
    });
  }

  private Duration round() {
    Duration part = Duration.ofNanos(limit / ROUNDS);
    Duration capped = part.compareTo(LONGEST_ROUND) < 0 ? part : LONGEST_ROUND;
    return capped.compareTo(SHORTEST_ROUND) > 0 ? capped : SHORTEST_ROUND;
  }

  /** The part of a silent round in which the machine would have let a thread work. */
  private long chance(long meant, long begun) {
    long waited = Math.min(meant, machine.nanoTime() - begun);
    if (machine.waitsForDevice(process)) {
      return 0;
    }
    long before = machine.nanoTime();
    double pace = machine.pace();
    return (long) ((waited + machine.nanoTime() - before) * pace);
  }
}
