package org.revenantdb.gc;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * The snapshots that were open at one moment, sorted. The set decides which versions may be pruned,
 * at that moment and for ever after.
 *
 * <p>It stands for its members <em>and for every timestamp from its {@link #bound} on</em>: a
 * snapshot that was opened after the set was computed is at or above the bound. So a stale set
 * never reports a needed version as not needed. It only reports more versions as needed.
 *
 * <p>Immutable: any thread may use it.
 */
public final class SnapshotSet {
  private final long[] sorted;
  private final long bound;
  private final long oldestWriter;

  private SnapshotSet(long[] sorted, long bound, long oldestWriter) {
    this.sorted = sorted;
    this.bound = bound;
    this.oldestWriter = oldestWriter;
  }

  /**
   * Makes a set from the first {@code n} values, in any order and with repetitions.
   *
   * @param oldestWriter the lowest snapshot whose holder writes; {@link Long#MAX_VALUE} if there is
   *     none
   */
  static SnapshotSet of(long[] values, int n, long bound, long oldestWriter) {
    if (n > 1) { // the first sort of a JVM takes a millisecond, and each open makes an empty set
      Arrays.sort(values, 0, n);
    }
    int distinct = 0;
    for (int i = 0; i < n; i++) {
      if (distinct == 0 || values[distinct - 1] != values[i]) {
        values[distinct++] = values[i];
      }
    }
    return new SnapshotSet(Arrays.copyOf(values, distinct), bound, oldestWriter);
  }

  /**
   * Whether an open or future snapshot can see a version. Such a snapshot lies in the version's
   * lifetime: from its own commit up to, but not including, the commit of its successor.
   *
   * <p>Do not call this for a version whose successor has not committed: its lifetime has no end,
   * so it is always needed.
   *
   * @param committed when the version was committed
   * @param superseded when its successor was committed
   * @return false if the version may be dropped
   */
  public boolean needs(long committed, long superseded) {
    if (superseded > bound) {
      return true;
    }
    return youngestIn(committed, superseded) >= 0;
  }

  /**
   * The timestamp from which on any snapshot may be open: the clock before the set was computed.
   *
   * @return a timestamp
   */
  public long bound() {
    return bound;
  }

  /**
   * A timestamp below which no snapshot is, or ever will be.
   *
   * @return the first member, or the bound if that is smaller
   */
  public long horizon() {
    return sorted.length == 0 ? bound : Math.min(bound, sorted[0]);
  }

  /**
   * The oldest member whose holder was recorded as a writer. This is advice: other holders may
   * write by now.
   *
   * @return its snapshot, {@link Long#MAX_VALUE} if there was none
   */
  public long oldestWriter() {
    return oldestWriter;
  }

  /**
   * The number of members.
   *
   * @return how many different snapshots were open
   */
  public int size() {
    return sorted.length;
  }

  /**
   * A member.
   *
   * @param index from 0, the oldest, up to {@link #size} - 1
   * @return its snapshot
   */
  public long member(int index) {
    return sorted[index];
  }

  /**
   * The youngest member in a lifetime.
   *
   * @param committed its beginning
   * @param superseded its end, which is not a part of it
   * @return its index, -1 if there is none
   */
  public int youngestIn(long committed, long superseded) {
    int at = Arrays.binarySearch(sorted, superseded);
    int before = (at >= 0 ? at : -at - 1) - 1;
    return before >= 0 && sorted[before] >= committed ? before : -1;
  }

  /**
   * Visits the members.
   *
   * @param visitor gets each different snapshot once, in ascending order
   */
  public void forEach(LongConsumer visitor) {
    for (long snapshot : sorted) {
      visitor.accept(snapshot);
    }
  }

  @Override
  public String toString() {
    return "SnapshotSet" + Arrays.toString(sorted) + " and from " + bound + " on";
  }
}
