package org.revenantdb.jmh.baseline;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.revenantdb.recovery.log.Log;
import org.revenantdb.recovery.log.PartKind;
import org.revenantdb.recovery.log.RecordBuilder;
import org.revenantdb.recovery.log.RecordType;

/**
 * Rows on pages, with lazy commits isolated from durable readers a page at a time.
 *
 * <p>Pages are an array, each with a latch, an LSN and the bit. Rows are locked exclusively until
 * their transaction has committed; readers hold the lock while they read. There is no buffer pool,
 * no rollback and no restart, because only forces are counted.
 *
 * <p>Threads: any; a {@link Change} belongs to one of them. Rows of a change are written in
 * ascending order, or two changes could wait for each other.
 */
public final class PageGranularStore {
  /*
   * Source      "Lazy commit isolation" (the paper of the lazy commit), sections 5.1 to 5.5.
   *
   * Counters    lazyCommitLsn    the commit of the last lazy transaction
   *             forceFlushLsn    lazy transactions that began at or below it must flush when they
   *                              commit
   *             durableReadLsn   pages with an LSN at or below it are durable
   *             They only grow: set to the maximum, because with several threads a smaller value
   *             may come later.
   *
   * Durable read      latch page; bit set?
   *                     pageLsn <= durableReadLsn: clear the bit
   *                     else 1 forceFlushLsn := pageLsn   2 flush to lazyCommitLsn   3 durableReadLsn := pageLsn
   *                          4 clear the bit
   *                   unlatch; lock the row; latch, read, unlatch; unlock
   * Write             lock the row; latch page; lazy: set the bit; log; pageLsn; unlatch
   * Commit            publish; lazy: lazyCommitLsn := its LSN, and flush if beginLsn <= forceFlushLsn; durable: flush;
   *                   unlock
   *
   * Order       1 before 2, because a writer of the page could otherwise commit in between without
   *             a flush (5.2). 3 after 2, because another reader would otherwise treat the page as
   *             durable before it is. The commit stores lazyCommitLsn before it reads
   *             forceFlushLsn, the reader stores forceFlushLsn before it reads lazyCommitLsn (both
   *             volatile). So one of them sees the other and flushes.
   *
   * We differ   a lazy commit that did not flush is forced within some time, as in our engine,
   *             because the two could not be compared otherwise. "flush to" calls the log, which
   *             forces only what is not yet durable.
   */

  /** One page. */
  private static final class Page {
    private final ReentrantLock latch = new ReentrantLock();
    private final byte[][] rows;
    private long lsn;
    private boolean dirtiedByLazy;

    private Page(int rows, int rowBytes) {
      this.rows = new byte[rows][rowBytes];
    }
  }

  private final Log log;
  private final int rowsPerPage;
  private final long lazyNanos;
  private final Page[] pages;
  private final ReentrantLock[] rowLocks;
  private final AtomicLong lazyCommitLsn = new AtomicLong();
  private final AtomicLong forceFlushLsn = new AtomicLong();
  private final AtomicLong durableReadLsn = new AtomicLong();

  /**
   * Creates a store whose rows are zeros.
   *
   * @param log where it logs
   * @param rows how many
   * @param rowBytes of each
   * @param rowsPerPage on each page
   * @param lazyNanos how long a lazy commit may not be durable
   */
  public PageGranularStore(Log log, int rows, int rowBytes, int rowsPerPage, long lazyNanos) {
    this.log = log;
    this.rowsPerPage = rowsPerPage;
    this.lazyNanos = lazyNanos;
    pages = new Page[(rows + rowsPerPage - 1) / rowsPerPage];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = new Page(rowsPerPage, rowBytes);
    }
    rowLocks = new ReentrantLock[rows];
    for (int i = 0; i < rows; i++) {
      rowLocks[i] = new ReentrantLock();
    }
  }

  /**
   * Reads the number at the start of a row, durably.
   *
   * @param row which
   * @return the number
   */
  public long readDurably(int row) {
    Page page = pages[row / rowsPerPage];
    page.latch.lock();
    try {
      makeDurable(page);
    } finally {
      page.latch.unlock();
    }
    rowLocks[row].lock();
    try {
      page.latch.lock();
      try {
        return ByteBuffer.wrap(page.rows[row % rowsPerPage]).getLong(0);
      } finally {
        page.latch.unlock();
      }
    } finally {
      rowLocks[row].unlock();
    }
  }

  /** Of a page that is latched. */
  private void makeDurable(Page page) {
    if (!page.dirtiedByLazy) {
      return;
    }
    if (page.lsn > durableReadLsn.get()) {
      raise(forceFlushLsn, page.lsn);
      log.awaitDurable(lazyCommitLsn.get());
      raise(durableReadLsn, page.lsn);
    }
    page.dirtiedByLazy = false;
  }

  private static void raise(AtomicLong counter, long value) {
    counter.accumulateAndGet(value, Math::max);
  }

  /**
   * Begins a transaction.
   *
   * @param lazy whether it commits lazily
   * @return the transaction
   */
  public Change begin(boolean lazy) {
    return new Change(lazy);
  }

  /** A transaction that writes. */
  public final class Change {
    private final boolean lazy;
    private final long beginLsn = log.tail();
    private final RecordBuilder record = new RecordBuilder();
    private final List<ReentrantLock> locks = new ArrayList<>();

    private Change(boolean lazy) {
      this.lazy = lazy;
    }

    /**
     * Adds to the number at the start of a row.
     *
     * @param row which
     * @param amount the amount to add
     */
    public void add(int row, long amount) {
      ReentrantLock lock = rowLocks[row];
      if (!lock.isHeldByCurrentThread()) {
        lock.lock();
        locks.add(lock);
      }
      int at = row / rowsPerPage;
      Page page = pages[at];
      page.latch.lock();
      try {
        if (lazy) {
          page.dirtiedByLazy = true;
        }
        byte[] bytes = page.rows[row % rowsPerPage];
        ByteBuffer number = ByteBuffer.wrap(bytes);
        number.putLong(0, number.getLong(0) + amount);
        record.begin(RecordType.PAGES, /* transactionId= */ 1);
        record.beginPart(at, PartKind.CHANGE);
        record.putBytes(bytes, 0, bytes.length);
        record.endPart();
        page.lsn = log.publish(record);
      } finally {
        page.latch.unlock();
      }
    }

    /** Commits. */
    public void commit() {
      long lsn = log.publish(record.begin(RecordType.COMMIT, /* transactionId= */ 1));
      if (lazy) {
        raise(lazyCommitLsn, lsn);
        if (beginLsn <= forceFlushLsn.get()) {
          log.awaitDurable(lsn);
        } else {
          log.requestFlushWithin(lsn, lazyNanos);
        }
      } else {
        log.awaitDurable(lsn);
      }
      locks.forEach(ReentrantLock::unlock);
    }
  }
}
