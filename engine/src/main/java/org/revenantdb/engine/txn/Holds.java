package org.revenantdb.engine.txn;

import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The things that one transaction holds, compared by identity. They must not be removed before it
 * has ended. Reused by the next transaction.
 *
 * <p>Threads: the transaction's threads, one at a time, enter and clear; any thread may query.
 * {@link #enter} ends with a full fence. One thread enters a thing and then checks whether the
 * thing is being removed. Another thread announces the removal, makes a full fence, and then
 * queries. They cannot both miss each other.
 */
public final class Holds {
  private static final VarHandle THREAD =
      ConstantBootstraps.fieldVarHandle(
          MethodHandles.lookup(), "thread", VarHandle.class, Holds.class, long.class);

  private static final int USUAL = 8;

  /** Without gaps. */
  private volatile AtomicReferenceArray<@Nullable Object> held = new AtomicReferenceArray<>(USUAL);

  private int count;

  /** The id of the thread that used this object last. */
  private volatile long thread;

  /** Makes an object without things. */
  public Holds() {}

  /** Records that this thread was the last one to use this object. */
  public void useHere() {
    THREAD.setOpaque(this, Thread.currentThread().threadId());
  }

  /**
   * Whether a thing was entered. For the entering thread; also records this thread as the last
   * user.
   */
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

  /**
   * Removes all things when the transaction has ended. A thread that no longer finds a thing knows
   * that the transaction has ended.
   */
  public void clear() {
    while (count > 0) {
      leave();
    }
  }

  /** Whether a thing is held; for any thread. */
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

  /** Visits all held things; for the thread that enters and leaves. */
  public void forEach(Consumer<Object> visitor) {
    AtomicReferenceArray<@Nullable Object> now = held;
    for (int i = 0; i < count; i++) {
      visitor.accept(Objects.requireNonNull(now.getPlain(i)));
    }
  }

  /** The id of the thread that used this object last. */
  public long thread() {
    return thread;
  }
}
