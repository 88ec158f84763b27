package org.revenantdb.chaos.hooks;

import java.nio.charset.StandardCharsets;
import org.revenantdb.chaos.agent.FileCall;

/**
 * The order of the agent's record: the lock that a call holds until it has ended, and the numbers
 * of the threads.
 *
 * <p>Threads: any.
 */
final class CallOrder {

  private final Journal journal;
  private final Stacks stacks;
  private final ThreadLocal<Caller> callers = ThreadLocal.withInitial(Caller::new);
  private int threads;
  private int records;

  /** What a thread has. */
  static final class Caller {

    /** Whether it does something for the recorder, which goes past it. */
    boolean inside;

    private int thread;

    /** The record that the number is in. */
    private int record;

    int thread() {
      return thread;
    }
  }

  CallOrder(Journal journal) {
    this.journal = journal;
    this.stacks = new Stacks(journal);
  }

  /** The calling thread. */
  Caller caller() {
    return callers.get();
  }

  /** Forgets all threads and stacks: a new record begins. */
  void begin() {
    stacks.reset();
    threads = 0;
    records++;
  }

  /** Gives the calling thread a number. */
  void announce(Caller by) {
    by.thread = ++threads;
    by.record = records;
    journal.note(
        Tape.THREAD, by.thread, Thread.currentThread().getName().getBytes(StandardCharsets.UTF_8));
  }

  /** A call of this thread, without the lock. */
  BegunCall begun(FileCall call, Caller by) {
    return new BegunCall(call, by, stacks.here());
  }

  void lock(BegunCall begun) {
    journal.lock().lock();
    begun.locked = true;
    if (begun.by.record != records) {
      announce(begun.by);
    }
  }

  /** The lock for a closing: a thread that only closes files is not announced. */
  void lockQuietly(BegunCall begun) {
    journal.lock().lock();
    begun.locked = true;
  }

  void unlock(BegunCall begun) {
    if (begun.locked) {
      begun.locked = false;
      journal.lock().unlock();
    }
  }
}
