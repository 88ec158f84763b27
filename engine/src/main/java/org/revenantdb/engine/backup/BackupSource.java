package org.revenantdb.engine.backup;

import java.nio.file.Path;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.file.DataFileHeader;
import org.revenantdb.recovery.file.StorageFile;
import org.revenantdb.recovery.log.LogCopy;

/**
 * The open database, as far as a backup needs it.
 *
 * <p>Threads: that of the backup, which may access files.
 */
public interface BackupSource {
  /** Its directory. */
  Path directory();

  /** The names of files and directory in the copy. */
  Names names();

  /**
   * Names in the directory of a database.
   *
   * @param data of the data file
   * @param doubleWrite of the double-write file
   * @param log of the directory of the log
   */
  record Names(String data, String doubleWrite, String log) {}

  /** The data file, open. */
  StorageFile data();

  /** The first page of the data file. */
  DataFileHeader header();

  /** The pages. */
  BufferPool pool();

  /** The list of the backups that were made of it. */
  BackupNotes notes();

  /** Whether nothing may be written in its directory. */
  boolean isReadOnly();

  /** Begins a copy of the log: from now on no segment is recycled. */
  LogCopy holdLog();

  /**
   * Returns a checkpoint to begin with: the last one, if the log since then is less than the pages
   * that a new one would write. Else it redoes what a crash has left, and makes one. Call it after
   * {@link #holdLog}.
   *
   * @return the control slot of this checkpoint, or of a later one
   */
  ControlState checkpoint();

  /** Commits of transactions that have written, since the open. */
  long commits();

  /** The life of its log; that of the last open for writing, if it is open read-only. */
  int life();

  /** How far the log is durable. */
  long durableLsn();

  /**
   * Where the copy ends.
   *
   * @param endOfLog the tail of the log; durable
   * @param pages pages of the data file that have space maps; no record up to that end changes a
   *     page behind them, unless it is freed by that end, and all records that made the file grow
   *     to them are below that end
   */
  record End(long endOfLog, long pages) {}

  /** Forces the log. Call it after the last page was read. */
  End end();
}
