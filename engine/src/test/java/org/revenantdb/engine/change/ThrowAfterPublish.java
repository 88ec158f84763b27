package org.revenantdb.engine.change;

import java.util.concurrent.atomic.AtomicInteger;

/** Throws at one of the places that this thread passes between publishing and the last change. */
public final class ThrowAfterPublish implements AutoCloseable {
  private final Journal journal;
  private final Thread thread = Thread.currentThread();
  private final AtomicInteger passed = new AtomicInteger();

  /** Throws at the place of that number, the first is 0; before that it does something else. */
  public ThrowAfterPublish(Journal journal, int place, Error thrown, Runnable before) {
    this.journal = journal;
    journal.steps =
        step -> {
          if (Thread.currentThread() == thread && passed.getAndIncrement() == place) {
            before.run();
            throw thrown;
          }
        };
  }

  /** How many places were passed. */
  public int passed() {
    return passed.get();
  }

  @Override
  public void close() {
    journal.steps = ChangeSteps.NONE;
  }
}
