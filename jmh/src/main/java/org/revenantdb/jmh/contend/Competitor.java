package org.revenantdb.jmh.contend;

/**
 * One thread in a contended run: counts its acquisitions and times some of its waits.
 *
 * <p>Threads: the one it belongs to; others read when that has ended.
 */
public final class Competitor {
  /*
   * A starving thread has few acquisitions, and those alone would show only short waits. So a wait
   * that the end of the run cuts short counts as well, with its length until then, and each
   * thread's first acquisition is timed, however rarely it reads the clock. If many threads have
   * few acquisitions each, the timed ones must not all come at the same time: each thread starts
   * its count at another number.
   */
  private final ContentionRun run;
  private final long timedMask;
  private final WaitHistogram waits = new WaitHistogram();
  private long arrivals;
  private boolean timed;
  private long arrivedAt;
  private long counted;
  private long entered;
  private long sum;

  // Keeps the counters of two threads in different cache lines.
  @SuppressWarnings("unused") // padding
  long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

  /**
   * Makes one.
   *
   * @param index how many were made before for this run
   */
  Competitor(ContentionRun run, int timedEvery, int index) {
    if (Integer.bitCount(timedEvery) != 1) {
      throw new IllegalArgumentException("not a power of two: " + timedEvery);
    }
    this.run = run;
    this.timedMask = timedEvery - 1L;
    this.arrivals = index;
  }

  /** To be called right before the lock is acquired. */
  public void arrive() {
    timed = (arrivals++ & timedMask) == 0 || entered == 0;
    if (timed) {
      arrivedAt = System.nanoTime();
    }
  }

  /**
   * To be called first thing when the lock is held.
   *
   * @return false when the run is over: release and return
   */
  public boolean enter() {
    int phase = run.phase();
    if (timed) {
      time(phase);
    }
    if (phase == ContentionRun.ENDED) {
      return false;
    }
    entered++;
    if (phase == ContentionRun.MEASURING) {
      counted++;
    }
    return true;
  }

  /**
   * Uses the result of a reader, so that the read is not optimized away.
   *
   * @param value what {@link Contender#read} returned
   */
  public void use(long value) {
    sum += value;
  }

  private void time(int phase) {
    if (phase == ContentionRun.MEASURING) {
      waits.record(System.nanoTime() - arrivedAt);
    } else if (phase == ContentionRun.ENDED && run.endedAt() - arrivedAt > 0) {
      waits.record(run.endedAt() - arrivedAt);
    }
  }

  /** Acquisitions while it was measured. */
  long counted() {
    return counted;
  }

  /** Acquisitions before and while it was measured. */
  long entered() {
    return entered;
  }

  /** The sum of the values read. */
  long sum() {
    return sum;
  }

  WaitHistogram waits() {
    return waits;
  }
}
