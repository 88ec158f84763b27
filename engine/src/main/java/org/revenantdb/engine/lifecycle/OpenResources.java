package org.revenantdb.engine.lifecycle;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The resources of an open database: a stack, closed from the top. So a thread ends before its
 * objects are closed, and the lock of the directory is released last.
 *
 * <p>Threads: one at a time.
 */
final class OpenResources {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** Creates an empty stack. */
  OpenResources() {}

  /** Pushes a resource that was just opened, and returns it. */
  <T extends AutoCloseable> T opened(T resource) {
    open.push(resource);
    return resource;
  }

  boolean contains(AutoCloseable resource) {
    return open.contains(resource);
  }

  /** Closes all, even after failures; returns the first failure, which includes the others. */
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
