package org.revenantdb.engine.buffer;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A log without bytes: it hands out LSNs and is durable as far as somebody waited for it. */
class FakeLog implements WriteAhead {
  static final int RECORD = 8;

  private final AtomicLong tail = new AtomicLong(RECORD);
  private final AtomicLong durable = new AtomicLong(RECORD);
  volatile @Nullable Throwable failure;

  /** Reserves and publishes a record; its LSN, that is, its end. */
  long append() {
    return tail.addAndGet(RECORD);
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
    if (durable.get() >= lsn) {
      return; // as the log does it: what is durable stays so when the log has stopped
    }
    Throwable cause = failure;
    if (cause != null) {
      throw new IllegalStateException("the log has stopped", cause);
    }
    if (lsn > tail.get()) {
      throw new AssertionError("nobody reserved " + lsn);
    }
    durable.accumulateAndGet(lsn, Math::max);
  }

  @Override
  public void fail(Throwable cause) {
    if (failure == null) {
      failure = cause;
    }
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }
}
