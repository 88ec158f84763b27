package org.revenantdb.recovery.file;

import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Errands in the order in which they came. Nothing here allocates. One thread at a time: the caller
 * has a lock.
 *
 * @param <T> the kind of errand
 */
public final class ErrandQueue<T extends Errand> {
  private @Nullable T first;
  private @Nullable T last;

  /** An empty queue. */
  public ErrandQueue() {}

  /**
   * Whether there is none.
   *
   * @return true if it is empty
   */
  public boolean isEmpty() {
    return first == null;
  }

  /**
   * The one that came first; it stays.
   *
   * @return null if there is none
   */
  public @Nullable T first() {
    return first;
  }

  /**
   * The one that came after another.
   *
   * @param errand one of the queue
   * @return null if it is the last
   */
  @SuppressWarnings("unchecked") // only T are put in
  public @Nullable T after(T errand) {
    return (T) errand.next;
  }

  /**
   * Puts one at the end.
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
   * Takes the first one out.
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
   * Takes those out that are over, and tells them so.
   *
   * @param isOver which ones
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
   * Takes all out, and tells them why they come to nothing.
   *
   * @param cause why
   */
  public void finishAll(Throwable cause) {
    for (T errand = take(); errand != null; errand = take()) {
      errand.finish(cause);
    }
  }
}
