package org.revenantdb.history;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Turns a range read into reads of keys: of each key that was found, and of each other key of the
 * range that the history ever writes, as it was before all writes. So a reader that did not see a
 * new key is known to come before its writer, and a phantom becomes an ordinary cycle.
 */
final class RangeReads {
  /*
   * Source      Adya, "Weak Consistency", MIT 1999, section 3.1.2: a predicate read has a version
   *             of every possible tuple, including the unborn version. Our only predicate is that a
   *             key is in a range. It never becomes untrue, and no row is deleted, so only the
   *             first version of a key changes the matches. So an anti-dependency through the
   *             predicate is one from a range in which the key was missing. A key that was found
   *             was also read as an item.
   */
  private final History history;
  private final Accesses accesses;
  private final int[] lists;
  private final int[] registers;

  private RangeReads(History history) {
    this.history = history;
    this.accesses = history.accesses();
    this.lists = written(Accesses.Kind.APPEND);
    this.registers = written(Accesses.Kind.WRITE);
  }

  /** A history without range reads, in which the reads know their range. */
  static History asReads(History history) {
    return history.accesses().hasRangeReads()
        ? history.rewritten(new RangeReads(history)::add)
        : history;
  }

  /** The keys, in order. Keys whose writes were all rolled back are left out. */
  private int[] written(Accesses.Kind kind) {
    return IntStream.range(0, history.size())
        .filter(t -> history.outcome(t) != TransactionOutcome.ABORTED)
        .flatMap(t -> IntStream.range(history.firstAccess(t), history.firstAccess(t + 1)))
        .filter(a -> accesses.kind(a) == kind)
        .map(accesses::key)
        .sorted()
        .distinct()
        .toArray();
  }

  private void add(int t, Accesses to) {
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a = accesses.next(a)) {
      if (accesses.isRange(a)) {
        range(a, to);
      } else {
        to.addAll(accesses, a, a + 1);
      }
    }
  }

  private void range(int range, Accesses to) {
    boolean ofLists = accesses.kind(range) == Accesses.Kind.RANGE_OF_LISTS;
    int number = to.addRange(accesses.key(range), accesses.value(range));
    int[] known = ofLists ? lists : registers;
    int at = firstFrom(known, accesses.key(range));
    int end = firstFrom(known, accesses.value(range));
    for (int read = range + 1; read < accesses.next(range); read++) {
      int key = accesses.key(read);
      for (; at < end && known[at] < key; at++) {
        absent(ofLists, known[at], number, to);
      }
      at += at < end && known[at] == key ? 1 : 0;
      to.addAll(accesses, read, read + 1);
      to.lastIsOf(number);
    }
    for (; at < end; at++) {
      absent(ofLists, known[at], number, to);
    }
  }

  private static void absent(boolean ofLists, int key, int range, Accesses to) {
    if (ofLists) {
      to.readList(key, new int[0], 0, 0);
    } else {
      to.readRegister(key, Access.NIL);
    }
    to.lastIsOf(range);
  }

  private static int firstFrom(int[] sorted, int key) {
    int at = Arrays.binarySearch(sorted, key);
    return at < 0 ? -at - 1 : at;
  }
}
