package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.random.RandomGenerator;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/** A subject over a {@link LineStore}; subclasses break it in one way or another. */
class LineSubject implements CrashSubject<LineStore> {

  @Override
  public LineStore open(Path dir) throws Exception {
    return LineStore.open(dir);
  }

  @Override
  public void work(LineStore store, Promises promises) throws Exception {
    RandomGenerator random = promises.random();
    for (int i = 0; i < 40; i++) {
      put(store, promises, "k" + random.nextInt(12), promises.seed() + "." + i);
    }
  }

  static void put(LineStore store, Promises promises, String key, String value) throws IOException {
    promises.attempt(key, value);
    store.put(key, value);
    promises.durable(key, value);
  }

  @Override
  public void check(LineStore store, Recovered recovered) {
    recovered.verify(store::get);
  }
}
