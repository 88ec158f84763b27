package org.revenantdb.engine.buffer;

import org.jspecify.annotations.Nullable;

/**
 * The part of the log that the buffer pool needs, so that the pool can be tested without a log.
 *
 * <p>Threads: any, at any time. No implementation may take a page latch.
 */
public interface WriteAhead {
  /**
   * Returns the end of the reserved log.
   *
   * @return an LSN at or below the start of every record that is reserved from now on
   */
  long tail();

  /**
   * Returns how far the log is forced.
   *
   * @return the LSN up to which every record is durable
   */
  long durableLsn();

  /**
   * Waits, uninterruptibly, until the log is durable up to an LSN; requests a force if none is
   * under way.
   *
   * @param lsn the LSN of a published record
   * @throws RuntimeException if the log has failed or fails during the wait
   */
  void awaitDurable(long lsn);

  /**
   * Stops the engine: all later calls of the log fail with this cause.
   *
   * @param cause the failure
   */
  void fail(Throwable cause);

  /**
   * Returns why the log has stopped. After that memory may differ from the log, and no page may be
   * written any more.
   *
   * @return the cause, or null while the log works
   */
  @Nullable Throwable failure();
}
