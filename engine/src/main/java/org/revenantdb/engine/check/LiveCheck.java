package org.revenantdb.engine.check;

import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.OperationGate;
import org.revenantdb.latch.PatientLock;

/**
 * Runs a check while other threads go on. It stops them for a moment to freeze the present state.
 * It stops them again, until the end, only if they change more than can be kept.
 *
 * <p>Threads: any, one after the other. {@link #run} needs a thread that may read files.
 */
public final class LiveCheck {
  /*
   * State of a run   paused      gate            next
   * freezing         yes         paused by us    checking beside others
   * beside others    no          entered by us   checking alone: leave, pause | end: leave
   * alone            yes         paused by us    end: resume
   *
   * While the check is inside, a close cannot remove the pages. The check looks for a waiting close before each page,
   * and then ends. Leaving and pausing are two steps: a close may come in between, and then the pause is refused.
   */
  private static final int OUTSIDE = -1;

  private final PatientLock one = new PatientLock();
  private final Engine engine;
  private final OperationGate gate;
  private final Runnable beforePage;

  // State of the run, under the lock.
  private int stripe = OUTSIDE;
  private boolean paused;

  public LiveCheck(Engine engine) {
    this(engine, () -> {});
  }

  /** For tests, which run an action before each page. */
  public LiveCheck(Engine engine, Runnable beforePage) {
    this.engine = engine;
    this.beforePage = beforePage;
    this.gate = engine.gate();
  }

  /** Checks the database. */
  public CheckReport run() {
    // A second pause would wait inside the gate for the first check, and all threads with it.
    one.lock();
    try {
      pause();
      try (FrozenDatabase frozen = new FrozenDatabase(engine.storage())) {
        goOnBesideOthers();
        return new Checker(engine.storage(), frozen, () -> step(frozen)).check();
      }
    } finally {
      leave();
      one.unlock();
    }
  }

  private void pause() {
    if (!gate.pause()) {
      throw OperationGate.closed();
    }
    paused = true;
  }

  private void goOnBesideOthers() {
    paused = false;
    gate.resume();
    stripe = gate.enter();
  }

  private void step(FrozenDatabase frozen) {
    beforePage.run();
    if (paused) {
      return;
    }
    if (gate.isClosed()) {
      throw OperationGate.closed();
    }
    if (frozen.isFull()) {
      leave();
      pause();
    }
  }

  private void leave() {
    if (paused) {
      paused = false;
      gate.resume();
    }
    if (stripe != OUTSIDE) {
      int inside = stripe;
      stripe = OUTSIDE;
      gate.exit(inside);
    }
  }
}
