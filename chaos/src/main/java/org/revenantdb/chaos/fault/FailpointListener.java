package org.revenantdb.chaos.fault;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The part of this process that receives the failpoints that are reached. There is at most one.
 *
 * <p>It is separate from {@link org.revenantdb.chaos.subject.Failpoint}, so that the code under
 * test sees only the method that it calls.
 *
 * <p>Threads: any.
 */
public final class FailpointListener {

  private static volatile @Nullable Consumer<String> current;

  private FailpointListener() {}

  /**
   * Sets the listener of this process.
   *
   * @param listener receives the name of each failpoint that is reached
   */
  public static void set(Consumer<String> listener) {
    current = listener;
  }

  /**
   * Passes a failpoint to the listener, if there is one.
   *
   * @param name of the failpoint
   */
  public static void reached(String name) {
    Consumer<String> listener = current;
    if (listener != null) {
      listener.accept(name);
    }
  }
}
