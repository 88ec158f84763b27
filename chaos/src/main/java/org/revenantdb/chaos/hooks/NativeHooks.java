package org.revenantdb.chaos.hooks;

import java.nio.file.Path;
import java.util.List;

/** Records by {@link Hooks}. */
final class NativeHooks implements ProcessRecorder {

  @Override
  public void install(Path trial, Tape onto) throws Throwable {
    Hooks.install(trial, onto);
  }

  @Override
  public void start(Path directory, Tape onto, Faults injected, boolean countsOpenings)
      throws Throwable {
    Hooks.start(directory, onto, injected, countsOpenings);
  }

  @Override
  public void continueIn(Path directory, Tape onto, long lastPlace, List<Path> existing)
      throws Throwable {
    Hooks.continueIn(directory, onto, lastPlace, existing);
  }

  @Override
  public Journal journal() {
    return Hooks.journal();
  }

  @Override
  public void end(int code) {
    try {
      Libc.exit(code);
    } catch (LinkageError | RuntimeException unsupported) {
      // This process could not be hooked, so no thread of a native library is attached.
      Runtime.getRuntime().halt(code);
    }
  }
}
