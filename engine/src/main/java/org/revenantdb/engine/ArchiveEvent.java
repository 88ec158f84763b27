package org.revenantdb.engine;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The archive of an open database cannot be written, or can be written again.
 *
 * @param archive the directory of the archive
 * @param failure why it cannot be written; null if it can be written again
 */
public record ArchiveEvent(Path archive, @Nullable RevenantException failure) {
  static void log(ArchiveEvent event) {
    System.Logger logger = System.getLogger("org.revenantdb");
    RevenantException failure = event.failure();
    if (failure == null) {
      logger.log(System.Logger.Level.INFO, "the archive " + event.archive() + " is written again");
    } else {
      logger.log(
          System.Logger.Level.WARNING,
          "the archive " + event.archive() + " cannot be written: " + failure.getMessage(),
          failure);
    }
  }
}
