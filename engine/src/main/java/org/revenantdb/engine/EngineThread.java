package org.revenantdb.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.revenantdb.recovery.file.FileThread;

/**
 * Runs file work on a platform thread of its own: an interrupt of the caller's thread would close
 * the files' channels.
 */
final class EngineThread {
  private EngineThread() {}

  /** Runs an action and waits for it, keeping the caller's interrupt status. */
  static <T> T call(String name, Supplier<T> action) {
    CompletableFuture<T> result = new CompletableFuture<>();
    FileThread.of(
            name,
            () -> {
              try {
                result.complete(action.get());
              } catch (Throwable failure) {
                result.completeExceptionally(failure);
              }
            })
        .start();
    try {
      return result.join();
    } catch (CompletionException e) {
      // join is not disturbed by interrupts
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }
}
