package org.revenantdb.history;

/** The accesses of each key, in the order of the history. */
final class AccessesByKey {

  private final int[] first;
  private final int[] accesses;

  AccessesByKey(HistoryIndex index) {
    int count = index.accesses.size();
    first = new int[index.keyCount() + 1];
    accesses = new int[count];
    for (int a = 0; a < count; a++) {
      first[index.keyOf(a) + 1]++;
    }
    for (int key = 0; key < index.keyCount(); key++) {
      first[key + 1] += first[key];
    }
    int[] free = first.clone();
    for (int a = 0; a < count; a++) {
      accesses[free[index.keyOf(a)]++] = a;
    }
  }

  /** Where a key's accesses begin; they end where those of the next key begin. */
  int first(int key) {
    return first[key];
  }

  int access(int at) {
    return accesses[at];
  }
}
