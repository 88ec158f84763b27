package org.revenantdb.jmh.contend;

/**
 * The resource that threads compete for, together with the loop of the competition. There is one
 * small class for each lock, written out by hand: between the loop and the lock there is no
 * interface, no lambda and no wrapper, so each lock is inlined as far as possible.
 *
 * <p>The form of the loop, the same for all:
 *
 * {@snippet :
 * protected void compete(Competitor me) {
 *   while (true) {
 *     me.arrive();
 *     lock.lock();
 *     try {
 *       if (!me.enter()) {
 *         return;
 *       }
 *       change();
 *     } finally {
 *       lock.unlock();
 *     }
 *   }
 * }
 * }
 *
 * <p>One object is used for one run.
 */
public abstract class Contender {
  private int steps;
  private long first;
  private long second;
  private long chain = 1;

  /** For subclasses, which {@link ContentionFork} makes by name. */
  protected Contender() {}

  /**
   * Acquires, works, releases, until {@link Competitor#enter} returns that the run is over. All
   * threads of a run are in this method at the same time.
   *
   * @param me the calling thread's own
   */
  protected abstract void compete(Competitor me);

  /** The critical section of a writer: increments two plain fields and works for its time. */
  protected final void change() {
    first++;
    second++;
    if (steps > 0) {
      chain = BusyLoop.burn(chain, steps);
    }
  }

  /**
   * The critical section of a reader: adds up the two fields and works for its time.
   *
   * @return something to be used
   */
  protected final long read() {
    long sum = first + second;
    return steps > 0 ? BusyLoop.burn(sum, steps) : sum;
  }

  void setSteps(int newSteps) {
    steps = newSteps;
  }

  /** How often {@link #change} ran; if two ever ran at the same time, not even that often. */
  long changes() {
    return Math.min(first, second);
  }
}
