package org.revenantdb.engine.space;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.revenantdb.engine.change.Journal;
import org.revenantdb.latch.Parking;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The pages and extents that are being taken or freed: the maps mark them as free, and a thread has
 * taken one, or is about to free it. One thread at a time has a page, or an extent (R5).
 *
 * <p>A page is entered together with the kind of its extent, mixed or not. The kind cannot change
 * while a page of the extent is entered, so a thread that leaves need not check again.
 *
 * <p>A thread that has entered a page, and then finds it free in the map, owns it until it leaves:
 * a thread that had entered it before has changed the map before leaving. Pages that are in use
 * according to the maps are in no set. So the sets are only as large as the present activity,
 * whatever the size of the file.
 *
 * <p>Thread-safe, lock-free. Source: the exclusive page lock of "Concurrent Updates to Pages with
 * Fixed-Size Rows Using Lock-Free Algorithms" (VLDB 2020), section 3; {@code docs/protocols.md}
 * §25.
 */
public final class Claims {
  /** Longer than reading a byte takes a thread that has not lost its processor. */
  private static final long PAUSE = 10_000;

  private final Map<Integer, Boolean> pages = new ConcurrentHashMap<>();
  private final Set<Integer> extents = ConcurrentHashMap.newKeySet();

  private final Journal log;

  /**
   * Starts with no entries.
   *
   * @param log stopped if a thread cannot leave, because then no other could continue
   */
  public Claims(Journal log) {
    this.log = log;
  }

  /** Enters a page of an extent that is mixed or not; false if another thread has entered it. */
  public boolean tryPage(int page, boolean mixed) {
    return pages.putIfAbsent(page, mixed) == null;
  }

  /**
   * Enters a used page, which its owner wants to free. If another thread has entered it, that
   * thread has seen a former state of the map, and leaves as soon as it has checked again.
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

  /** Whether a thread has entered the page. */
  boolean hasPage(int page) {
    return pages.containsKey(page);
  }

  /** Enters an extent; false if another thread has entered it. */
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

  /** The pages that are entered, approximately. */
  public Set<Integer> pages() {
    return Collections.unmodifiableSet(pages.keySet());
  }
}
