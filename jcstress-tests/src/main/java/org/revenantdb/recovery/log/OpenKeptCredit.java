package org.revenantdb.recovery.log;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;

/** Gives the jcstress tests access to package-private kept credit. */
@NullMarked
public final class OpenKeptCredit implements KeptCredit.Grants {
  private final KeptCredit kept = new KeptCredit(this, Integer.MAX_VALUE, Integer.MAX_VALUE);
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger released = new AtomicInteger();

  /** Nothing is kept, no thread waits. */
  public OpenKeptCredit() {}

  @Override
  public boolean isCalm() {
    return true;
  }

  @Override
  public boolean isAwaited() {
    return waiting.get() != 0;
  }

  @Override
  public void release(int bytes, int pages) {
    released.getAndAdd(bytes);
  }

  /** Gives back credit of one byte and one page. */
  public void giveBack() {
    if (!kept.keep(1, 1)) {
      release(1, 1);
    }
  }

  /** Takes kept credit. */
  public boolean take() {
    return kept.take(1, 1);
  }

  /** Registers a waiting thread, like a push on the stack of waiters. */
  public void waits() {
    waiting.compareAndSet(0, 1);
  }

  /** Takes back all that is kept. */
  public boolean takeBack() {
    return kept.takeBack();
  }

  /** The credit that was released to all threads. */
  public int released() {
    return released.get();
  }
}
