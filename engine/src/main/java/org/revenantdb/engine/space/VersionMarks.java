package org.revenantdb.engine.space;

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

  /** Those that wait for prepared transactions alone, which may take weeks; the cleaner's. */
  private final PageBitmap waitingForDecision = new PageBitmap();

  private volatile @Nullable PageBitmap pass;

  /**
   * The pages of the running pass, whole or not: one that is freed must not be visited any more.
   */
  private volatile @Nullable PageBitmap toVisit;

  private volatile boolean takesUpPostponed;
  private volatile boolean takesUpDecided;

  /** Where those that can wait are taken up next; the cleaner's. */
  private int nextLater;

  /** No marks. */
  public VersionMarks() {}

  /** Only the cleaner can give something back on this page: a deleted row, a large value. */
  public void mark(int pageId) {
    fresh.set(pageId);
    handOver(pageId);
  }

  /** The version bit of this page was set, or rows with versions were moved to it. */
  public void markForLater(int pageId) {
    later.set(pageId);
    handOver(pageId);
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
    waitingForDecision.clear(pageId);
    PageBitmap running = toVisit;
    if (running != null) {
      running.clear(pageId);
    }
  }

  /** The page was visited and has to be visited again when some transaction has ended. */
  public void postpone(int pageId) {
    waiting.set(pageId);
    fresh.clear(pageId);
    later.clear(pageId);
  }

  /**
   * The page was visited, and nothing is to be done there before a prepared transaction has its
   * outcome. Until {@link #decided} only passes after which transactions are forgotten visit it,
   * for its bit is set, and who writes to it does not mark it again; unless it is marked for a
   * ghost.
   */
  public void postponeUntilDecided(int pageId) {
    waitingForDecision.set(pageId);
    fresh.clear(pageId);
    later.clear(pageId);
    waiting.clear(pageId);
  }

  /** A prepared transaction has its outcome: the next pass takes up what waited for one. */
  public void decided() {
    takesUpDecided = true;
  }

  private void takeUpDecided() {
    if (!takesUpDecided) {
      return;
    }
    takesUpDecided = false; // what is decided from now on is seen by this pass, or the next
    for (int page = waitingForDecision.next(0);
        page >= 0;
        page = waitingForDecision.next(page + 1)) {
      fresh.set(page);
      waitingForDecision.clear(page);
    }
  }

  /**
   * Lets the next pass take up what was postponed: a transaction has ended of which no entry is
   * left that would tell it so.
   */
  public void takeUpPostponed() {
    takesUpPostponed = true;
  }

  /** Whether a pass takes up what was postponed; asked once by each. */
  public boolean mustTakeUpPostponed() {
    if (!takesUpPostponed) {
      return false;
    }
    takesUpPostponed = false; // who wishes it from now on has ended before this pass looks
    return true;
  }

  /**
   * Begins a pass over all marked pages.
   *
   * @param all also those postponed
   * @param forgets whether transactions are to be forgotten after it: then also those that wait for
   *     a decision, where others may have written since
   * @return the pages of the pass; more come while it runs
   */
  public PageBitmap begin(boolean all, boolean forgets) {
    if (forgets) {
      takesUpDecided = true;
    }
    takeUpDecided();
    PageBitmap running = new PageBitmap();
    toVisit = running;
    pass = running;
    add(fresh, running);
    add(later, running);
    if (all) {
      add(waiting, running);
    }
    return running;
  }

  /**
   * Begins a pass over what only the cleaner can do, and a few of those that can wait: nothing may
   * be forgotten after it.
   *
   * @param all also those postponed
   * @param few how many of those that can wait
   * @return the pages of the pass
   */
  public PageBitmap beginUrgent(boolean all, int few) {
    takeUpDecided();
    PageBitmap running = new PageBitmap();
    toVisit = running;
    add(fresh, running);
    if (all) {
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

  /** Whether no page is marked at all. */
  public boolean isEmpty() {
    return fresh.isEmpty()
        && later.isEmpty()
        && waiting.isEmpty()
        && (!takesUpDecided || waitingForDecision.isEmpty());
  }

  /** Whether there are pages that can wait. */
  public boolean hasLater() {
    return !later.isEmpty();
  }

  /** How many pages are marked. */
  public int size() {
    return fresh.size() + later.size() + waiting.size();
  }
}
