package org.revenantdb.engine.lifecycle;

import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogWaits;
import org.revenantdb.recovery.restart.Restart;

/**
 * All changes of an open before its life has begun, in this order; {@code docs/protocols.md} §10.
 * All comparisons were made before ({@link FileSurvey}).
 *
 * <p>Threads: the thread that opens the database.
 */
final class FirstChanges {
  private final DatabaseFiles files;
  private final boolean created;
  private final DatabaseOptions options;
  private final FileSurvey survey;
  private final Restart restart;
  private final IoStatistics io;
  private final LogWaits waits;
  private final Ownership ownership;
  private final OpenResources resources;

  /**
   * The results.
   *
   * @param log of the new life, running
   * @param doubleWrite ready for the next batch
   * @param restored how many pages were repaired from it
   */
  record Made(Log log, DoubleWriteFile doubleWrite, int restored) {}

  FirstChanges(
      DatabaseFiles files,
      boolean created,
      DatabaseOptions options,
      FileSurvey survey,
      Restart restart,
      IoStatistics io,
      LogWaits waits,
      Ownership ownership,
      OpenResources resources) {
    this.files = files;
    this.created = created;
    this.options = options;
    this.survey = survey;
    this.restart = restart;
    this.io = io;
    this.waits = waits;
    this.ownership = ownership;
    this.resources = resources;
  }

  /** Makes the changes, and pushes the opened objects. */
  Made make() {
    ownership.check();
    if (!created) { // else that was the last step of the creation
      files.forceNames();
    }
    SpillFiles.deleteLeftOvers(files.directory());
    // After a failed force the cache may show what the medium does not have, so valid state is
    // written again. But a power cut can make garbage of a slot that is being written, even with
    // the bytes that it has. So not if no other slot could take its place.
    if (survey.isFormerSlotUsable(restart)) {
      survey.control().rewrite();
    } else {
      survey.data().force();
    }
    DoubleWriteFile file = survey.doubleWrite();
    if (file == null) {
      file =
          resources.opened(
              DoubleWriteFile.createAgain(files.doubleWrite(), survey.header().databaseId(), io));
    }
    DoubleWriteFile doubleWrite = file.ownedBy(ownership);
    ownership.watch(files.doubleWrite(), () -> 0);
    int restored = doubleWrite.restore(survey.data()).restored();
    if (!options.doubleWrite()) {
      doubleWrite.switchOff();
    }
    int segmentSize = survey.header().segmentSize();
    Log log =
        resources.opened(
            restart.startLife(
                files.logOptions(options, segmentSize).withWaits(waits).withOwnership(ownership),
                survey.control()));
    ownership.onLost(log::fail);
    return new Made(log, doubleWrite, restored);
  }
}
