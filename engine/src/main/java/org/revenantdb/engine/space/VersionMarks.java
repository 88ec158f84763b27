package org.revenantdb.engine.space;

import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.page.Page;

/**
 * The pages whose version bit is set, as far as this life of the database knows, for the cleaner.
 *
 * <p>A page is added by whoever sets its bit, under the page's latch and after the record was
 * applied. Most pages have nothing but versions that their next writer takes away when he needs the
 * room, and can wait; those with a ghost bit, where only the cleaner can give something back,
 * cannot.
 *
 * <p>While a pass of the cleaner over all marked pages runs, a page that is marked is handed to
 * that pass as well: it may say FORGET only after it has seen every page onto which rows were moved
 * meanwhile (R2).
 */
public class VersionMarks {
  /*
   * Not final: a test looks at the marks between two calls of a structure change.
   *
   * Ordering    mark: fresh.set, then read pass.  begin: write pass, then drain fresh into it. Both orders are
   *             sequentially consistent, so a page is in the pass, or was added before the pass began and is drained.
   */
  private final PageBitmap fresh = new PageBitmap();
  private final PageBitmap later = new PageBitmap();
  private final PageBitmap waiting = new PageBitmap();

  /** Those that wait for prepared or long transactions alone, which may take weeks. */
  private final PageBitmap waitingLong = new PageBitmap();

  /** Heads of values that their writer has given up before they were in a row. */
  private final Set<Integer> givenUp = ConcurrentHashMap.newKeySet();

  private volatile @Nullable PageBitmap pass;

  /**
   * The pages of the running pass, whole or not: one that is freed must not be visited any more.
   */
  private volatile @Nullable PageBitmap toVisit;

  private volatile boolean takesUpLong;
  private volatile boolean incomplete;

  /** Where those that can wait are taken up next; the cleaner's. */
  private int nextLater;

  /** No marks. */
  public VersionMarks() {}

  /** Only the cleaner can give something back on this page: a deleted row, a large value. */
  public void mark(int pageId) {
    mark(fresh, pageId);
  }

  /** The version bit of this page was set, or rows with versions were moved to it. */
  public void markForLater(int pageId) {
    mark(later, pageId);
  }

  /** The record that says so is published, and a latch is held: this does not throw. */
  private void mark(PageBitmap pages, int pageId) {
    try {
      pages.set(pageId);
      handOver(pageId);
    } catch (OutOfMemoryError notMarked) {
      incomplete = true;
    }
  }

  /**
   * Whether a mark was lost for want of memory. Then the space maps have to be read again, and
   * nothing may be forgotten before that.
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
   * The value that begins on this page is in no row and never will be: the cleaner may free it
   * though its writer has not ended. By its writer, who has not. It is forgotten when the page is
   * freed, and with the process: the outcome of the writer frees the value then.
   */
  public void giveUp(int head) {
    givenUp.add(head);
    mark(head);
  }

  /** Whether the value that begins on this page was given up, and has not been freed yet. */
  public boolean isGivenUp(int head) {
    return givenUp.contains(head);
  }

  /** The values that were given up and have not been freed yet, by their first pages. */
  public Set<Integer> givenUp() {
    return Collections.unmodifiableSet(givenUp);
  }

  /** A page has these flags now, from others whose rows came here. */
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

  /** The version bit of this page was cleared, or the page was freed. */
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

  /** The page was visited and has to be visited again: some transaction has not ended. */
  public void postpone(int pageId) {
    waiting.set(pageId);
    fresh.clear(pageId);
    later.clear(pageId);
  }

  /** As {@link #postpone}, of a page that could not be visited, unless its mark is gone by now. */
  public void postponeIfMarked(int pageId) {
    if (fresh.contains(pageId) || later.contains(pageId)) {
      postpone(pageId);
    }
  }

  /** The page was visited, and waits for snapshots and the log alone; no transaction is active. */
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
   * Nothing is to be done on the page, which is latched, before a prepared transaction has its
   * outcome, or a long one has ended; a bulk load is one. Until {@link #longEnded} only passes
   * after which transactions are forgotten visit it, for its bit is set, and who writes to it does
   * not mark it again; unless it is marked for a ghost.
   */
  public void postponeLong(int pageId) {
    // Cleared first, then set, here and in takeUpLong: of two at once one leaves it in a set.
    waitingLong.makeRoom(pageId);
    fresh.clear(pageId);
    later.clear(pageId);
    waiting.clear(pageId);
    waitingLong.set(pageId);
  }

  /** A prepared or long transaction has its outcome: the next pass takes up what waited for one. */
  public void longEnded() {
    takesUpLong = true;
  }

  private void takeUpLong() {
    if (!takesUpLong) {
      return;
    }
    takesUpLong = false; // what ends from now on is seen by this pass, or the next
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
   * @param all also those that wait long: where transactions are to be forgotten after the pass, as
   *     others may have written there since
   * @param postponed also those postponed
   * @return the pages of the pass; more come while it runs
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
   * Begins a pass over what only the cleaner can do, and a few of those that can wait: nothing may
   * be forgotten after it.
   *
   * @param postponed also those postponed
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

  /** Whether there is no page for a pass but those that wait long. */
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

  /** How many pages the running pass has yet to visit, more or less; 0 if there is none. */
  public int leftInPass() {
    PageBitmap running = toVisit;
    return running == null ? 0 : running.count();
  }

  /** How many pages only the cleaner can give something back on, more or less. */
  public int fresh() {
    return fresh.count();
  }

  /** How many pages can wait for their next writer, more or less. */
  public int later() {
    return later.count();
  }

  /** How many pages wait until a transaction has ended, more or less. */
  public int postponed() {
    return waiting.count();
  }

  /** How many of them wait for prepared or long transactions alone, more or less. */
  public int postponedLong() {
    return waitingLong.count();
  }

  /** How many pages are marked, without those that wait long. */
  public int size() {
    return fresh.size() + later.size() + waiting.size();
  }
}
