package org.revenantdb.chaos.run;

import java.nio.file.Path;
import java.util.List;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.chaos.teeth.BrokenSubjects;
import org.revenantdb.chaos.teeth.TinyStore;

/** A correct tiny store, for tests to break in one method. */
public class HonestTiny implements CrashSubject<TinyStore> {

  private final CrashSubject<TinyStore> honest = new BrokenSubjects.Honest();

  @Override
  public TinyStore open(Path dir) throws Exception {
    return honest.open(dir);
  }

  @Override
  public void work(TinyStore store, Promises promises) throws Exception {
    honest.work(store, promises);
  }

  @Override
  public void check(TinyStore store, Recovered recovered) throws Exception {
    honest.check(store, recovered);
  }

  @Override
  public void resume(TinyStore store, Promises promises) throws Exception {
    honest.resume(store, promises);
  }

  @Override
  public List<Class<?>> code() {
    return honest.code();
  }
}
