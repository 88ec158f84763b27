package org.revenantdb.engine.check;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.ChangeWatch;
import org.revenantdb.engine.catalog.Names;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.PageBitmap;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.gc.version.VolatileStore;

/**
 * A database as it was at one moment, while other threads continue to change it.
 *
 * <p>It is made while no thread is inside; then one thread reads. A thread that changes a page has
 * to copy it once, unless the page has already been read.
 *
 * <p>Failure: if a page cannot be read, the reader gets the exception.
 */
public final class FrozenDatabase implements ChangeWatch, AutoCloseable {
  /*
   * The protocol, and why each page is seen as it was at S, is in docs/protocols.md §16.
   *
   * A page       LSN <= S, not read yet    -> it is in the pool or the file as it was; a copy is kept before it changes
   *              LSN <= S, read            -> it is not read again (except space maps, heads and shared values,
   *                                           which are never "read")
   *              LSN > S, kept             -> as kept
   *              LSN > S, not kept         -> it was free at S, or was read before it changed
   * Ordering     kept and read are set under the page's latch, exclusive and shared, and are read under it. Space
   *              maps are changed under a shared latch: a thread that changes one has stored a copy before, or found
   *              one. So the first copy is from before all changes, and a thread that has read a change finds a copy
   *              afterwards.
   */
  private static final int LEAST = 256;

  /** A large value that a snapshot needs and to which no row refers. */
  record OlderValue(int table, String row, ValueReference reference) {}

  private final Storage storage;
  private final BufferPool pool;
  private final long moment;
  private final int pages;
  private final long[] aborted;
  private final long[] active;
  private final List<OlderValue> olderValues = new ArrayList<>();

  /** Read only on demand: all threads wait while the database is being frozen. */
  private final VolatileStore.Later olderValuesInFiles;

  private final PageBitmap read = new PageBitmap();
  private final ConcurrentHashMap<Integer, byte[]> kept = new ConcurrentHashMap<>();
  private final int most;

  /** Freezes the present state; no other thread may be inside. */
  public FrozenDatabase(Storage storage) {
    this.storage = storage;
    this.pool = storage.pool();
    this.moment = storage.log().tail();
    this.pages = storage.allocator().pages();
    // An abort enters the ATM before it leaves the active transactions.
    this.active = storage.transactions().writing();
    this.aborted = storage.transactions().aborted().snapshot();
    Arrays.sort(active);
    Arrays.sort(aborted);
    this.olderValuesInFiles =
        storage
            .versions()
            .forEachLargeValue(
                storage.horizon().refresh(),
                (table, key, version) ->
                    olderValues.add(
                        new OlderValue(table, Names.of(key), ValueReference.of(version.value()))));
    this.most =
        mostCopies(pool.statistics().frames(), Runtime.getRuntime().maxMemory() / Page.SIZE);
    storage.allocator().holdBack();
    pool.watchChanges(this);
  }

  /**
   * How many copies are kept before other threads have to wait. They are in the heap, which can be
   * much smaller than the pool.
   *
   * @param poolPages the size of the pool
   * @param heapPages the largest size of the heap
   */
  static int mostCopies(int poolPages, long heapPages) {
    return (int) Math.max(LEAST, Math.min(poolPages / 8, heapPages / 16));
  }

  /** Releases everything. */
  @Override
  public void close() {
    pool.watchChanges(null);
    storage.allocator().holdNoMore();
    olderValuesInFiles.close();
    kept.clear();
  }

  @Override
  public void beforeChange(int pageId, MemorySegment page) {
    long lsn = Page.lsn(page);
    boolean isPage = lsn != 0 || Page.type(page) != Page.NEVER_WRITTEN; // a new database's first
    if (isPage && lsn <= moment && !read.contains(pageId)) {
      kept.putIfAbsent(pageId, Page.bytes(page, 0, Page.SIZE));
    }
  }

  /** Whether too many copies are kept: then no thread may continue to change pages. */
  boolean isFull() {
    return kept.size() >= most || storage.allocator().heldBack() >= most;
  }

  /** The number of pages of the data file. */
  int pages() {
    return pages;
  }

  /** The needed large values to which no row refers. Call it only once. */
  List<OlderValue> olderValues() {
    olderValuesInFiles.show();
    return olderValues;
  }

  /** Whether a transaction had written and not ended. */
  boolean isActive(long transaction) {
    return Arrays.binarySearch(active, transaction) >= 0;
  }

  /** Whether a transaction was rolled back and may still have rows. */
  boolean isAborted(long transaction) {
    return !isActive(transaction) && Arrays.binarySearch(aborted, transaction) >= 0;
  }

  /**
   * Whether a transaction that is neither active nor aborted was rolled back: it should have no
   * rows.
   */
  boolean isForgotten(long transaction) {
    return storage.transactions().status(transaction) == TransactionTable.ABORTED;
  }

  /** A page as it was; null if there was no such page. Call it only once for a page. */
  @Nullable MemorySegment readOnce(int pageId) {
    return read(pageId, /* last= */ true);
  }

  /**
   * A page as it was; null if there was no such page. It may be called any number of times for a
   * page.
   */
  public @Nullable MemorySegment read(int pageId) {
    return read(pageId, /* last= */ false);
  }

  private @Nullable MemorySegment read(int pageId, boolean last) {
    byte[] copy = kept.get(pageId);
    if (copy == null) {
      copy = readLatched(pageId, last);
    }
    if (last) {
      kept.remove(pageId);
    }
    return copy == null ? null : MemorySegment.ofArray(copy);
  }

  private byte @Nullable [] readLatched(int pageId, boolean last) {
    int frame = pool.fixShared(pageId);
    try {
      MemorySegment page = pool.page(frame);
      if (Page.lsn(page) > moment) {
        return kept.get(pageId);
      }
      if (last) {
        read.set(pageId);
      }
      byte[] now = Page.bytes(page, 0, Page.SIZE);
      VarHandle.acquireFence();
      byte[] before = kept.get(pageId);
      return before != null ? before : now;
    } finally {
      pool.unfixShared(frame);
    }
  }
}
