package org.revenantdb.engine.check;

import org.revenantdb.engine.CheckReport;
import org.revenantdb.engine.session.Engine;
import org.revenantdb.engine.session.OperationGate;
import org.revenantdb.latch.PatientLock;

/**
 * Runs a check while others go on: stops them for a moment to freeze what is there, and again,
 * until the end, only if they change more than can be kept.
 *
 * <p>Threads: any; one after the other. {@link #run} on a thread that may read files.
 */
public final class LiveCheck {
  /*
   * State of a run   paused      gate            next
   * freezing         yes         paused by us    checking beside others
   * beside others    no          entered by us   checking alone: leave, pause | end: leave
   * alone            yes         paused by us    end: resume
   *
   * Being inside keeps a close from taking the pages away; a close that waits is seen before each page and ends the
   * check. Leaving and pausing are two steps: a close may come in between, and then the pause is refused.
   */
  private static final int OUTSIDE = -1;

  private final PatientLock one = new PatientLock();
  private final Engine engine;
  private final OperationGate gate;
  private final Runnable beforePage;

  // Of the run, under the lock.
  private int stripe = OUTSIDE;
  private boolean paused;

  public LiveCheck(Engine engine) {
    this(engine, () -> {});
  }

  /** For tests, which do something before each page. */
  public LiveCheck(Engine engine, Runnable beforePage) {
    this.engine = engine;
    this.beforePage = beforePage;
    this.gate = engine.gate();
  }

  /** Checks the database. */
  public CheckReport run() {
    one.lock(); // a second pause would wait for the first check inside the gate, and all with it
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
