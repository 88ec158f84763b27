package org.revenantdb.chaos.revenant.suite;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.engine.Database;

/** Several sessions at once, each in a thread of its own, and what one of them threw. */
final class Sessions {

  /** What one session does. */
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

  /** Runs sessions side by side, and something else meanwhile; returns when all have ended. */
  void together(int count, Body body, Runnable meanwhile) {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = started;
      Worker worker = worker();
      RandomGenerator random = new java.util.SplittableRandom(Seeds.of(promises.seed(), number));
      threads.add(
          Thread.ofPlatform()
              .name("session-" + number)
              .start(() -> {
                try {
                  body.run(worker, random);
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              }));
    }
    try {
      meanwhile.run();
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
    }
    threads.forEach(Sessions::join);
    rethrow(failure.get());
  }

  private static void join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void rethrow(@Nullable Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }
}
