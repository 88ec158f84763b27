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

  /** Of each thread of each life what it did not announce, in the order in which it told of it. */
  private final Map<Teller, List<PromisedTransaction>> unannounced = new HashMap<>();

  private final List<Witness> witnesses = new ArrayList<>();

  /** The first word about the key. */
  private long begun = NEVER;

  /** A thread of a life. */
  private record Teller(int life, long thread) {}

  /**
   * What a durable reader was given that several may have written.
   *
   * @param place when that was said
   * @param value what it was
   * @param since the earliest attempt of those
   */
  record Witness(long place, @Nullable Bytes value, long since) {}

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
    if (!writer.announced && writer.attempted != NEVER) {
      Teller teller = new Teller(writer.life, writer.threadId);
      unannounced.computeIfAbsent(teller, t -> new ArrayList<>()).add(writer);
    }
    begun = Math.min(begun, Math.min(writer.begun, writer.attempted));
  }

  void sort() {
    writers.sort(Comparator.comparingLong(writer -> writer.attempted));
    unannounced
        .values()
        .forEach(told -> told.sort(Comparator.comparingLong(writer -> writer.told)));
  }

  void add(Witness witness) {
    witnesses.add(witness);
  }

  List<Witness> witnesses() {
    return witnesses;
  }

  /** What the thread of a transaction wrote in the same life and did not announce. */
  List<PromisedTransaction> unannouncedBeside(PromisedTransaction writer) {
    return unannounced.isEmpty()
        ? List.of()
        : unannounced.getOrDefault(new Teller(writer.life, writer.threadId), List.of());
  }

  /**
   * How many values were promised by more than one transaction; what was found counts as one of
   * those that it may be.
   */
  int repeated() {
    return (int)
        byValue.values().stream()
            .filter(authors ->
                authors.stream()
                        .filter(t -> t.attempted != NEVER && t.rolledBack == NEVER && !t.again)
                        .count()
                    > 1)
            .count();
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
