package org.revenantdb.chaos.crash;

import java.nio.file.Path;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/** A subject over a {@link CellStore}. */
class CellSubject implements CrashSubject<CellStore> {

  @Override
  public CellStore open(Path dir) throws Exception {
    return CellStore.open(dir, /* deletesFirst= */ false);
  }

  @Override
  public void work(CellStore store, Promises promises) throws Exception {
    for (int i = 0; i < 2; i++) {
      String value = promises.seed() + "." + i;
      promises.attempt("a", value);
      store.put("a", value);
      promises.durable("a", value);
    }
  }

  @Override
  public void check(CellStore store, Recovered recovered) {
    recovered.verify(store::get);
  }
}
