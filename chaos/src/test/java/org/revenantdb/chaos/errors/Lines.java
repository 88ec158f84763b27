package org.revenantdb.chaos.errors;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

/** The subjects of {@link LineFile}, one for each mistake. */
abstract class Lines implements CrashSubject<LineFile> {

  private static final int PUTS = 14;

  private final LineFile.Mistake mistake;

  Lines(LineFile.Mistake mistake) {
    this.mistake = mistake;
  }

  static final class Sound extends Lines {
    Sound() {
      super(LineFile.Mistake.NONE);
    }
  }

  static final class InstallsHalfAFile extends Lines {
    InstallsHalfAFile() {
      super(LineFile.Mistake.INSTALLS_HALF_A_FILE);
    }
  }

  static final class AllocatesBeforeTry extends Lines {
    AllocatesBeforeTry() {
      super(LineFile.Mistake.ALLOCATES_BEFORE_TRY);
    }
  }

  static final class CallsBeforeTry extends Lines {
    CallsBeforeTry() {
      super(LineFile.Mistake.CALLS_BEFORE_TRY);
    }
  }

  static final class ReleasesByACall extends Lines {
    ReleasesByACall() {
      super(LineFile.Mistake.RELEASES_BY_A_CALL);
    }
  }

  static final class ThreadDies extends Lines {
    ThreadDies() {
      super(LineFile.Mistake.THREAD_DIES);
    }
  }

  static final class InterruptsItself extends Lines {
    InterruptsItself() {
      super(LineFile.Mistake.INTERRUPTS_ITSELF);
    }
  }

  static final class OneAtATime extends Lines {
    OneAtATime() {
      super(LineFile.Mistake.ONE_AT_A_TIME);
    }
  }

  /** The store is sound, and the subject is not: it closes what only work has made. */
  static final class Forgets extends Lines {
    private int @Nullable [] made;

    Forgets() {
      super(LineFile.Mistake.NONE);
    }

    @Override
    public void work(LineFile store, Promises promises) throws IOException {
      super.work(store, promises);
      made = new int[1];
    }

    @Override
    public void check(LineFile store, Recovered recovered) {
      made = new int[1];
      super.check(store, recovered);
    }

    @Override
    @SuppressWarnings("NullAway") // the mistake
    public void close(LineFile store) throws IOException {
      made[0]++;
      store.close();
    }
  }

  @Override
  public LineFile open(Path dir) throws IOException {
    return new LineFile(dir, mistake);
  }

  @Override
  public void work(LineFile store, Promises promises) throws IOException {
    for (int i = 0; i < PUTS; i++) {
      String key = "key" + i % 5;
      String value = promises.seed() + "-" + i;
      promises.attempt(key, value);
      store.put(key, value);
      promises.durable(key, value);
    }
  }

  @Override
  public void check(LineFile store, Recovered recovered) {
    recovered.verify(store::get);
  }
}
