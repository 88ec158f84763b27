package org.revenantdb.engine.lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What an open database has opened: a stack, closed from the top. So a thread ends before what it
 * works on is closed, and the lock of the directory is given up last.
 *
 * <p>Threads: one at a time.
 */
final class OpenResources {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** None. */
  OpenResources() {}

  /** Pushes what was opened just now, and returns it. */
  <T extends AutoCloseable> T opened(T resource) {
    open.push(resource);
    return resource;
  }

  boolean contains(AutoCloseable resource) {
    return open.contains(resource);
  }

  /** Closes all, whatever happens on the way; returns the first failure, which has the others. */
  @Nullable Throwable close(@Nullable Throwable before) {
    Throwable failure = before;
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Throwable e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    return failure;
  }
}
