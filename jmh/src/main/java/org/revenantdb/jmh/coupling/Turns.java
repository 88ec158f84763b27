package org.revenantdb.jmh.coupling;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Threads that alternate between several tasks every few milliseconds, all threads with the same
 * task at a time. So a change of the machine affects all tasks alike, and each is compared with its
 * neighbours of the same round.
 */
final class Turns {
  /*
   * State       turn: the number of the task, or STOPPED; set by the measuring thread, read by all
   *             before each step. A thread publishes its count of a task by an opaque store of a
   *             cell; the measuring thread adds them up at both ends of the turn. A step that began
   *             before the turn counts for its own task, some microseconds of some milliseconds.
   * Order       each round begins with the next task, and every other round goes backwards, so that
   *             no task always has the same predecessor. The first round warms up and does not
   *             count.
   */
  private static final int STRIDE = 16;
  private static final int STOPPED = -1;

  private final int things;
  private final AtomicLongArray done;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private volatile int turn;

  private Turns(int threads, int things) {
    if (things > STRIDE) {
      throw new IllegalArgumentException("too many things: " + things);
    }
    this.things = things;
    this.done = new AtomicLongArray((threads + 1) * STRIDE);
  }

  /** Creates the task of a thread. */
  @FunctionalInterface
  interface Factory {
    /** A step of a thing by a thread. */
    Runnable step(int thread, int thing);
  }

  /**
   * The work done.
   *
   * @param rates steps a second by thing, and by round
   */
  record Result(double[][] rates) {
    /** Steps a second, the median of all rounds. */
    double median(int thing) {
      return medianOf(rates[thing].clone());
    }

    /** How many times as fast as another thing, the median of all rounds. */
    double ratio(int thing, int other) {
      double[] ratios = new double[rates[thing].length];
      for (int round = 0; round < ratios.length; round++) {
        ratios[round] = rates[thing][round] / rates[other][round];
      }
      return medianOf(ratios);
    }

    private static double medianOf(double[] values) {
      Arrays.sort(values);
      int n = values.length;
      return (values[(n - 1) / 2] + values[n / 2]) / 2;
    }
  }

  /**
   * Runs them.
   *
   * @param rounds that count
   * @param millis of a turn
   * @throws IllegalStateException if a step failed
   */
  static Result run(int threads, int things, int rounds, long millis, Factory factory)
      throws InterruptedException {
    return new Turns(threads, things).measure(threads, rounds, millis, factory);
  }

  private Result measure(int threads, int rounds, long millis, Factory factory)
      throws InterruptedException {
    List<Thread> running = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      Runnable[] steps = new Runnable[things];
      for (int thing = 0; thing < things; thing++) {
        steps[thing] = factory.step(thread, thing);
      }
      int cell = (thread + 1) * STRIDE;
      running.add(Thread.ofPlatform().name("turns-" + thread).unstarted(() -> loop(steps, cell)));
    }
    running.forEach(Thread::start);
    double[][] rates = new double[things][rounds];
    try {
      for (int round = -1; round < rounds && failure.get() == null; round++) {
        for (int i = 0; i < things; i++) {
          int thing = thing(round + 1, i);
          double rate = measure(thing, millis);
          if (round >= 0) {
            rates[thing][round] = rate;
          }
        }
      }
    } finally {
      turn = STOPPED;
      for (Thread thread : running) {
        thread.join();
      }
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new IllegalStateException("a step failed", thrown);
    }
    return new Result(rates);
  }

  private int thing(int round, int i) {
    int forwards = (round + i) % things;
    return round % 2 == 0 ? forwards : things - 1 - forwards;
  }

  private double measure(int thing, long millis) throws InterruptedException {
    turn = thing;
    long before = sum(thing);
    long start = System.nanoTime();
    Thread.sleep(millis);
    long steps = sum(thing) - before;
    return steps * 1e9 / (System.nanoTime() - start);
  }

  private void loop(Runnable[] steps, int cell) {
    long[] counts = new long[steps.length];
    try {
      for (int now = turn; now != STOPPED && failure.get() == null; now = turn) {
        steps[now].run();
        counts[now]++;
        done.setOpaque(cell + now, counts[now]);
      }
    } catch (Throwable thrown) {
      failure.compareAndSet(null, thrown);
    }
  }

  private long sum(int thing) {
    long sum = 0;
    for (int cell = STRIDE; cell < done.length(); cell += STRIDE) {
      sum += done.getOpaque(cell + thing);
    }
    return sum;
  }
}
