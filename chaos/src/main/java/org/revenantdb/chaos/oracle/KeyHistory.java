package org.revenantdb.chaos.oracle;

import static org.revenantdb.chaos.oracle.PromisedTransaction.NEVER;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that ever was to be written to one key.
 *
 * <p>Threads: built by one, read by any.
 */
final class KeyHistory {

  final Bytes key;

  /** By the place of the attempt; those never attempted are last. */
  private final List<PromisedTransaction> writers = new ArrayList<>();

  private final Map<Bytes, List<PromisedTransaction>> byValue = new HashMap<>();
  private final List<PromisedTransaction> removers = new ArrayList<>();

  /** The first word about the key. */
  private long begun = NEVER;

  KeyHistory(Bytes key) {
    this.key = key;
  }

  void add(PromisedTransaction writer, @Nullable Bytes value) {
    writers.add(writer);
    if (value == null) {
      removers.add(writer);
    } else {
      byValue.computeIfAbsent(value, v -> new ArrayList<>(1)).add(writer);
    }
    begun = Math.min(begun, Math.min(writer.begun, writer.attempted));
  }

  void sort() {
    writers.sort(Comparator.comparingLong(writer -> writer.attempted));
  }

  long begun() {
    return begun;
  }

  List<PromisedTransaction> writers() {
    return writers;
  }

  /** Who wrote just that, whatever became of them. */
  List<PromisedTransaction> writersOf(@Nullable Bytes value) {
    return value == null ? removers : byValue.getOrDefault(value, List.of());
  }

  /** How many writers were attempted before a place; they are the first ones. */
  int attemptedBefore(long place) {
    int low = 0;
    int high = writers.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (writers.get(middle).attempted < place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
