package org.revenantdb.chaos.subject;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Which exceptions are a word of a store, and which only show that it stumbled. */
final class Refusals {

  private Refusals() {}

  /**
   * Tells a clear refusal from a stumble.
   *
   * @param failure what was thrown
   * @return true if somebody meant to say that the files are bad
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
