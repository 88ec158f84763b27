package org.revenantdb.chaos.oracle;

import static org.revenantdb.chaos.oracle.PromisedTransaction.NEVER;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All writes to one key, including attempted ones.
 *
 * <p>Threads: built by one, read by any.
 */
final class KeyHistory {

  final Bytes key;

  /** By the place of the attempt; those that were never attempted are last. */
  private final List<PromisedTransaction> writers = new ArrayList<>();

  private final Map<Bytes, List<PromisedTransaction>> byValue = new HashMap<>();
  private final List<PromisedTransaction> removers = new ArrayList<>();

  /**
   * For each thread of each life, the transactions that it did not announce, in the order of its
   * reports.
   */
  private final Map<Teller, List<PromisedTransaction>> unannounced = new HashMap<>();

  private final List<Witness> witnesses = new ArrayList<>();

  /** The first report about the key. */
  private long begun = NEVER;

  /** A thread of a life. */
  private record Teller(int life, long thread) {}

  /**
   * The result of a durable reader that several transactions may have written.
   *
   * @param place the place of its report
   * @param value the value it read
   * @param since the earliest attempt of those transactions
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

  /**
   * The transactions that the thread of a transaction reported in the same life without an
   * announcement.
   */
  List<PromisedTransaction> unannouncedBeside(PromisedTransaction writer) {
    return unannounced.isEmpty()
        ? List.of()
        : unannounced.getOrDefault(new Teller(writer.life, writer.threadId), List.of());
  }

  /**
   * How many values were promised by more than one transaction. A value that a check found counts
   * as one of the transactions that may have written it.
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

  /** The transactions that wrote exactly this value, whatever their outcome. */
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
