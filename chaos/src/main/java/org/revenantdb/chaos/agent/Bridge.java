package org.revenantdb.chaos.agent;

import org.jspecify.annotations.Nullable;

/**
 * What changed classes of {@code java.base} call. It is on the boot loader.
 *
 * <p>Threads: any.
 */
public final class Bridge {

  private static volatile @Nullable CallListener listener;

  private Bridge() {}

  /**
   * Sets what receives the calls.
   *
   * @param receiver null: they are dropped
   */
  public static void listener(@Nullable CallListener receiver) {
    listener = receiver;
  }

  /** A native method is about to be called; see {@link CallListener#before}. */
  public static @Nullable Object before(
      int number,
      @Nullable Object one,
      @Nullable Object two,
      @Nullable Object three,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f) {
    CallListener to = listener;
    return to == null ? null : to.before(number, one, two, three, a, b, c, d, e, f);
  }

  /** It has returned. */
  public static void after(@Nullable Object begun, long result) {
    CallListener to = listener;
    if (begun != null && to != null) {
      to.after(begun, result);
    }
  }

  /** It has thrown. */
  public static void failed(@Nullable Object begun) {
    CallListener to = listener;
    if (begun != null && to != null) {
      to.failed(begun);
    }
  }
}
