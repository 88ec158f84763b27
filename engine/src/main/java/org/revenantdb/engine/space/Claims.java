package org.revenantdb.engine.space;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The pages and extents that are on their way: the maps call them free, and somebody has taken one,
 * or is about to give it back. One at a time has a page, or an extent (R5).
 *
 * <p>A page is entered with what its extent is, mixed or not: that cannot change while somebody has
 * entered a page of it, so whoever leaves need not look again.
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

  private final Map<Integer, Boolean> pages = new ConcurrentHashMap<>();
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

  /** Enters a page, which is of a mixed extent or not; false if somebody else has. */
  public boolean tryPage(int page, boolean mixed) {
    return pages.putIfAbsent(page, mixed) == null;
  }

  /**
   * Enters a page that is in use, which its owner wants to free. If somebody else has entered it,
   * he has seen a map of the past, and leaves as soon as he has looked again.
   */
  void page(int page, boolean mixed) {
    while (!tryPage(page, mixed)) {
      Throwable stopped = log.failure();
      if (stopped != null) {
        throw new LogStoppedException(stopped);
      }
      Parking.parkNanos(this, PAUSE);
    }
  }

  /** Leaves a page that the caller has entered; returns whether its extent is a mixed one. */
  public boolean leavePage(int page) {
    try {
      return Boolean.TRUE.equals(pages.remove(page));
    } catch (Throwable failure) {
      log.fail(failure); // leaving comes after records, too (R18)
      throw failure;
    }
  }

  /** Whether somebody has entered the page. */
  boolean hasPage(int page) {
    return pages.containsKey(page);
  }

  /** Enters an extent; false if somebody else has. */
  public boolean tryExtent(int extent) {
    return extents.add(extent);
  }

  /** Leaves an extent. */
  public void leaveExtent(int extent) {
    try {
      extents.remove(extent);
    } catch (Throwable failure) {
      log.fail(failure); // leaving comes after records, too (R18)
      throw failure;
    }
  }

  /** The pages that somebody has entered, more or less. */
  public Set<Integer> pages() {
    return Collections.unmodifiableSet(pages.keySet());
  }
}
