package org.revenantdb.suite.crash;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.crash.Together;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/** Several concurrent sessions, each in its own thread, and the exception of one of them. */
final class Sessions {

  /** The work of one session. */
  @FunctionalInterface
  interface Body {
    /** Works to the end. */
    void run(Worker worker, RandomGenerator random);
  }

  private final Database db;
  private final Promises promises;
  private int started;

  Sessions(Database db, Promises promises) {
    this.db = db;
    this.promises = promises;
  }

  /** A session for the calling thread. */
  Worker worker() {
    return new Worker(db, promises, promises.seed(), started++);
  }

  /** Runs sessions side by side, and other work meanwhile; returns when all have ended. */
  void together(int count, Body body, Runnable meanwhile) {
    Together together = new Together();
    for (int i = 0; i < count; i++) {
      int number = started;
      Worker worker = worker();
      RandomGenerator random = new SplittableRandom(Seeds.of(promises.seed(), number));
      together.start("session-" + number, () -> body.run(worker, random));
    }
    together.run(meanwhile);
    together.await();
  }
}
