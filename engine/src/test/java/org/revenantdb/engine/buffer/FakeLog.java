package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A log without bytes: it hands out LSNs and is durable as far as somebody waited for it. */
class FakeLog implements WriteAhead {
  private final AtomicLong tail = new AtomicLong(8);
  private final AtomicLong durable = new AtomicLong(8);
  volatile @Nullable Throwable failure;

  /** Reserves and publishes a record; its LSN. */
  long append() {
    return tail.addAndGet(8);
  }

  @Override
  public long tail() {
    return tail.get();
  }

  @Override
  public long durableLsn() {
    return durable.get();
  }

  @Override
  public void awaitDurable(long lsn) {
    if (failure != null) {
      throw new IllegalStateException("the log has stopped", failure);
    }
    if (lsn > tail.get()) {
      throw new AssertionError("nobody reserved " + lsn);
    }
    durable.accumulateAndGet(lsn, Math::max);
  }

  @Override
  public void fail(Throwable cause) {
    failure = cause;
  }
}
