package org.revenantdb.chaos.inject;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The points of the classes that were changed, by number.
 *
 * <p>Threads: any.
 */
public final class ErrorSites {

  /** More points are not put into classes. */
  public static final int MOST = 1 << 17;

  /** Grows under the lock, and is read without it: a number is known only behind its point. */
  private final AtomicReferenceArray<ErrorSite> sites = new AtomicReferenceArray<>(MOST);

  private int size;
  private final Set<String> classes = new HashSet<>();
  private final Map<String, String> unchanged = new TreeMap<>();

  /** Creates an empty list. */
  public ErrorSites() {}

  /**
   * Adds a point.
   *
   * @param site the point
   * @return its number; -1 if there are too many
   */
  synchronized int add(ErrorSite site) {
    if (size == MOST) {
      unchanged.put(site.className(), "there are too many points");
      return -1;
    }
    sites.set(size, site);
    classes.add(site.className());
    return size++;
  }

  /** Whether a class has points. */
  synchronized boolean isChosen(String className) {
    return classes.contains(className);
  }

  /** Notes that a class could not be changed. */
  synchronized void unchanged(String className, String why) {
    unchanged.put(className, why);
  }

  /**
   * Returns a point.
   *
   * @param number of the point
   * @return the point
   */
  public ErrorSite get(int number) {
    return sites.get(number);
  }

  /**
   * Returns how many points there are.
   *
   * @return the number
   */
  public synchronized int size() {
    return size;
  }

  /**
   * Returns the classes that stay as they were, or have points only in a part.
   *
   * @return the reason for each
   */
  public synchronized Map<String, String> unchanged() {
    return Map.copyOf(unchanged);
  }
}
