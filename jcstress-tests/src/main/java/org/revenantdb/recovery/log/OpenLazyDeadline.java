package org.revenantdb.recovery.log;

import org.jspecify.annotations.NullMarked;

/** Gives the jcstress tests access to the package-private deadline of lazy commits. */
@NullMarked
public final class OpenLazyDeadline {
  private final LazyDeadline deadline = new LazyDeadline();

  /** No force is requested. */
  public OpenLazyDeadline() {}

  /** Requests a force some time from now. */
  public boolean request(long nanos) {
    return deadline.request(nanos, () -> 1);
  }

  /** Takes the request. */
  public boolean take() {
    return deadline.take();
  }
}
