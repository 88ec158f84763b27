package org.revenantdb.engine;

/**
 * Files of the database: input and output since it was opened, the log, checkpoints, and changes of
 * the structure of the data file. Immutable and thread-safe.
 *
 * <p>The counters file is not included.
 */
public final class FileStatistics {
  private final StatisticValues values;

  FileStatistics(StatisticValues values) {
    this.values = values;
  }

  /** {@return pages read from the data file} */
  public long pagesRead() {
    return values.of(Statistic.FILES_PAGES_READ);
  }

  /** {@return pages written to the data file} */
  public long pagesWritten() {
    return values.of(Statistic.FILES_PAGES_WRITTEN);
  }

  /** {@return bytes read from all files} */
  public long bytesRead() {
    return values.of(Statistic.FILES_BYTES_READ);
  }

  /** {@return bytes written to all files} */
  public long bytesWritten() {
    return values.of(Statistic.FILES_BYTES_WRITTEN);
  }

  /** {@return forces of files} */
  public long forces() {
    return values.of(Statistic.FILES_FORCES);
  }

  /** {@return checkpoints} */
  public long checkpoints() {
    return values.of(Statistic.FILES_CHECKPOINTS);
  }

  /** {@return position in the log from which a restart would redo changes} */
  public long redoPoint() {
    return values.of(Statistic.FILES_REDO_POINT);
  }

  /** {@return end of the durable part of the log} */
  public long durableLsn() {
    return values.of(Statistic.FILES_DURABLE_LSN);
  }

  /** {@return end of the log} */
  public long logTail() {
    return values.of(Statistic.FILES_LOG_TAIL);
  }

  /** {@return largest number of pages that a restart might have to read} */
  public long restartPages() {
    return values.of(Statistic.FILES_RESTART_PAGES);
  }

  /** {@return pages that the last crash has left to be brought up to date in the background} */
  public long pendingPages() {
    return values.of(Statistic.FILES_PENDING_PAGES);
  }

  /** {@return size of the log directory; 0 if the database is open read-only} */
  public long logDirectoryBytes() {
    return values.of(Statistic.FILES_LOG_DIRECTORY_BYTES);
  }

  /** {@return size of the data file} */
  public long dataFilePages() {
    return values.of(Statistic.FILES_DATA_FILE_PAGES);
  }

  /** {@return splits of pages} */
  public long splits() {
    return values.of(Statistic.FILES_SPLITS);
  }

  /** {@return merges of a page with its neighbour} */
  public long merges() {
    return values.of(Statistic.FILES_MERGES);
  }

  /** {@return values written to overflow pages} */
  public long overflowValues() {
    return values.of(Statistic.FILES_OVERFLOW_VALUES);
  }

  /** {@return overflow pages freed} */
  public long overflowPagesFreed() {
    return values.of(Statistic.FILES_OVERFLOW_PAGES_FREED);
  }

  /** Returns the numbers that are not 0, one a line. */
  @Override
  public String toString() {
    return values.text(Statistic.Group.FILES);
  }
}
