package org.revenantdb.engine.space;

import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The pages and extents that are on their way: the maps call them free, and somebody has taken one,
 * or is about to give it back. One at a time has a page, or an extent (R5).
 *
 * <p>Who has entered a page, and sees afterwards that the map calls it free, owns it until he
 * leaves: whoever had entered it before has changed the map before he left. What the maps call in
 * use is in no set, so these are as small as what is going on, whatever the size of the file.
 *
 * <p>Thread-safe, lock-free. Source: the exclusive page lock of "Concurrent Updates to Pages with
 * Fixed-Size Rows Using Lock-Free Algorithms" (VLDB 2020), section 3; {@code docs/protocols.md}
 * §25.
 */
public final class Claims {
  /** Longer than a look at a byte takes whoever has not lost his processor. */
  private static final long PAUSE = 10_000;

  private final Set<Integer> pages = ConcurrentHashMap.newKeySet();
  private final Set<Integer> extents = ConcurrentHashMap.newKeySet();

  private final Journal log;

  /**
   * Nobody is on his way.
   *
   * @param log is told if somebody cannot leave: nobody could go on then
   */
  public Claims(Journal log) {
    this.log = log;
  }

  /** Enters a page; false if somebody else has. */
  public boolean tryPage(int page) {
    return pages.add(page);
  }

  /**
   * Enters a page that is in use, which its owner wants to free. If somebody else has entered it,
   * he has seen a map of the past, and leaves as soon as he has looked again.
   */
  void page(int page) {
    while (!pages.add(page)) {
      Throwable stopped = log.failure();
      if (stopped != null) {
        throw new LogStoppedException(stopped);
      }
      LockSupport.parkNanos(this, PAUSE);
    }
  }

  /** Leaves a page. */
  public void leavePage(int page) {
    leave(pages, page);
  }

  /** Comes after records, too: what fails then stops the engine (R18). */
  private void leave(Set<Integer> set, int member) {
    try {
      set.remove(member);
    } catch (Throwable failure) {
      log.fail(failure);
      throw failure;
    }
  }

  /** Whether somebody has entered the page. */
  boolean hasPage(int page) {
    return pages.contains(page);
  }

  /** Enters an extent; false if somebody else has. */
  public boolean tryExtent(int extent) {
    return extents.add(extent);
  }

  /** Leaves an extent. */
  public void leaveExtent(int extent) {
    leave(extents, extent);
  }

  /** The pages that somebody has entered, more or less. */
  public Set<Integer> pages() {
    return Collections.unmodifiableSet(pages);
  }
}
