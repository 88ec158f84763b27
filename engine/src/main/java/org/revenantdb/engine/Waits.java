package org.revenantdb.engine;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.revenantdb.latch.WaitStatistics;

/**
 * How often and how long threads have waited inside a database, for each class: since it was
 * opened, or between two moments. Immutable.
 *
 * <p>A wait is counted when it has ended. The classes are read one after the other while others
 * count, so they need not belong to the same nanosecond.
 *
 * {@snippet :
 * Waits before = db.waitStatistics();
 * work(db);
 * Waits during = db.waitStatistics().since(before);
 * System.out.println(during.of(WaitClass.LOG_FORCE).averageNanos());
 * }
 */
public final class Waits {
  /** Of each class, in their order. */
  private final WaitStatistics.Snapshot[] snapshots;

  private final Map<WaitClass, WaitCounts> counts = new EnumMap<>(WaitClass.class);

  /** Of each class, in their order. */
  Waits(WaitStatistics.Snapshot... snapshots) {
    this.snapshots = snapshots.clone();
    WaitClass[] classes = WaitClass.values();
    for (int i = 0; i < classes.length; i++) {
      WaitStatistics.Snapshot one = snapshots[i];
      counts.put(
          classes[i], new WaitCounts(classes[i], one.waits(), one.totalNanos(), one.maxNanos()));
    }
  }

  /**
   * The waits of a class.
   *
   * @param waitClass the class
   * @return its counts
   */
  public WaitCounts of(WaitClass waitClass) {
    return Objects.requireNonNull(counts.get(waitClass));
  }

  /**
   * The waits of all classes.
   *
   * @return the counts of each, those without a wait too, in the order of {@link WaitClass}
   */
  public List<WaitCounts> all() {
    return List.copyOf(counts.values());
  }

  /**
   * Returns the waits since an earlier moment.
   *
   * @param earlier taken before, of the same open database
   * @return the difference
   * @throws IllegalArgumentException if it was taken later or from another database, as far as the
   *     engine can detect that
   */
  public Waits since(Waits earlier) {
    WaitStatistics.Snapshot[] differences = new WaitStatistics.Snapshot[snapshots.length];
    Arrays.setAll(differences, i -> snapshots[i].minus(earlier.snapshots[i]));
    return new Waits(differences);
  }

  /** The classes with at least one wait, one in each line. */
  @Override
  public String toString() {
    return Arrays.stream(snapshots)
        .filter(one -> one.waits() > 0)
        .map(WaitStatistics.Snapshot::toString)
        .collect(Collectors.joining("\n"));
  }
}
