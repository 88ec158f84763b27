package org.revenantdb.chaos.crash;

import java.io.IOException;
import java.nio.file.Path;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.run.Failure;
import org.revenantdb.chaos.run.FailureFile;
import org.revenantdb.chaos.subject.Crash;

/**
 * What a failure is made of: with it the opening that failed can be repeated.
 *
 * @param failure what went wrong
 * @param imageBefore a directory with the files as they were before that opening
 * @param log what had been promised
 * @param seq the crash point: everything said before it counts
 */
public record Evidence(Failure failure, Path imageBefore, PromiseLog log, long seq) {

  /**
   * Keeps it in a file that can be replayed anywhere.
   *
   * @param directory where it goes, made if needed
   * @param subject the class that was killed
   * @return the failure with its file
   * @throws IOException if it cannot be written
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
        FailureFile.keep(directory, file));
  }
}
