package org.example.settings;

import java.io.IOException;
import java.nio.file.Path;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

@CrashTest(
    files = FileAccess.ANY,
    crash = {Crash.POWER_CUT, Crash.PROCESS_DEATH},
    states = 150)
class LogStoreTest implements CrashSubject<LogStore> {

  public LogStore open(Path dir) throws IOException {
    return new LogStore(dir.toFile());
  }

  public void work(LogStore store, Promises promises) throws IOException {
    for (int i = 0; i < 20; i++) {
      store.put("key" + i % 3, "value " + i + " of life " + promises.seed());
      promises.durable("key" + i % 3, "value " + i + " of life " + promises.seed());
    }
  }

  public void check(LogStore store, Recovered recovered) {
    recovered.verify(store::get);
  }
}
