package org.revenantdb.engine.session;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Objects that one thread has used and another can use next.
 *
 * <p>Threads: any. No method waits for another thread.
 *
 * <p>Failure: none. No method allocates, so an object can be given back after the record of a
 * commit (R18).
 *
 * @param <T> the kind of object
 */
public final class Spares<T> {
  /*
   * State       slots[s]   null, or an object that nobody uses, given back by a thread of stripe s
   *             more       at most MORE objects that nobody uses, whose slot was occupied
   *             What fits in neither is left to the collector.
   *
   * Ordering    An object is given back by a CAS of the slot or by the release of a cell of the queue. It is taken by
   *             getAndSet, or by the acquire of the cell and a CAS of the queue's index. So it is taken once, and the
   *             taker sees what the former user has done to it (jcstress: SparesStress).
   *
   * Memory      The cells of the queue exist from the beginning. A lock in its place would allocate a node for each
   *             thread that waits for it. The JVM links each VarHandle of the queue at its first use, and that does
   *             allocate: load() uses them all once.
   *
   * Races left in   While another thread is between two steps of the queue, relaxedPoll can find nothing and
   *             relaxedOffer no room. Then an object is made, or dropped, that need not be. poll and offer would spin
   *             until the other thread has a processor again.
   */
  private static final int MORE = 16;

  private final AtomicReferenceArray<@Nullable T> slots;
  private final MessagePassingQueue<T> more = new MpmcVarHandleArrayQueue<>(MORE);

  /** Nothing to take yet. */
  public Spares() {
    this(Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors()));
  }

  /** With so many stripes, a power of two. */
  public Spares(int stripes) {
    slots = new AtomicReferenceArray<>(stripes);
  }

  /** Links all that the methods use, so that this cannot fail behind the record of a commit. */
  static void load() {
    Spares<String> used = new Spares<>();
    for (int i = 0; i < MORE + 2; i++) {
      used.giveBack("");
    }
    while (used.take() != null) {}
  }

  /** Takes an object, which is the caller's until it is given back; null if there is none. */
  public @Nullable T take() {
    T taken = slots.getAndSet(stripe(), null);
    return taken != null ? taken : more.relaxedPoll();
  }

  /** Returns an object that is no longer used. */
  public void giveBack(T spare) {
    if (!slots.compareAndSet(stripe(), null, spare)) {
      more.relaxedOffer(spare);
    }
  }

  private int stripe() {
    return (int) Thread.currentThread().threadId() & (slots.length() - 1);
  }
}
