package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.opentest4j.TestAbortedException;
import org.revenantdb.chaos.hooks.AnyReplay;
import org.revenantdb.chaos.run.Debugged;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.run.Workers;
import org.revenantdb.chaos.subject.FileAccess;
import org.revenantdb.chaos.trace.CallStack;

/** Opens the file of a failure again. Passes if the store survives it now. */
final class ReplayCase implements NamedCase {

  private final Class<?> type;
  private final Path file;
  private final Duration limit;
  private final boolean onRealDisk;
  private final boolean isolated;
  private final List<String> flags;
  private final int debug;

  ReplayCase(Class<?> type, Path file, CrashTestSettings settings) {
    this.type = type;
    this.file = file;
    this.limit = settings.limit();
    this.onRealDisk = settings.files() == FileAccess.ANY;
    this.isolated = settings.isolated();
    this.flags = settings.jvmFlags();
    this.debug = settings.debug();
  }

  @Override
  public String name() {
    return "replay of " + file.getFileName();
  }

  @Override
  public String tries() {
    return "a state that failed is opened again";
  }

  @Override
  public void run() {
    try {
      replay();
    } catch (IOException e) { // the message explains it; the stack adds nothing
      throw new AssertionError("nothing was replayed: " + e.getMessage());
    }
  }

  private void replay() throws IOException {
    FailureFile failure = FailureFile.read(file);
    if (!failure.subject().equals(type.getName())) {
      String why = file + " is a failure of " + failure.subject();
      System.out.println(type.getSimpleName() + ", " + name() + ": skipped, " + why);
      throw new TestAbortedException(why);
    }
    StateResult result;
    List<String> ofJvm = debug == 0 ? flags : Debugged.flags(flags, debug); // the port is free
    if (debug != 0) {
      System.out.printf(
          "%s, %s: stops before the store is opened; connect a debugger to localhost:%d%n",
          type.getSimpleName(), name(), debug);
    }
    if (onRealDisk) {
      result = AnyReplay.replay(failure, ofJvm, debug == 0 ? limit : Debugged.LIMIT);
    } else if (debug != 0) {
      result = inOtherJvm(failure, ofJvm, Debugged.LIMIT);
    } else if (isolated) {
      result = inOtherJvm(failure, ofJvm, limit);
    } else {
      result = failure.replay(limit);
    }
    if (!result.survived()) {
      String thrown = result.failure() == null ? "" : CallStack.text(result.failure());
      throw new AssertionError(
          new OutcomeText(type, name(), failure.seed())
              .replayed(result.verdict(), result.findings(), failure.story() + "\n" + thrown));
    }
  }

  private StateResult inOtherJvm(FailureFile failure, List<String> ofJvm, Duration ofStep)
      throws IOException {
    try (Workers workers = Workers.inMemory(type, ofJvm, ofStep, Workers.IMAGES);
        ImageChecker checker = workers.get()) {
      return checker.check(failure.image().fork(), failure.promises(), failure.seq());
    }
  }
}
