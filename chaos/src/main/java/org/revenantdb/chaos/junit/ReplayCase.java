package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.nio.file.Path;
import org.opentest4j.TestAbortedException;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.trace.CallStack;

/** A failure's file, opened once more: green if the store survives it now. */
final class ReplayCase implements NamedCase {

  private final Class<?> type;
  private final Path file;

  ReplayCase(Class<?> type, Path file) {
    this.type = type;
    this.file = file;
  }

  @Override
  public String name() {
    return "replay of " + file.getFileName();
  }

  @Override
  public void run() throws IOException {
    FailureFile failure = FailureFile.read(file);
    if (!failure.subject().equals(type.getName())) {
      throw new TestAbortedException(file + " is a failure of " + failure.subject());
    }
    StateResult result = failure.replay();
    if (!result.survived()) {
      String thrown = result.failure() == null ? "" : CallStack.text(result.failure());
      throw new AssertionError(
          new OutcomeText(type, name(), failure.seed())
              .replayed(result.verdict(), result.findings(), failure.story() + "\n" + thrown));
    }
  }
}
