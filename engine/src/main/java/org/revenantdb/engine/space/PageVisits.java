package org.revenantdb.engine.space;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The pages that threads of the cleaner are on their way to, or visit. One at a time has a page;
 * and a page that one of them frees meanwhile, by merging it with a neighbour, is given back when
 * the other has left it: so a page id that somebody has taken from the marks names the same page
 * until he is done.
 *
 * <p>Thread-safe, lock-free.
 */
public final class PageVisits {
  /*
   * Protocol    docs/protocols.md §35.
   *
   * State       of a page   none               nobody is on his way
   *                         VISITED            somebody is
   *                         a tree's unit      somebody is, and it was freed: it is his to give back
   * Transitions none -> VISITED                begin, before he takes the page from the pass
   *             VISITED -> a unit              free, after the page was taken from the pass, its latch held
   *             VISITED, a unit -> none        end; in the second case gives it back
   *
   * Ordering    begin, then the bit of the pass is cleared; the bit is cleared, then free looks. Both are sequentially
   *             consistent: who takes the bit is seen by who frees (jcstress: PageVisitStress).
   */
  private static final Unit VISITED = new Unit(-2, -2);

  private final Map<Integer, Unit> visits = new ConcurrentHashMap<>();
  private final Owner owner;
  private final Consumer<Throwable> stops;

  /** Whom freed pages are given back to. */
  @FunctionalInterface
  interface Owner {
    void release(Unit unit, int page);
  }

  /**
   * Nobody is on his way.
   *
   * @param allocator to which freed pages go back
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

  /** Says that the caller is going to visit a page; false if somebody else is. */
  public boolean begin(int page) {
    return visits.putIfAbsent(page, VISITED) == null;
  }

  /**
   * Whether a page that the caller is visiting was freed since he began: to be asked with the page
   * latched, or when it could not be had.
   */
  public boolean isFreed(int page) {
    return visits.get(page) != VISITED;
  }

  /** The caller has left a page that he began to visit. */
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
   * Gives a page of a tree back whose free is applied and whose mark is gone, now or when he who is
   * visiting it has left. The caller has it latched.
   */
  public void free(Unit unit, int page) {
    if (!visits.replace(page, VISITED, unit)) {
      owner.release(unit, page);
    }
  }
}
