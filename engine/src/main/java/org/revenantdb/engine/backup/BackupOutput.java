package org.revenantdb.engine.backup;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.recovery.file.ControlState;
import org.revenantdb.recovery.log.LogCopy;

/**
 * Where a backup goes: a directory or a stream, and for an increment a directory with a stream.
 *
 * <p>Threads: that of the backup, but {@link #carry} and {@link #flush} are for the caller's.
 */
interface BackupOutput extends PageCopy.To {
  /**
   * What is known of the copy before its first page.
   *
   * @param id id of the copy, 16 bytes
   * @param segmentSize the full size of its log segments
   * @param createdMillis when the original was created
   * @param redoPoint where its log begins
   * @param life the life of that log
   * @param base what it needs beside itself; null if it is a whole backup
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared nor printed
  record Start(
      byte[] id,
      int segmentSize,
      long createdMillis,
      long redoPoint,
      int life,
      @Nullable Base base) {}

  /**
   * The backup that an increment was made since.
   *
   * @param id of that copy, 16 bytes
   * @param endOfLog the end of its log
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared nor printed
  record Base(byte[] id, long endOfLog) {}

  /** In messages. */
  String name();

  /** The directory of the copy; null if it is a stream. */
  @Nullable Path directory();

  /**
   * Makes the target, unless it has to be refused. A failure leaves it as it was.
   *
   * @param source what is copied
   * @param goOn called while this object waits; throws when the backup has to end
   */
  void make(BackupSource source, Runnable goOn);

  /** Receives what is known of the copy, and lets its log begin. */
  void begin(Start start, LogCopy log);

  /** Called after each piece of pages beside writers, so that they meet its cost at once. */
  void settle();

  /**
   * Completes the copy but for its last step. Called when all pages and all log are there.
   *
   * @param state the control state of the copy, with its end and its number of pages
   * @param logBytes bytes of its log
   */
  void end(ControlState state, long logBytes);

  /** The last step: it makes the copy a database. */
  void complete();

  /** Takes away what was made. */
  void remove(Throwable failed);

  /**
   * Does on the caller's thread what only that thread may do.
   *
   * @return whether there was something to do
   * @throws IOException if the stream of the caller has thrown it
   */
  boolean carry() throws IOException;

  /**
   * Called on the caller's thread at the end of a backup that is complete.
   *
   * @throws IOException if the stream of the caller has thrown it
   */
  void flush() throws IOException;
}
