package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.subject.Crash;

/**
 * What is needed to repeat the opening that failed.
 *
 * @param failure the failure
 * @param imageBefore a directory with the files as they were before that opening
 * @param log the promises until then
 * @param seq the crash point: every promise before it counts
 */
public record Evidence(Failure failure, Path imageBefore, PromiseLog log, long seq) {

  /**
   * Writes the evidence to a file that can be replayed anywhere.
   *
   * @param directory for the file, created if needed
   * @param subject the class that was killed
   * @return the failure with its file
   * @throws IOException if the file cannot be written
   */
  public Failure keepIn(Path directory, Class<?> subject) throws IOException {
    FailureFile file =
        new FailureFile(
            subject.getName(),
            failure.verdict(),
            failure.title(),
            failure.seed(),
            Crash.PROCESS_DEATH.name(),
            seq,
            DiskImage.of(imageBefore),
            log,
            failure.story());
    return new Failure(
        failure.verdict(),
        failure.title(),
        failure.findings(),
        failure.story(),
        failure.seed(),
        FailureFile.keep(directory, file),
        failure.cause(),
        failure.also());
  }
}
