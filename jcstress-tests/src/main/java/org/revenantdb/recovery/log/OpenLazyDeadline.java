package org.revenantdb.recovery.log;

import org.jspecify.annotations.NullMarked;

/** The deadline of the lazy, which is package-private, for the jcstress tests. */
@NullMarked
public final class OpenLazyDeadline {
  private final LazyDeadline deadline = new LazyDeadline();

  /** Nobody has asked. */
  public OpenLazyDeadline() {}

  /** Asks for a force some time from now. */
  public boolean request(long nanos) {
    return deadline.request(nanos, () -> 1);
  }

  /** Takes what was asked for. */
  public boolean take() {
    return deadline.take();
  }
}
