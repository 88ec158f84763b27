package org.revenantdb.chaos.history;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Range reads as reads of keys: of each key that was found, and of each other one of the range that
 * anybody has written in the history, as it was before all writes. So whoever did not see a key
 * that came to be is known to have been there before it, and a phantom is a circle like any other.
 */
final class RangeReads {
  /*
   * Source      Adya, "Weak Consistency", MIT 1999, section 3.1.2: a predicate read has a version of every tuple there may
   *             be, that of an unborn one among them. We have one kind of predicate, that a key is in a range. It never
   *             becomes untrue, and no row is deleted, so only the first version of a key changes what matches: an
   *             anti-dependency through the predicate is one from a range in which the key was not. What was found was
   *             also read as an item.
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

  /** A history without range reads, whose reads say of which range they were a part. */
  static History asReads(History history) {
    return history.accesses().hasRangeReads()
        ? history.rewritten(new RangeReads(history)::add)
        : history;
  }

  /** The keys, in order. What was rolled back is behind nobody's read. */
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
