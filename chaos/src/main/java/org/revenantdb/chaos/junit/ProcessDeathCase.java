package org.revenantdb.chaos.junit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.revenantdb.chaos.crash.FileTrees;
import org.revenantdb.chaos.crash.ProcessDeathRun;
import org.revenantdb.chaos.run.Outcome;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;

/** Processes that are killed at random moments. */
final class ProcessDeathCase extends CrashTestCase {

  private final Class<? extends CrashSubject<?>> type;
  private final CrashTestSettings settings;
  private int repeated;

  ProcessDeathCase(Class<? extends CrashSubject<?>> type, CrashTestSettings settings) {
    super(type, Crash.PROCESS_DEATH, settings.seed());
    this.type = type;
    this.settings = settings;
  }

  @Override
  public String name() {
    return Crash.PROCESS_DEATH
        + (settings.failpoints() ? ", failpoints" : "")
        + (settings.zombies() == 0 ? "" : ", zombies");
  }

  @Override
  public String tries() {
    return "a process is killed "
        + Stream.of(
                settings.kills() == 0 ? "" : "at random moments",
                settings.failpoints() ? "before and after each place that changes a file" : "",
                settings.zombies() == 0 ? "" : "or stopped while another one has the store")
            .filter(part -> !part.isEmpty())
            .collect(Collectors.joining(", "));
  }

  @Override
  Outcome measure() throws IOException {
    Files.createDirectories(settings.directory());
    Path scratch = Files.createTempDirectory(settings.directory(), "process-death");
    try {
      ProcessDeathRun run = new ProcessDeathRun(type, settings.processDeath(scratch));
      Outcome outcome = run.keepEvidence(run.run(), settings.directory());
      repeated = run.repeated();
      return outcome;
    } finally {
      FileTrees.delete(scratch);
    }
  }

  @Override
  int repeated() {
    return repeated;
  }
}
