package org.revenantdb.engine.space;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The pages that threads of the cleaner visit, or are on their way to. One thread at a time has a
 * page. If another one frees the page meanwhile, by merging it with a neighbour, the page is freed
 * only when the visitor has left it. So a page id that a thread has taken from the marks denotes
 * the same page until that thread is done.
 *
 * <p>Thread-safe, lock-free.
 */
public final class PageVisits {
  /*
   * Protocol    docs/protocols.md §35.
   *
   * State       of a page   none               no thread visits it
   *                         VISITED            a thread visits it
   *                         a tree's unit      a thread visits it, and it was freed: that thread has to free it
   * Transitions none -> VISITED                begin, before the thread takes the page from the pass
   *             VISITED -> a unit              free, after the page was taken from the pass, its latch held
   *             VISITED, a unit -> none        end; in the second case frees the page
   *
   * Ordering    begin, then the bit of the pass is cleared; the bit is cleared, then free checks. Both are
   *             sequentially consistent: a thread that frees sees the thread that took the bit (jcstress:
   *             PageVisitStress).
   */
  private static final Unit VISITED = new Unit(-2, -2);

  private final Map<Integer, Unit> visits = new ConcurrentHashMap<>();
  private final Owner owner;
  private final Consumer<Throwable> stops;

  /** The owner to which a freed page returns. */
  @FunctionalInterface
  interface Owner {
    void release(Unit unit, int page);
  }

  /**
   * Starts without visits.
   *
   * @param allocator receives freed pages
   * @param stops stops the engine: if a visit cannot end, no pass can
   */
  public PageVisits(Allocator allocator, Consumer<Throwable> stops) {
    this(allocator::release, stops);
  }

  PageVisits(Owner owner) {
    this(owner, failure -> {});
  }

  private PageVisits(Owner owner, Consumer<Throwable> stops) {
    this.owner = owner;
    this.stops = stops;
  }

  /** Records that the caller is going to visit a page; false if another thread is visiting it. */
  public boolean begin(int page) {
    return visits.putIfAbsent(page, VISITED) == null;
  }

  /**
   * Whether a page that the caller is visiting was freed since the visit began. Call it with the
   * page latched, or if the page could not be latched.
   */
  public boolean isFreed(int page) {
    return visits.get(page) != VISITED;
  }

  /** Called when the caller has left a page that it began to visit. */
  public void end(int page) {
    try {
      Unit freed = visits.remove(page);
      if (freed != null && freed != VISITED) {
        owner.release(freed, page);
      }
    } catch (Throwable failure) {
      stops.accept(failure);
      throw failure;
    }
  }

  /**
   * Frees a page of a tree whose free is applied and whose mark is removed: now, or when its
   * visitor has left. The caller has it latched.
   */
  public void free(Unit unit, int page) {
    if (!visits.replace(page, VISITED, unit)) {
      owner.release(unit, page);
    }
  }
}
