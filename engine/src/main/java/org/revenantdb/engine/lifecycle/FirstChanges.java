package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.buffer.BatchGuard;
import org.revenantdb.gc.spill.SpillFiles;
import org.revenantdb.recovery.file.DoubleWriteFile;
import org.revenantdb.recovery.file.IoStatistics;
import org.revenantdb.recovery.file.Ownership;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.LogWaits;
import org.revenantdb.recovery.restart.Restart;

/**
 * All that an open changes before its life has begun, in this order; {@code docs/protocols.md} §10.
 * Everything that can be compared has been compared by then ({@link FileSurvey}).
 *
 * <p>Threads: {@link #make} by one of the engine, which has the lock of {@link OpeningLog}; what it
 * leaves is read behind that lock.
 */
final class FirstChanges implements AutoCloseable {
  private final DatabaseFiles files;
  private final DatabaseOptions options;
  private final FileSurvey survey;
  private final Restart restart;
  private final IoStatistics io;
  private final LogWaits waits;
  private final Ownership ownership;

  /** Opened by the survey, which closes it, or made again here. */
  private volatile @Nullable DoubleWriteFile doubleWrite;

  private volatile boolean madeAgain;
  private volatile int restored;

  FirstChanges(
      DatabaseFiles files,
      DatabaseOptions options,
      FileSurvey survey,
      Restart restart,
      IoStatistics io,
      LogWaits waits,
      Ownership ownership) {
    this.files = files;
    this.options = options;
    this.survey = survey;
    this.restart = restart;
    this.io = io;
    this.waits = waits;
    this.ownership = ownership;
  }

  /** Makes them; the log of the new life is running on return. */
  Log make() {
    ownership.check();
    files.forceNames();
    SpillFiles.deleteLeftOvers(files.directory());
    // After a failed force the cache may show what the medium does not have: what counts is
    // written again.
    survey.control().rewrite();
    DoubleWriteFile file = survey.doubleWrite();
    if (file == null) {
      file = DoubleWriteFile.createAgain(files.doubleWrite(), survey.header().databaseId(), io);
      madeAgain = true;
    }
    doubleWrite = file.ownedBy(ownership);
    ownership.watch(files.doubleWrite(), () -> 0);
    restored = file.restore(survey.data()).restored();
    if (!options.doubleWrite()) {
      file.switchOff();
    }
    int segmentSize = survey.header().segmentSize();
    Log log =
        restart.startLife(
            files.logOptions(options, segmentSize).withWaits(waits).withOwnership(ownership),
            survey.control());
    ownership.onLost(log::fail);
    return log;
  }

  /** The double-write file, once the life has begun. */
  @Nullable DoubleWriteFile doubleWrite() {
    return doubleWrite;
  }

  /** How many pages came back from the double-write file. */
  int restored() {
    return restored;
  }

  /** The double-write file for the page writer, which waits for the life before it writes. */
  BatchGuard guard() {
    return new BatchGuard() {
      @Override
      public int roomFor(int wanted) {
        return begun().roomFor(wanted);
      }

      @Override
      public void write(int[] pageIds, int count, MemorySegment images) {
        begun().writeBatch(count, pageIds, images);
      }

      @Override
      public void confirm() {
        begun().confirm();
      }
    };
  }

  private DoubleWriteFile begun() {
    DoubleWriteFile file = doubleWrite;
    if (file == null) {
      throw new IllegalStateException("pages are written before the life has begun");
    }
    return file;
  }

  /** Closes the double-write file, if it was made again. */
  @Override
  public void close() {
    DoubleWriteFile file = doubleWrite;
    if (madeAgain && file != null) {
      file.close();
    }
  }
}
