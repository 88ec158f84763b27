package org.revenantdb.engine.space;

import org.jspecify.annotations.Nullable;

/**
 * The pages whose version bit is set, as far as this life of the database knows, for the cleaner.
 *
 * <p>A page is added by whoever sets its bit, under the page's latch and after the record was
 * applied. While a pass of the cleaner runs, it is handed to that pass as well: a pass may say
 * FORGET only after it has seen every page onto which rows were moved meanwhile (R2).
 */
public class VersionMarks {
  /*
   * Not final: a test looks at the marks between two calls of a structure change.
   *
   * Ordering    mark: fresh.set, then read pass.  begin: write pass, then drain fresh into it. Both orders are
   *             sequentially consistent, so a page is in the pass, or was added before the pass began and is drained.
   */
  private final PageBitmap fresh = new PageBitmap();
  private final PageBitmap waiting = new PageBitmap();
  private volatile @Nullable PageBitmap pass;

  /** No marks. */
  public VersionMarks() {}

  /** The version bit of this page was set, or rows with versions were moved to it. */
  public void mark(int pageId) {
    fresh.set(pageId);
    PageBitmap running = pass;
    if (running != null) {
      running.set(pageId);
    }
  }

  /** The version bit of this page was cleared, or the page was freed. */
  public void clear(int pageId) {
    fresh.clear(pageId);
    waiting.clear(pageId);
    PageBitmap running = pass;
    if (running != null) {
      running.clear(pageId);
    }
  }

  /** The page was visited and has to be visited again when some transaction has ended. */
  public void postpone(int pageId) {
    waiting.set(pageId);
    fresh.clear(pageId);
  }

  /**
   * Begins a pass.
   *
   * @param all also those postponed
   * @return the pages of the pass; more come while it runs
   */
  public PageBitmap begin(boolean all) {
    PageBitmap running = new PageBitmap();
    pass = running;
    for (int page = fresh.next(0); page >= 0; page = fresh.next(page + 1)) {
      running.set(page);
    }
    if (all) {
      for (int page = waiting.next(0); page >= 0; page = waiting.next(page + 1)) {
        running.set(page);
      }
    }
    return running;
  }

  /** Ends the pass. */
  public void end() {
    pass = null;
  }

  /** Whether no page is marked at all. */
  public boolean isEmpty() {
    return fresh.isEmpty() && waiting.isEmpty();
  }

  /** How many pages are marked. */
  public int size() {
    return fresh.size() + waiting.size();
  }
}
