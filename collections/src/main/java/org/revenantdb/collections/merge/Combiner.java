package org.revenantdb.collections.merge;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Has requests of several threads carried out together, by one of these threads.
 *
 * <p>Thread-safe. A caller waits until its request is carried out. An interrupt does not end the
 * wait, and the thread stays interrupted.
 *
 * @param <R> type of the requests
 */
public final class Combiner<R extends Combiner.Request> {
  /*
   * Source      Hendler, Incze, Shavit, Tzafrir, "Flat Combining" (SPAA 2010). We differ: waiting threads sleep, and
   *             a leader hands over after some batches.
   *
   * Word        null      no thread is inside
   *             IDLE      a leader is inside, and no request waits
   *             request   a leader is inside; this is the list of waiting requests, the last first
   *
   * Steps       null -> IDLE              CAS   by a caller, which leads from now on
   *             w -> request (next = w)   CAS   by a caller, which sleeps until its state changes
   *             request -> IDLE           set   by the leader, which takes all waiting requests
   *             IDLE -> null              CAS   by the leader, which leaves
   *
   * Batch       if a batch fails as a whole and may be tried again, it is returned: each owner carries out its own
   *             request alone. So a failure that concerns only one request, or only the leader's thread, reaches only
   *             that caller.
   *
   * Leader      carries out its own request first, then at most ROUNDS batches; then the oldest request that waits
   *             becomes the leader, with all waiting requests. So no thread works for others for ever. There is
   *             always a leader while there is a request, because only a leader that has found none leaves.
   *
   * Ordering    a request is filled before the CAS that pushes it, and its results are written before its state, which
   *             is volatile.
   */
  private static final int ROUNDS = 32;

  private static final Request IDLE = new Request();

  /** A request; a subclass has the work that it asks for. */
  public static class Request {
    private enum State {
      WAITS,
      LEADS,
      ALONE,
      DONE
    }

    private final Thread owner = Thread.currentThread();
    private volatile State state = State.WAITS;
    private @Nullable Request next;
    private @Nullable Throwable failure;

    /** A request of the calling thread. */
    public Request() {}

    /** Why it was not carried out; null if it was. */
    public @Nullable Throwable failure() {
      return failure;
    }

    /** Records that it was not carried out, or null. */
    public void failed(@Nullable Throwable why) {
      failure = why;
    }

    private void change(State now) {
      state = now;
      LockSupport.unpark(owner);
    }
  }

  private final AtomicReference<@Nullable Request> word = new AtomicReference<>();
  private final Consumer<List<R>> work;
  private final Predicate<Throwable> mayBeRepeated;

  /** What the leader has taken, the last one first; written by the leader. */
  private @Nullable Request taken;

  /**
   * Makes a combiner without a leader.
   *
   * @param work carries out requests, the eldest first; if it throws, it has carried out none
   * @param mayBeRepeated whether after this failure each request may be tried alone; else it is the
   *     failure of them all
   */
  public Combiner(Consumer<List<R>> work, Predicate<Throwable> mayBeRepeated) {
    this.work = work;
    this.mayBeRepeated = mayBeRepeated;
  }

  /** Has a request carried out; on return it is, or has failed. */
  public void carryOut(R request) {
    List<R> own = List.of(request); // without memory for that no thread is inside yet
    while (true) {
      Request before = word.get();
      if (before == null) {
        if (word.compareAndSet(null, IDLE)) {
          lead(own);
          return;
        }
      } else {
        ((Request) request).next = before;
        if (word.compareAndSet(before, request)) {
          await(request, own);
          return;
        }
      }
    }
  }

  private void await(R request, List<R> alone) {
    boolean wasInterrupted = false;
    Request own = request;
    while (own.state == Request.State.WAITS) {
      LockSupport.park(this);
      wasInterrupted |= Thread.interrupted();
    }
    if (own.state == Request.State.LEADS) {
      lead(null);
    }
    if (own.state == Request.State.ALONE) {
      doAll(alone);
    }
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** All that wait, the eldest first; called by the leader. */
  @SuppressWarnings("unchecked") // only R are pushed
  private List<R> takeAll() {
    taken = word.getAndSet(IDLE); // before there is need for memory
    List<R> all = new ArrayList<>();
    for (Request each = taken; each != null && !isIdle(each); each = each.next) {
      all.add((R) each);
    }
    Collections.reverse(all);
    return all;
  }

  @SuppressWarnings("ReferenceEquality") // which object it is
  private static boolean isIdle(@Nullable Request word) {
    return word == IDLE;
  }

  /**
   * Carries out requests until none waits, or for some rounds.
   *
   * @param first null for those that wait
   */
  private void lead(@Nullable List<R> first) {
    // An interrupt of this thread says nothing to the others, and ends the attempts of a
    // transaction.
    boolean wasInterrupted = Thread.interrupted();
    try {
      leadRounds(first == null ? takeAll() : first);
    } catch (Throwable broken) { // no memory, or no stack: no thread may wait for ever
      for (Request each = taken; each != null && !isIdle(each); each = each.next) {
        if (each.state != Request.State.DONE && each.state != Request.State.ALONE) {
          each.failure = broken;
          each.change(Request.State.DONE);
        }
      }
      handOver();
      throw broken;
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void leadRounds(List<R> first) {
    List<R> batch = first;
    for (int round = 0; round < ROUNDS; round++) {
      doAll(batch);
      do {
        if (word.compareAndSet(IDLE, null)) {
          return;
        }
        batch = takeAll();
      } while (batch.isEmpty());
    }
    doAll(batch);
    handOver();
  }

  private void handOver() {
    while (true) {
      Request eldest = word.get();
      if (isIdle(eldest)) {
        if (word.compareAndSet(IDLE, null)) {
          return;
        }
      } else {
        while (eldest != null && eldest.next != null && !isIdle(eldest.next)) {
          eldest = eldest.next;
        }
        if (eldest != null) {
          eldest.change(Request.State.LEADS); // it takes all, itself as well
        }
        return;
      }
    }
  }

  private void doAll(List<R> batch) {
    Request.State next = Request.State.DONE;
    try {
      work.accept(batch);
    } catch (Throwable thrown) { // of a transaction: none of them was carried out
      if (batch.size() > 1 && mayBeRepeated.test(thrown)) {
        next = Request.State.ALONE;
      } else {
        for (R each : batch) {
          each.failed(thrown);
        }
      }
    } finally {
      for (R each : batch) {
        ((Request) each).change(next);
      }
    }
  }
}
