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
 * A database as it was at one moment, while everybody goes on changing it.
 *
 * <p>It is made while nobody is inside; then one thread reads. What it costs those who change pages
 * is a copy of a page, once, and not if that has been read already.
 *
 * <p>Failure: a page that cannot be read is the exception of who reads it.
 */
public final class FrozenDatabase implements ChangeWatch, AutoCloseable {
  /*
   * The protocol, and why each page is seen as it was at S, is in docs/protocols.md §16.
   *
   * A page       LSN <= S, not read yet    -> it is in the pool or the file as it was; a copy is kept before it changes
   *              LSN <= S, read            -> nobody asks for it again (but for space maps, heads and shared values,
   *                                           which are never "read")
   *              LSN > S, kept             -> as kept
   *              LSN > S, not kept         -> it was free at S, or was read before it changed
   * Ordering     kept and read are set under the page's latch, exclusive and shared, and asked for under it.
   *              Space maps are changed under a shared latch: whoever changes one has put a copy before, or found one;
   *              so the first copy is of before all changes, and who has read a change finds a copy afterwards.
   */
  private static final int LEAST = 256;

  /** A large value that a snapshot needs and that no row leads to. */
  record OlderValue(int table, String row, ValueReference reference) {}

  private final Storage storage;
  private final BufferPool pool;
  private final long moment;
  private final int pages;
  private final long[] aborted;
  private final long[] active;
  private final List<OlderValue> olderValues = new ArrayList<>();

  /** Not read before somebody asks: everybody waits while it is frozen. */
  private final VolatileStore.Later olderValuesInFiles;

  private final PageBitmap read = new PageBitmap();
  private final ConcurrentHashMap<Integer, byte[]> kept = new ConcurrentHashMap<>();
  private final int most;

  /** Freezes what is there; nobody may be inside. */
  public FrozenDatabase(Storage storage) {
    this.storage = storage;
    this.pool = storage.pool();
    this.moment = storage.log().tail();
    this.pages = storage.allocator().pages();
    // An abort adds to the ATM before it leaves the active ones.
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
    this.most = Math.max(LEAST, pool.statistics().frames() / 8);
    storage.allocator().holdBack();
    pool.watchChanges(this);
  }

  /** Lets everything go. */
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

  /** Whether more is kept than there should be: nobody may go on changing pages. */
  boolean isFull() {
    return kept.size() >= most || storage.allocator().heldBack() >= most;
  }

  /** Pages of the data file. */
  int pages() {
    return pages;
  }

  /** Large values that are needed and that no row leads to; to be asked for once. */
  List<OlderValue> olderValues() {
    olderValuesInFiles.show();
    return olderValues;
  }

  /** Whether a transaction had written and not ended. */
  boolean isActive(long transaction) {
    return Arrays.binarySearch(active, transaction) >= 0;
  }

  /** Whether a transaction was rolled back and rows of it may be there. */
  boolean isAborted(long transaction) {
    return !isActive(transaction) && Arrays.binarySearch(aborted, transaction) >= 0;
  }

  /**
   * Whether a transaction that is neither active nor aborted was rolled back: no row of it should
   * be there.
   */
  boolean isForgotten(long transaction) {
    return storage.transactions().status(transaction) == TransactionTable.ABORTED;
  }

  /** A page as it was, to be asked for once; null if there was no such page. */
  @Nullable MemorySegment readOnce(int pageId) {
    return read(pageId, /* last= */ true);
  }

  /** A page as it was, to be asked for as often as one likes; null if there was no such page. */
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
