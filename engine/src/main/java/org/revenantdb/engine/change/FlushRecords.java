package org.revenantdb.engine.change;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.PageAccount;
import org.revenantdb.recovery.log.FlushedPages;
import org.revenantdb.recovery.log.LogSpace;
import org.revenantdb.recovery.log.LogStoppedException;
import org.revenantdb.recovery.log.PageSpace;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * Writes records about the pages that were written, and counts the pages that a restart would read.
 *
 * <p>A batch without a record does no harm: a restart visits its pages as if they had not been
 * written. So the method never waits (R17). Without room in the log, before {@link #begin}, and
 * after the log has stopped, there is no record.
 *
 * <p>Threads: any; only the page writer calls {@link #written}.
 */
public final class FlushRecords implements PageAccount {
  private final Journal log;
  private final PageSpace pages;
  private final RecordBuilder record = new RecordBuilder();

  /** Null until the database is open. */
  private volatile @Nullable Room room;

  private record Room(LogSpace space, BooleanSupplier isRedoing) {}

  /**
   * Makes an account that only counts, until {@link #begin}.
   *
   * @param log where the records go
   * @param pages keeps the count
   */
  public FlushRecords(Journal log, PageSpace pages) {
    this.log = log;
    this.pages = pages;
  }

  /**
   * From now on batches get records.
   *
   * @param space room in the log
   * @param isRedoing whether pages are pending since a crash: then the records, which spare the
   *     next restart work, do not wait for others to leave room
   */
  public void begin(LogSpace space, BooleanSupplier isRedoing) {
    room = new Room(space, isRedoing);
  }

  @Override
  public void dirtied() {
    pages.dirtied();
  }

  @Override
  public void discarded() {
    pages.discarded(log.tail());
  }

  @Override
  public void written(int count, int[] pageIds, long[] lsns) {
    long highest = 0;
    for (int i = 0; i < count; i++) {
      highest = Math.max(highest, lsns[i]);
    }
    pages.written(count, highest, putOnRecord(count, pageIds, lsns));
  }

  /** The LSN of the record, or NOT_ON_RECORD. */
  private long putOnRecord(int count, int[] pageIds, long[] lsns) {
    Room open = room;
    int bytes = FlushedPages.bytes(count);
    if (open == null) {
      return PageSpace.NOT_ON_RECORD;
    }
    if (open.space().tryAcquire(bytes)) {
      try {
        return publish(count, pageIds, lsns);
      } finally {
        open.space().release(bytes);
      }
    }
    // While pages are pending writers may wait for just this; a record for each of them, at most,
    // is less than the reserve has.
    return open.isRedoing().getAsBoolean() && open.space().hasRoomWithoutCredit()
        ? publish(count, pageIds, lsns)
        : PageSpace.NOT_ON_RECORD;
  }

  private long publish(int count, int[] pageIds, long[] lsns) {
    try {
      return log.publish(FlushedPages.build(record, count, pageIds, lsns));
    } catch (LogStoppedException stopped) {
      return PageSpace.NOT_ON_RECORD; // the batch was written all the same
    }
  }
}
