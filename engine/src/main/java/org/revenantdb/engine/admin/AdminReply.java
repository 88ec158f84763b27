package org.revenantdb.engine.admin;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupReport;
import org.revenantdb.engine.CheckedSequence;
import org.revenantdb.engine.CheckedTable;

/** What the process that has a database open answers. */
public sealed interface AdminReply {
  /**
   * A table.
   *
   * @param name its name
   * @param partitions number of partitions; 1 for an ordered table
   */
  record TableEntry(String name, int partitions) implements AdminReply {}

  /**
   * A sequence.
   *
   * @param name its name
   * @param position values used
   * @param start first value
   * @param increment distance of two values
   * @param cacheSize values that are reserved at once
   * @param order name of the {@link org.revenantdb.engine.SequenceOrder}
   */
  record SequenceEntry(
      String name, long position, long start, long increment, int cacheSize, String order)
      implements AdminReply {}

  /**
   * A number.
   *
   * @param value the number
   */
  record Amount(long value) implements AdminReply {}

  /**
   * A row; its value follows in {@link Bytes}.
   *
   * @param key its key
   * @param valueBytes length of the value; -1 if values were left out, or follow until the end
   */
  record Row(byte[] key, long valueBytes) implements AdminReply {}

  /**
   * A part of a value, or of the stream of a backup.
   *
   * @param bytes the part
   */
  record Bytes(byte[] bytes) implements AdminReply {}

  /**
   * The result of a check, and how the database was opened.
   *
   * @param clean whether it had been closed cleanly
   * @param openNanos time of the open
   * @param logBytesRead bytes of log that the open has read
   * @param pagesPending pages that were not up to date at the open
   * @param transactionsAborted transactions that the open has rolled back
   * @param prepared prepared transactions that wait for an outcome
   * @param problems what is wrong
   * @param warnings what need not be wrong
   * @param advice what to do about problems
   * @param tables number of tables
   * @param rows number of rows, with those of the catalogue
   * @param treePages pages of trees
   * @param overflowPages pages of large values
   * @param pagesToClean pages that the cleaner has to visit
   * @param freePages free pages
   * @param contents the tables
   * @param sequences the sequences
   */
  record Checked(
      boolean clean,
      long openNanos,
      long logBytesRead,
      int pagesPending,
      int transactionsAborted,
      int prepared,
      List<String> problems,
      List<String> warnings,
      String advice,
      int tables,
      long rows,
      long treePages,
      long overflowPages,
      long pagesToClean,
      long freePages,
      List<CheckedTable> contents,
      List<CheckedSequence> sequences)
      implements AdminReply {}

  /**
   * How far a backup has come.
   *
   * @param pages pages copied
   * @param pagesToCopy pages to copy
   * @param logBytes bytes of log copied
   */
  record Progress(long pages, long pagesToCopy, long logBytes) implements AdminReply {}

  /**
   * A backup is complete.
   *
   * @param target where it is; null if it is a stream
   * @param id the id of the copy; null if it cannot be the base of an increment
   * @param notNoted why it cannot be the base of an increment; null if it can
   * @param bytes bytes copied
   * @param pages pages of the data file
   * @param pagesRead pages read
   * @param pagesCopied pages copied
   * @param logBytes bytes of log copied
   * @param endOfLog the LSN that it shows
   * @param nanos how long it took
   */
  record BackedUp(
      @Nullable String target,
      @Nullable String id,
      @Nullable String notNoted,
      long bytes,
      long pages,
      long pagesRead,
      long pagesCopied,
      long logBytes,
      long endOfLog,
      long nanos)
      implements AdminReply {
    /**
     * What a report says.
     *
     * @param report the report of the backup
     * @return the answer
     */
    public static BackedUp of(BackupReport report) {
      Path target = report.target();
      return new BackedUp(
          target == null ? null : target.toString(),
          report.id(),
          report.notNoted(),
          report.bytes(),
          report.pages(),
          report.pagesRead(),
          report.pagesCopied(),
          report.logBytes(),
          report.endOfLog(),
          report.nanos());
    }
  }

  /**
   * The request has failed.
   *
   * @param message the message of the exception
   */
  record Failed(String message) implements AdminReply {}

  /** The answer is complete. */
  record End() implements AdminReply {}
}
