package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.fault.FaultPoint;
import org.revenantdb.chaos.run.ErrorFaults;
import org.revenantdb.chaos.run.LifeRecorder;
import org.revenantdb.chaos.run.Recording;
import org.revenantdb.chaos.run.Subjects;
import org.revenantdb.chaos.run.Workers;
import org.revenantdb.chaos.subject.CrashSubject;

/**
 * The recorded lives of one test class, and the JVMs that open their images. The first test that
 * needs them makes them.
 *
 * <p>Threads: any; the tests of a class may run in parallel.
 */
final class SharedRecording implements AutoCloseable {

  private final Class<?> type;
  private final CrashTestSettings settings;
  private @Nullable Recording recording;
  private @Nullable List<Recording> deaths;
  private @Nullable Recording counted;
  private @Nullable Workers workers;
  private @Nullable ErrorFaults<Object> errors;
  private final FaultPoint.Counter possible = new FaultPoint.Counter();

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
      made = recorder().record();
      recording = made;
    }
    return made;
  }

  /** The recordings in which a process dies; empty if even {@link #get} is unusable. */
  synchronized List<Recording> deaths(int count) throws IOException {
    List<Recording> made = deaths;
    if (made == null) {
      made = get().usable() && count > 0 ? recorder().recordDeaths(count) : List.of();
      deaths = made;
    }
    return made;
  }

  /** A life in which {@link #possible} counts, usable or with the reason why not. */
  synchronized Recording counted() throws IOException {
    Recording made = counted;
    if (made == null) {
      made =
          new LifeRecorder<>(subjects(), settings.seed(), /* lives= */ 1, settings.limit())
              .watchedBy(possible)
              .record();
      counted = made;
    }
    return made;
  }

  /** Where faults are possible in one life, once it is {@link #counted}. */
  FaultPoint.Counter possible() {
    return possible;
  }

  /** The lives with errors in code, which share the changed classes. */
  synchronized ErrorFaults<Object> errors() {
    ErrorFaults<Object> made = errors;
    if (made == null) {
      made = new ErrorFaults<>(type, settings.errorsIn(), settings.faultCuts());
      errors = made;
    }
    return made;
  }

  /** The JVMs that open images, if they are isolated. */
  synchronized Workers workers() throws IOException {
    Workers made = workers;
    if (made == null) {
      made = Workers.inMemory(type, settings.jvmFlags(), settings.limit(), settings.imagesPerJvm());
      workers = made;
    }
    return made;
  }

  /** Returns what the JVMs that open images showed, for reports; empty if nothing. */
  synchronized String leaks() {
    Workers made = workers;
    return made == null || made.leaks() == 0
        ? ""
        : "%d failures only in JVMs that had opened other images, which do not count"
            .formatted(made.leaks());
  }

  @Override
  public synchronized void close() {
    Workers made = workers;
    if (made != null) {
      made.close();
      workers = null;
    }
  }

  private LifeRecorder<Object> recorder() {
    return new LifeRecorder<>(subjects(), settings.seed(), settings.lives(), settings.limit())
        .jvmFlags(settings.jvmFlags());
  }
}
