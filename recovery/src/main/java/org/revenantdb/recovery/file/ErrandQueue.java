package org.revenantdb.recovery.file;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A first-in first-out queue of errands. No method allocates. For one thread at a time: the caller
 * holds a lock.
 *
 * @param <T> the kind of errand
 */
public final class ErrandQueue<T extends Errand> {
  private @Nullable T first;
  private @Nullable T last;

  /** An empty queue. */
  public ErrandQueue() {}

  /**
   * Whether the queue is empty.
   *
   * @return true if it is empty
   */
  public boolean isEmpty() {
    return first == null;
  }

  /**
   * The first errand; it stays in the queue.
   *
   * @return null if there is none
   */
  public @Nullable T first() {
    return first;
  }

  /**
   * The errand after another one.
   *
   * @param errand one of the queue
   * @return null if it is the last
   */
  @SuppressWarnings("unchecked") // only T are put in
  public @Nullable T after(T errand) {
    return (T) errand.next;
  }

  /**
   * Appends an errand.
   *
   * @param errand one that is in no queue
   */
  public void push(T errand) {
    errand.next = null;
    T before = last;
    if (before == null) {
      first = errand;
    } else {
      before.next = errand;
    }
    last = errand;
  }

  /**
   * Removes and returns the first errand.
   *
   * @return null if there is none
   */
  public @Nullable T take() {
    T taken = first;
    if (taken != null) {
      first = after(taken);
      if (first == null) {
        last = null;
      }
      taken.next = null;
    }
    return taken;
  }

  /**
   * Removes the errands that are over, and finishes them.
   *
   * @param isOver selects them
   */
  public void finishIf(Predicate<T> isOver) {
    T before = null;
    T errand = first;
    while (errand != null) {
      T following = after(errand);
      if (isOver.test(errand)) {
        if (before == null) {
          first = following;
        } else {
          before.next = following;
        }
        if (following == null) {
          last = before;
        }
        errand.next = null;
        errand.finish(null);
      } else {
        before = errand;
      }
      errand = following;
    }
  }

  /**
   * Removes all errands, and finishes them with a failure.
   *
   * @param cause the failure
   */
  public void finishAll(Throwable cause) {
    for (T errand = take(); errand != null; errand = take()) {
      errand.finish(cause);
    }
  }
}
