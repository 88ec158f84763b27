package org.revenantdb.chaos.agent;

import org.jspecify.annotations.Nullable;

/**
 * Receives the calls of native methods. It never throws.
 *
 * <p>It is on the boot loader, so it uses classes of {@code java.base} only.
 */
public interface CallListener {

  /**
   * A native method is about to be called.
   *
   * @param number of the method, in {@link NativeCalls}
   * @return what {@link #after} receives, or null if that is not to be called
   */
  @Nullable Object before(
      int number,
      @Nullable Object one,
      @Nullable Object two,
      @Nullable Object three,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f);

  /**
   * The method has returned.
   *
   * @param begun what {@link #before} returned
   * @param result its number; 0 if it has none
   */
  void after(Object begun, long result);

  /**
   * The method has thrown.
   *
   * @param begun what {@link #before} returned
   */
  void failed(Object begun);
}
