package org.revenantdb.chaos.inject;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What changed classes call. Each {@link InjectedClasses} defines this class once more, so its
 * static state belongs to one loader. It uses classes of the JDK only, because the rest of its
 * package belongs to another loader then.
 */
public final class Hook {

  /** Receives the number of each point that is reached; null: nobody does. */
  @SuppressWarnings("NonFinalStaticField") // set when a life begins
  public static volatile @Nullable IntConsumer injector;

  private Hook() {}

  /**
   * Called by changed classes at each point.
   *
   * @param site the number of the point
   */
  public static void reached(int site) {
    IntConsumer now = injector;
    if (now != null) {
      now.accept(site);
    }
  }
}
