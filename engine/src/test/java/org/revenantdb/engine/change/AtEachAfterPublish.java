package org.revenantdb.engine.change;

/** Runs at each place that this thread passes between publishing and the last change. */
public final class AtEachAfterPublish implements AutoCloseable {
  private final Journal journal;
  private final Thread thread = Thread.currentThread();

  /** Runs that. */
  public AtEachAfterPublish(Journal journal, Runnable look) {
    this.journal = journal;
    journal.steps =
        step -> {
          if (Thread.currentThread() == thread) {
            look.run();
          }
        };
  }

  @Override
  public void close() {
    journal.steps = ChangeSteps.NONE;
  }
}
