package org.revenantdb.chaos.teeth;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/**
 * The work for crash tests of a {@link TinyStore}: single puts and removals of few keys, enough for
 * several switches of the log. The values differ, and are as often shorter as longer than a sector.
 */
abstract class TinyStoreSubject implements CrashSubject<TinyStore> {

  private static final int STEPS = 64;
  private static final int STEPS_AFTER_A_CRASH = 3;
  private static final int KEYS = 9;
  private static final int LONGEST = 1_000;

  private final Flaw flaw;

  TinyStoreSubject(Flaw flaw) {
    this.flaw = flaw;
  }

  @Override
  public final TinyStore open(Path dir) throws IOException {
    return TinyStore.open(dir, flaw);
  }

  @Override
  public final void work(TinyStore store, Promises promises) throws IOException {
    work(store, promises, STEPS);
  }

  @Override
  public final void resume(TinyStore store, Promises promises) throws IOException {
    work(store, promises, STEPS_AFTER_A_CRASH);
  }

  private static void work(TinyStore store, Promises promises, int steps) throws IOException {
    RandomGenerator random = promises.random();
    for (int step = 0; step < steps; step++) {
      String key = "key " + random.nextInt(KEYS);
      if (random.nextInt(8) == 0) {
        promises.attempt(key, null);
        store.remove(key);
        promises.durable(key, null);
      } else {
        // The seed differs from life to life, so no value is ever written twice.
        String value =
            promises.seed() + ", step " + step + " " + "x".repeat(random.nextInt(LONGEST));
        promises.attempt(key, value);
        store.put(key, value);
        promises.durable(key, value);
      }
    }
  }

  @Override
  public final void check(TinyStore store, Recovered recovered) {
    recovered.verifyAll(store.content());
  }

  @Override
  public final List<Class<?>> code() {
    return List.of(TinyStore.class);
  }
}
