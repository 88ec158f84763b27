package org.revenantdb.jmh.tpcc;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What sessions have done. Immutable.
 *
 * @param committed transactions of each type
 * @param rolledBack New-Orders with an item that there is none of
 * @param conflicts how often a transaction was begun again because another one was first
 */
public record TpccCounts(Map<TpccType, Long> committed, long rolledBack, long conflicts) {
  /** Copies the map. */
  public TpccCounts {
    committed = Collections.unmodifiableMap(new EnumMap<>(committed));
  }

  /**
   * How many transactions of a type were committed.
   *
   * @param type which
   * @return the number
   */
  public long committed(TpccType type) {
    return committed.getOrDefault(type, 0L);
  }

  /**
   * All transactions that were done, those that were rolled back for an unused item among them.
   *
   * @return the number
   */
  public long total() {
    return rolledBack + committed.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * The work done since.
   *
   * @param earlier counts of the same sessions
   * @return the difference
   */
  public TpccCounts since(TpccCounts earlier) {
    Map<TpccType, Long> difference = new EnumMap<>(TpccType.class);
    for (TpccType type : TpccType.values()) {
      difference.put(type, committed(type) - earlier.committed(type));
    }
    return new TpccCounts(
        difference, rolledBack - earlier.rolledBack, conflicts - earlier.conflicts);
  }
}
