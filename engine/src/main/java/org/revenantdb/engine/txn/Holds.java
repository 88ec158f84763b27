package org.revenantdb.engine.txn;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What one transaction holds: things, told apart by identity, that may not go before it has ended.
 * Used again by the next transaction.
 *
 * <p>Threads: entered and cleared by the transaction's, one at a time; any may ask. {@link #enter}
 * ends with a full fence: who enters and then looks whether the thing is to go, and who says that
 * it is to go, makes a full fence and then asks, cannot both miss each other.
 */
public final class Holds {
  private static final VarHandle THREAD =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "thread", VarHandle.class, Holds.class, long.class);

  private static final int USUAL = 8;

  /** Without gaps. */
  private volatile AtomicReferenceArray<@Nullable Object> held = new AtomicReferenceArray<>(USUAL);

  private int count;

  /** The last thread, by its id, that used them. */
  private volatile long thread;

  /** None. */
  public Holds() {}

  /** Notes that this thread is the last to use them. */
  public void useHere() {
    THREAD.setOpaque(this, Thread.currentThread().threadId());
  }

  /** Whether a thing was entered, for who enters; notes that this thread is the last. */
  @SuppressWarnings("ReferenceEquality") // which thing it is
  public boolean has(Object thing) {
    useHere();
    AtomicReferenceArray<@Nullable Object> now = held;
    for (int i = count - 1; i >= 0; i--) {
      if (now.getPlain(i) == thing) {
        return true;
      }
    }
    return false;
  }

  /** Enters a thing that is not there yet. */
  public void enter(Object thing) {
    AtomicReferenceArray<@Nullable Object> now = held;
    if (count == now.length()) {
      AtomicReferenceArray<@Nullable Object> more = new AtomicReferenceArray<>(2 * count);
      for (int i = 0; i < count; i++) {
        more.setPlain(i, now.getPlain(i));
      }
      held = more;
      now = more;
    }
    now.setRelease(count++, thing);
    VarHandle.fullFence();
  }

  /** Takes back the last {@link #enter}. */
  public void leave() {
    held.setRelease(--count, null);
  }

  /** The transaction has ended: who asks and finds a thing no more knows that. */
  public void clear() {
    while (count > 0) {
      leave();
    }
  }

  /** Whether a thing is held, for anybody. */
  @SuppressWarnings("ReferenceEquality") // which thing it is
  public boolean holds(Object thing) {
    AtomicReferenceArray<@Nullable Object> now = held;
    for (int i = 0; i < now.length(); i++) {
      if (now.getAcquire(i) == thing) {
        return true;
      }
    }
    return false;
  }

  /** Is given all that is held, by who enters and leaves. */
  public void forEach(Consumer<Object> visitor) {
    AtomicReferenceArray<@Nullable Object> now = held;
    for (int i = 0; i < count; i++) {
      visitor.accept(Objects.requireNonNull(now.getPlain(i)));
    }
  }

  /** Id of the thread that was the last to use them. */
  public long thread() {
    return thread;
  }
}
