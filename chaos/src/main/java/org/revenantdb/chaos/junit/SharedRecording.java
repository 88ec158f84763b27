package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.subject.CrashSubject;

/**
 * The recorded lives of one test class, made when the first of its tests needs them.
 *
 * <p>Threads: any; the tests of a class may run in parallel.
 */
final class SharedRecording {

  private final Class<?> type;
  private final CrashTestSettings settings;
  private @Nullable Recording recording;

  SharedRecording(Class<?> type, CrashTestSettings settings) {
    this.type = type;
    this.settings = settings;
  }

  Supplier<CrashSubject<Object>> subjects() {
    return Subjects.of(type);
  }

  synchronized Recording get() throws IOException {
    Recording made = recording;
    if (made == null) {
      made =
          new LifeRecorder<>(subjects(), settings.seed(), settings.lives(), settings.limit())
              .record();
      recording = made;
    }
    return made;
  }
}
