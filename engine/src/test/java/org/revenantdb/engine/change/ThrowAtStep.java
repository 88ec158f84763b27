package org.revenantdb.engine.change;

/** Throws once, when this thread comes to a place. */
public final class ThrowAtStep implements AutoCloseable {
  private final Journal journal;
  private boolean thrown;

  /** Throws that error at that place. */
  public ThrowAtStep(Journal journal, ChangeSteps.Step at, Error error) {
    this.journal = journal;
    Thread thread = Thread.currentThread();
    journal.steps =
        step -> {
          if (Thread.currentThread() == thread && step == at && !thrown) {
            thrown = true;
            throw error;
          }
        };
  }

  /** Whether the place was passed. */
  public boolean hasThrown() {
    return thrown;
  }

  @Override
  public void close() {
    journal.steps = ChangeSteps.NONE;
  }
}
