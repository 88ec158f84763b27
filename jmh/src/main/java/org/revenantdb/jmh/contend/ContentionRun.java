package org.revenantdb.jmh.contend;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Threads that compete for a fixed time. The caller sleeps meanwhile: all processors are theirs.
 */
public final class ContentionRun {
  /*
   * Phases      SETTLING -> MEASURING -> ENDED, by the caller. Threads read the phase while they
   *             hold the lock. What they do in SETTLING does not count, so a slow start of the last
   *             thread is not unfair.
   *
   * Ordering    endedAt is written before phase (volatile), read after it.
   */
  static final int SETTLING = 0;
  static final int MEASURING = 1;
  static final int ENDED = 2;

  private volatile int phase = SETTLING;
  private long endedAt;
  private volatile @Nullable Throwable failure;

  private ContentionRun() {}

  /**
   * Runs one point.
   *
   * @param contender made for this run
   * @param point how many threads, and how long a section
   * @param stepsPerMicrosecond from {@link BusyLoop#stepsPerMicrosecond}, once for all contenders
   * @param settleNanos how long the threads compete before it counts
   * @param windowNanos how long it counts
   * @return the counts
   * @throws InterruptedException if the caller is interrupted; the threads then end
   * @throws IllegalStateException if a thread failed, or the lock let two writers in
   */
  public static ContentionResult run(
      Contender contender,
      ContentionPoint point,
      double stepsPerMicrosecond,
      long settleNanos,
      long windowNanos)
      throws InterruptedException {
    contender.setSteps((int) Math.round(point.sectionMicros() * stepsPerMicrosecond));
    return new ContentionRun().go(contender, point, settleNanos, windowNanos);
  }

  /** For tests of a single competitor. */
  static ContentionRun measuring() {
    ContentionRun run = new ContentionRun();
    run.phase = MEASURING;
    return run;
  }

  int phase() {
    return phase;
  }

  long endedAt() {
    return endedAt;
  }

  private ContentionResult go(
      Contender contender, ContentionPoint point, long settleNanos, long windowNanos)
      throws InterruptedException {
    List<Competitor> competitors = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    CountDownLatch ready = new CountDownLatch(point.threads());
    CountDownLatch gate = new CountDownLatch(1);
    Thread.Builder builder =
        point.virtual() ? Thread.ofVirtual() : Thread.ofPlatform().daemon().name("competitor-", 0);
    for (int i = 0; i < point.threads(); i++) {
      Competitor me = new Competitor(this, point.timedEvery(), i);
      competitors.add(me);
      threads.add(builder.start(() -> takePart(contender, me, ready, gate)));
    }
    ready.await();
    gate.countDown();
    sleep(settleNanos);
    double cpuBefore = cpuSeconds();
    long start = System.nanoTime();
    phase = MEASURING;
    sleep(windowNanos);
    endedAt = System.nanoTime();
    phase = ENDED;
    double cpu = cpuSeconds() - cpuBefore;
    for (Thread thread : threads) {
      thread.join();
    }
    check(contender, competitors);
    return result(competitors, (endedAt - start) / 1e9, cpu);
  }

  private void takePart(
      Contender contender, Competitor me, CountDownLatch ready, CountDownLatch gate) {
    try {
      ready.countDown();
      gate.await();
      contender.compete(me);
    } catch (InterruptedException e) {
      failure = e; // they are never interrupted
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  private void check(Contender contender, List<Competitor> competitors) {
    Throwable thrown = failure;
    if (thrown != null) {
      throw new IllegalStateException("a competing thread failed", thrown);
    }
    long entered = competitors.stream().mapToLong(Competitor::entered).sum();
    long changes = contender.changes();
    if (changes != 0 && changes != entered) {
      throw new IllegalStateException(
          "not exclusive: " + entered + " entered, " + changes + " changes remain");
    }
  }

  private static ContentionResult result(
      List<Competitor> competitors, double seconds, double cpuSeconds) {
    WaitHistogram waits = new WaitHistogram();
    competitors.forEach(competitor -> waits.add(competitor.waits()));
    List<Long> counts = competitors.stream().map(Competitor::counted).toList();
    return new ContentionResult(seconds, counts, waits, cpuSeconds);
  }

  private static double cpuSeconds() {
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return system.getProcessCpuTime() / 1e9;
  }

  private void sleep(long nanos) throws InterruptedException {
    long deadline = System.nanoTime() + nanos;
    for (long left = nanos; left > 0; left = deadline - System.nanoTime()) {
      if (Thread.interrupted()) {
        phase = ENDED;
        throw new InterruptedException();
      }
      LockSupport.parkNanos(left);
    }
  }
}
