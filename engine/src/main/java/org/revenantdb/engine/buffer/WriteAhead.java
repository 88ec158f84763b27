package org.revenantdb.engine.buffer;

import org.jspecify.annotations.Nullable;

/**
 * What the buffer pool needs of the log, and nothing else: so that the pool can be tested without
 * one.
 *
 * <p>Threads: any, at any time. No implementation may take a page latch.
 */
public interface WriteAhead {
  /**
   * The end of what is reserved.
   *
   * @return an LSN at or below the start of every record that is reserved from now on
   */
  long tail();

  /**
   * How far the log is forced.
   *
   * @return the LSN up to which every record is durable
   */
  long durableLsn();

  /**
   * Waits, without being interruptible, until the log is durable up to an LSN; asks for a force
   * where none is on its way.
   *
   * @param lsn the LSN of a published record
   * @throws RuntimeException if the log has failed or fails meanwhile
   */
  void awaitDurable(long lsn);

  /**
   * Stops the engine: whoever asks the log for anything from now on is told why.
   *
   * @param cause what went wrong
   */
  void fail(Throwable cause);

  /**
   * Why the log has stopped: then memory may differ from what the log says, and no page may be
   * written any more.
   *
   * @return the cause, or null while the log goes on
   */
  @Nullable Throwable failure();
}
