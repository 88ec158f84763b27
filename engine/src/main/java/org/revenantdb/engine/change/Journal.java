package org.revenantdb.engine.change;

import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.WriteAhead;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.RecordBuilder;

/** The log as the engine sees it. For a database that is open read-only it has only an end. */
public abstract class Journal implements WriteAhead {
  /** Tests set another one, before they publish. */
  ChangeSteps steps = ChangeSteps.NONE;

  /** The log of one database. */
  protected Journal() {
    // Loads the class of the places: behind a record there may be no memory for that (R18).
    steps.at(ChangeSteps.Step.PUBLISHED);
  }

  /** The places that are passed between a record and its changes; for tests. */
  public final ChangeSteps steps() {
    return steps;
  }

  /**
   * Appends a record and makes it visible.
   *
   * @return its LSN
   */
  public abstract long publish(RecordBuilder record);

  /**
   * Waits until no record before an LSN is missing, so that a killed process leaves all of them, if
   * the ring of the log is in a file.
   */
  public abstract void awaitUnbroken(long lsn);

  /** Waits until the log is durable up to an LSN, without requesting a force. */
  public abstract void awaitDurableUnasked(long lsn);

  /** Requests a force of the log up to an LSN within a time, without waiting for it. */
  public abstract void requestFlushWithin(long lsn, long nanos);

  /** Requests a force of the log up to an LSN as soon as possible, without waiting for it. */
  public abstract void requestFlush(long lsn);

  /** Size of the log directory. */
  public abstract long bytesInDirectory();

  /** The log of an open database. */
  public static Journal of(Log log) {
    return new Journal() {
      @Override
      public long publish(RecordBuilder record) {
        return log.publish(record);
      }

      @Override
      public void awaitUnbroken(long lsn) {
        log.awaitUnbroken(lsn);
      }

      @Override
      public void awaitDurableUnasked(long lsn) {
        log.awaitDurableUnasked(lsn);
      }

      @Override
      public void requestFlushWithin(long lsn, long nanos) {
        log.requestFlushWithin(lsn, nanos);
      }

      @Override
      public void requestFlush(long lsn) {
        log.requestFlush(lsn);
      }

      @Override
      public @Nullable Throwable failure() {
        return log.failure();
      }

      @Override
      public long bytesInDirectory() {
        return log.bytesInDirectory();
      }

      @Override
      public long tail() {
        return log.tail();
      }

      @Override
      public long durableLsn() {
        return log.durableLsn();
      }

      @Override
      public void awaitDurable(long lsn) {
        log.awaitDurable(lsn);
      }

      @Override
      public void fail(Throwable cause) {
        log.fail(cause);
      }
    };
  }

  /** The log of a database that was closed cleanly and is only read. */
  public static Journal readOnly(long endOfLog) {
    return new Journal() {
      @Override
      public long publish(RecordBuilder record) {
        throw new IllegalStateException("the database is open for reading only");
      }

      @Override
      public void awaitUnbroken(long lsn) {}

      @Override
      public void awaitDurableUnasked(long lsn) {}

      @Override
      public void requestFlushWithin(long lsn, long nanos) {}

      @Override
      public void requestFlush(long lsn) {}

      @Override
      public @Nullable Throwable failure() {
        return null;
      }

      @Override
      public long bytesInDirectory() {
        return 0;
      }

      @Override
      public long tail() {
        return endOfLog;
      }

      @Override
      public long durableLsn() {
        return endOfLog;
      }

      @Override
      public void awaitDurable(long lsn) {}

      @Override
      public void fail(Throwable cause) {}
    };
  }
}
