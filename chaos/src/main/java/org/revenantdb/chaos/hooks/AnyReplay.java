package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.revenantdb.chaos.crash.Scratch;
import org.revenantdb.chaos.run.Debugged;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.run.ImageChecker;
import org.revenantdb.chaos.run.StateResult;
import org.revenantdb.chaos.run.Workers;

/** Opens the image of a failure again, in a JVM of its own and on a real directory. */
public final class AnyReplay {

  private AnyReplay() {}

  /**
   * Opens and checks the image.
   *
   * @param failure the failure
   * @param flags of the JVM
   * @param limit how long it may take
   * @return the result this time
   * @throws IOException with a message for people, if the subject's class is missing
   */
  public static StateResult replay(FailureFile failure, List<String> flags, Duration limit)
      throws IOException {
    Path scratch = Scratch.directory("revenant-replay-");
    try (Workers workers = Workers.onDisk(subject(failure), scratch, flags, limit, Workers.IMAGES);
        ImageChecker checker = workers.get()) {
      return checker.check(failure.image().fork(), failure.promises(), failure.seq());
    } finally {
      Scratch.delete(scratch);
    }
  }

  /**
   * Opens and checks the image in a JVM that stops before the store is opened, until a debugger is
   * connected.
   *
   * @param failure the failure
   * @param flags of the JVM
   * @param port on this machine
   * @return the result this time
   * @throws IOException with a message for people, if the subject's class is missing, or the port
   *     is in use
   */
  public static StateResult debug(FailureFile failure, List<String> flags, int port)
      throws IOException {
    return replay(failure, Debugged.flags(flags, port), Debugged.LIMIT);
  }

  private static Class<?> subject(FailureFile failure) throws IOException {
    try {
      return Class.forName(failure.subject());
    } catch (ClassNotFoundException e) {
      throw new IOException(
          "the failure is of the subject "
              + failure.subject()
              + ", which is not here: replay it where that class is on the class path",
          e);
    }
  }
}
