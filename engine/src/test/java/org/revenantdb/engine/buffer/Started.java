package org.revenantdb.engine.buffer;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Something that another thread does, and what came of it. */
final class Started<T> {
  private final FutureTask<T> task;

  private Started(FutureTask<T> task) {
    this.task = task;
  }

  static <T> Started<T> of(Callable<T> work) {
    FutureTask<T> task = new FutureTask<>(work);
    Thread.ofPlatform().daemon().start(task);
    return new Started<>(task);
  }

  static Started<Void> run(Runnable work) {
    return of(() -> {
      work.run();
      return null;
    });
  }

  boolean isDone() {
    return task.isDone();
  }

  T result() {
    try {
      return task.get();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } catch (ExecutionException failed) {
      throw Failures.rethrow(failed.getCause());
    }
  }
}
