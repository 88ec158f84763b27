package org.revenantdb.chaos.subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Separates exceptions that report damage on purpose from those that bad bytes cause by accident.
 */
final class Refusals {

  private Refusals() {}

  /**
   * Returns whether an exception is a deliberate report of damage.
   *
   * @param failure what was thrown
   * @return true if it was thrown to report that the files are damaged
   */
  static boolean isClear(Throwable failure) {
    Throwable said = failure;
    for (@Nullable Throwable cause; (cause = said.getCause()) != null && onlyWraps(said); ) {
      said = cause;
    }
    return said instanceof IOException || (said instanceof Exception && !isOfTheJdk(said));
  }

  private static boolean onlyWraps(Throwable failure) {
    return failure instanceof UncheckedIOException
        || failure instanceof ExecutionException
        || failure instanceof CompletionException;
  }

  private static boolean isOfTheJdk(Throwable failure) {
    String name = failure.getClass().getName();
    return name.startsWith("java.") || name.startsWith("javax.") || name.startsWith("jdk.");
  }
}
