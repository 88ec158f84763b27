package org.revenantdb.history;

import java.util.Arrays;

/**
 * Finds two committed transactions that read the same version of a key and both replaced it. The
 * update of one of them is lost, whatever the order.
 */
final class LostUpdates {

  private static final int NOBODY = -1;

  private final HistoryIndex index;
  private final History history;
  private final Anomalies anomalies;
  private final Words words;

  /** The first transaction that replaced a version which it had read, for one life. */
  private final LongIndex replaced = new LongIndex();

  private final int[] stamp;
  private final int[] lastRead;

  LostUpdates(HistoryIndex index, Anomalies anomalies) {
    this.index = index;
    this.history = index.history;
    this.anomalies = anomalies;
    this.words = new Words(index);
    this.stamp = new int[index.keyCount()];
    this.lastRead = new int[index.keyCount()];
    Arrays.fill(stamp, -1);
  }

  /** Checks all transactions, given the length of others' part in each read. */
  void run(int[] external) {
    for (int t = 0; t < history.size(); t++) {
      if (index.isCommitted(t)) {
        look(t, external);
      }
    }
  }

  private void look(int t, int[] external) {
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
      int key = index.keyOf(a);
      if (stamp[key] != t) {
        stamp[key] = t;
        lastRead[key] = -1;
      }
      if (!index.accesses.isWrite(a)) {
        lastRead[key] = external[a] == ReadCheck.OWN ? lastRead[key] : a;
      } else if (lastRead[key] >= 0) {
        replaces(t, a, lastRead[key], external[lastRead[key]]);
        lastRead[key] = -1; // a second write of its own replaces its first one
      }
    }
  }

  private void replaces(int t, int write, int read, int length) {
    boolean nothing =
        index.accesses.isOfList(read) ? length == 0 : index.accesses.value(read) == Access.NIL;
    int version =
        nothing
            ? HistoryIndex.NOTHING
            : index.versionOf(read, index.accesses.isOfList(read) ? length - 1 : 0);
    if (!nothing && version == HistoryIndex.NOTHING) {
      return; // a value that was never written is reported elsewhere
    }
    long what = nothing ? 2L * index.keyOf(write) : 2L * version + 1;
    int first = replaced.putIfAbsent(what * history.lives() + history.life(t), t);
    if (first != NOBODY && first != t) {
      anomalies.add(
          AnomalyKind.LOST_UPDATE,
          () ->
              "two transactions read "
                  + words.version(version)
                  + " in key "
                  + words.key(write)
                  + ", and both wrote behind it"
                  + "\n  "
                  + words.transaction(first)
                  + "\n  "
                  + words.transaction(t),
          first,
          t);
    }
  }
}
