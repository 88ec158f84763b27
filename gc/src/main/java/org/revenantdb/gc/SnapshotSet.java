package org.revenantdb.gc;

import java.util.Arrays;
import java.util.function.LongConsumer;

/**
 * The snapshots that were open at one moment, sorted, and what they allow to be pruned, at that
 * moment and for ever after.
 *
 * <p>It stands for its members <em>and for every timestamp from its {@link #bound} on</em>: a
 * snapshot that was opened after the set was computed is at or above the bound. So a set that has
 * become stale never says that a version is not needed when it is; it only says more often that one
 * is.
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
   * From the first {@code n} values, in any order and with repetitions.
   *
   * @param oldestWriter the lowest of those who write; {@link Long#MAX_VALUE} if nobody does
   */
  static SnapshotSet of(long[] values, int n, long bound, long oldestWriter) {
    Arrays.sort(values, 0, n);
    int distinct = 0;
    for (int i = 0; i < n; i++) {
      if (distinct == 0 || values[distinct - 1] != values[i]) {
        values[distinct++] = values[i];
      }
    }
    return new SnapshotSet(Arrays.copyOf(values, distinct), bound, oldestWriter);
  }

  /**
   * Whether a snapshot, open or yet to be opened, can see a version: one in its lifetime, from its
   * own commit up to, but not including, the commit of its successor.
   *
   * <p>A version whose successor has not committed has no end of life and is always needed; do not
   * ask.
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
   * The moment from which on any snapshot may be open: the clock before the set was computed.
   *
   * @return a timestamp
   */
  public long bound() {
    return bound;
  }

  /**
   * A moment below which no snapshot is, nor ever will be.
   *
   * @return the first member, or the bound if that is smaller
   */
  public long horizon() {
    return sorted.length == 0 ? bound : Math.min(bound, sorted[0]);
  }

  /**
   * The oldest member whose holder had said that he writes. Advice: others may write by now.
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
