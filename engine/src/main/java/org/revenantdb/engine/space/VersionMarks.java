package org.revenantdb.engine.space;

import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;

/**
 * The pages whose version bit is set, as far as this life of the database knows, for the cleaner.
 *
 * <p>The thread that sets a page's bit adds the page, under the page's latch and after the record
 * was applied. Most pages have only versions that their next writer removes when it needs the room;
 * these pages can wait. Pages with a ghost bit cannot wait, because only the cleaner can free their
 * space.
 *
 * <p>While a pass of the cleaner over all marked pages runs, a page that is marked is also added to
 * that pass: the pass may write FORGET only after it has visited every page to which rows were
 * moved meanwhile (R2).
 */
public class VersionMarks {
  /*
   * Not final: a test reads the marks between two calls of a structure change.
   *
   * Ordering    mark: fresh.set, then read pass.  begin: write pass, then drain fresh into it. Both orders are
   *             sequentially consistent, so a page is in the pass, or was added before the pass began and is drained.
   */
  private final PageBitmap fresh = new PageBitmap();
  private final PageBitmap later = new PageBitmap();
  private final PageBitmap waiting = new PageBitmap();

  /** The pages that wait only for prepared or long transactions, which may take weeks. */
  private final PageBitmap waitingLong = new PageBitmap();

  /** Heads of values that their writer abandoned before a row referred to them. */
  private final Set<Integer> givenUp = ConcurrentHashMap.newKeySet();

  private volatile @Nullable PageBitmap pass;

  /**
   * The pages of the running pass, whole or not: one that is freed must not be visited any more.
   */
  private volatile @Nullable PageBitmap toVisit;

  private volatile boolean takesUpLong;
  private volatile boolean incomplete;

  /** The place from which pages that can wait are taken next; used only by the cleaner. */
  private int nextLater;

  /** Makes an object without marks. */
  public VersionMarks() {}

  /** Marks a page on which only the cleaner can free something: a deleted row or a large value. */
  public void mark(int pageId) {
    mark(fresh, pageId);
  }

  /** Marks a page whose version bit was set, or to which rows with versions were moved. */
  public void markForLater(int pageId) {
    mark(later, pageId);
  }

  /**
   * Adds a mark. It never throws, because the record of the change is published and a latch is
   * held.
   */
  private void mark(PageBitmap pages, int pageId) {
    try {
      pages.set(pageId);
      handOver(pageId);
    } catch (OutOfMemoryError notMarked) {
      incomplete = true;
    }
  }

  /**
   * Whether a mark was lost for lack of memory. Then the space maps must be read again, and nothing
   * may be forgotten before that.
   */
  public boolean areIncomplete() {
    return incomplete;
  }

  /** As {@link #areIncomplete}; the caller reads the space maps after this. */
  public boolean takeIncomplete() {
    boolean was = incomplete;
    if (was) {
      incomplete = false;
    }
    return was;
  }

  /**
   * Records that the value that begins on this page is in no row and never will be. So the cleaner
   * may free it although its writer has not ended. Called by the writer, which has not ended. The
   * record ends when the page is freed, and with the process; after that the outcome of the writer
   * decides.
   */
  public void giveUp(int head) {
    givenUp.add(head);
    mark(head);
  }

  /** Whether the value that begins on this page was abandoned, and has not been freed yet. */
  public boolean isGivenUp(int head) {
    return givenUp.contains(head);
  }

  /** The values that were abandoned and have not been freed yet, by their first pages. */
  public Set<Integer> givenUp() {
    return Collections.unmodifiableSet(givenUp);
  }

  /** Marks a page that now has these flags, from other pages whose rows were moved to it. */
  public void carry(int pageId, int flags) {
    if ((flags & Page.FLAG_GHOST) != 0) {
      mark(pageId);
    } else if ((flags & Page.FLAG_VERSIONS) != 0) {
      markForLater(pageId);
    }
  }

  private void handOver(int pageId) {
    PageBitmap running = pass;
    if (running != null) {
      running.set(pageId);
    }
  }

  /** Removes the mark of a page whose version bit was cleared, or which was freed. */
  public void clear(int pageId) {
    fresh.clear(pageId);
    later.clear(pageId);
    waiting.clear(pageId);
    waitingLong.clear(pageId);
    givenUp.remove(pageId);
    PageBitmap running = toVisit;
    if (running != null) {
      running.clear(pageId);
    }
  }

  /**
   * Called for a page that was visited and must be visited again, because some transaction has not
   * ended.
   */
  public void postpone(int pageId) {
    waiting.set(pageId);
    fresh.clear(pageId);
    later.clear(pageId);
  }

  /**
   * As {@link #postpone}, for a page that could not be visited, unless its mark has been removed.
   */
  public void postponeIfMarked(int pageId) {
    if (fresh.contains(pageId) || later.contains(pageId)) {
      postpone(pageId);
    }
  }

  /**
   * Called for a page that was visited and waits only for snapshots and the log; no transaction is
   * active.
   */
  public void undecided(int pageId, boolean ghost) {
    if (ghost) {
      fresh.set(pageId);
    } else {
      later.set(pageId);
      fresh.clear(pageId);
    }
    waiting.clear(pageId);
  }

  /**
   * Called for a latched page on which nothing can be done before a prepared transaction has its
   * outcome, or a long one has ended, such as a bulk load. Until {@link #longEnded} only passes
   * after which transactions are forgotten visit the page: its bit is set, so its writers do not
   * mark it again, except for a ghost.
   */
  public void postponeLong(int pageId) {
    // Cleared first, then set, here and in takeUpLong: of two threads at once, one leaves it
    // in a set.
    waitingLong.makeRoom(pageId);
    fresh.clear(pageId);
    later.clear(pageId);
    waiting.clear(pageId);
    waitingLong.set(pageId);
  }

  /**
   * Called when a prepared or long transaction has its outcome: the next pass visits the pages that
   * waited for such transactions.
   */
  public void longEnded() {
    takesUpLong = true;
  }

  private void takeUpLong() {
    if (!takesUpLong) {
      return;
    }
    takesUpLong = false; // transactions that end from now on are seen by this pass, or the next
    try {
      for (int page = waitingLong.next(0); page >= 0; page = waitingLong.next(page + 1)) {
        fresh.makeRoom(page);
        waitingLong.clear(page);
        fresh.set(page);
      }
    } catch (OutOfMemoryError notNow) {
      takesUpLong = true;
      throw notNow;
    }
  }

  /**
   * Begins a pass over all marked pages.
   *
   * @param all whether to include pages that wait long: needed if transactions are forgotten after
   *     the pass, since others may have written to these pages meanwhile
   * @param postponed whether to include postponed pages
   * @return the pages of the pass; more are added while it runs
   */
  public PageBitmap begin(boolean all, boolean postponed) {
    if (all) {
      takesUpLong = true;
    }
    takeUpLong();
    PageBitmap running = new PageBitmap();
    toVisit = running;
    pass = running;
    add(fresh, running);
    add(later, running);
    if (postponed) {
      add(waiting, running);
    }
    return running;
  }

  /**
   * Begins a pass over the pages that only the cleaner can clean, and a few of those that can wait.
   * Nothing may be forgotten after it.
   *
   * @param postponed whether to include postponed pages
   * @param few how many of those that can wait
   * @return the pages of the pass
   */
  public PageBitmap beginUrgent(boolean postponed, int few) {
    takeUpLong();
    PageBitmap running = new PageBitmap();
    toVisit = running;
    add(fresh, running);
    if (postponed) {
      add(waiting, running);
    }
    int page = later.next(nextLater);
    for (int taken = 0; taken < few && page >= 0; taken++) {
      running.set(page);
      page = later.next(page + 1);
    }
    nextLater = Math.max(page, 0);
    return running;
  }

  private static void add(PageBitmap pages, PageBitmap running) {
    for (int page = pages.next(0); page >= 0; page = pages.next(page + 1)) {
      running.set(page);
    }
  }

  /** Ends the pass. */
  public void end() {
    pass = null;
    toVisit = null;
  }

  /** Whether there are no pages for a pass except those that wait long. */
  public boolean isEmpty() {
    return fresh.isEmpty()
        && later.isEmpty()
        && waiting.isEmpty()
        && (!takesUpLong || waitingLong.isEmpty());
  }

  /** Whether there are pages that can wait. */
  public boolean hasLater() {
    return !later.isEmpty();
  }

  /**
   * The approximate number of pages that the running pass has yet to visit; 0 if there is no pass.
   */
  public int leftInPass() {
    PageBitmap running = toVisit;
    return running == null ? 0 : running.count();
  }

  /** The approximate number of pages on which only the cleaner can free something. */
  public int fresh() {
    return fresh.count();
  }

  /** The approximate number of pages that can wait for their next writer. */
  public int later() {
    return later.count();
  }

  /** The approximate number of pages that wait until a transaction has ended. */
  public int postponed() {
    return waiting.count();
  }

  /** The approximate number of pages that wait only for prepared or long transactions. */
  public int postponedLong() {
    return waitingLong.count();
  }

  /** How many pages are marked, without those that wait long. */
  public int size() {
    return fresh.size() + later.size() + waiting.size();
  }
}
