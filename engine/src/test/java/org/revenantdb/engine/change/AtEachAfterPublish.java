package org.revenantdb.engine.change;

/** Runs at each place that this thread passes between publishing and the last change. */
public final class AtEachAfterPublish implements AutoCloseable {
  private final Thread thread = Thread.currentThread();

  /** Runs that. */
  public AtEachAfterPublish(Runnable look) {
    AfterPublish.set(() -> {
      if (Thread.currentThread() == thread) {
        look.run();
      }
    });
  }

  @Override
  public void close() {
    AfterPublish.set(null);
  }
}
