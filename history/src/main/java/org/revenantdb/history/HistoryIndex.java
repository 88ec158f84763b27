package org.revenantdb.history;

import java.util.Arrays;

/**
 * The writer of each version, and the transactions that count as committed: those acknowledged as
 * committed, and those of unknown outcome that a committed one has seen.
 *
 * <p>A <em>version</em> is a write, by its access number; {@link #NOTHING} is the version of a key
 * before all writes. The history must be one without range reads.
 */
final class HistoryIndex {

  /** The version of a key that was never written. */
  static final int NOTHING = -1;

  final History history;
  final Accesses accesses;

  private final LongIndex keys = new LongIndex();
  private final LongIndex versions;
  private final int[] keyOf;
  private final int[] transactionOf;

  /** The next write of the same key by the same transaction, or {@link #NOTHING}. */
  private final int[] nextOwn;

  private final boolean[] committed;
  private int committedCount;

  HistoryIndex(History history) {
    this.history = history;
    this.accesses = history.accesses();
    this.keyOf = new int[accesses.size()];
    this.transactionOf = new int[accesses.size()];
    this.nextOwn = new int[accesses.size()];
    this.versions = new LongIndex(accesses.size());
    this.committed = new boolean[history.size()];
    Arrays.fill(nextOwn, NOTHING);
    indexAccesses();
    decideWhoCommitted();
  }

  private void indexAccesses() {
    IntList firsts = new IntList(); // for each key, the first access
    for (int t = 0; t < history.size(); t++) {
      for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
        int known = keys.putIfAbsent(accesses.key(a), keys.size());
        int key = known == NOTHING ? firsts.size() : known;
        if (known == NOTHING) {
          firsts.add(a);
        }
        int first = firsts.get(key);
        if (accesses.isOfList(first) != accesses.isOfList(a)) {
          throw new IllegalArgumentException(
              history.where(transactionOf[first], t)
                  + "key "
                  + history.keyText(accesses.key(a))
                  + " is used both as a list and as a register: use a key of its own for each");
        }
        keyOf[a] = key;
        transactionOf[a] = t;
      }
      indexVersions(t);
    }
    linkOwnWrites(firsts.size());
  }

  private void indexVersions(int t) {
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
      if (!accesses.isWrite(a)) {
        continue;
      }
      int former = versions.putIfAbsent(name(keyOf[a], accesses.value(a)), a);
      if (former != NOTHING) {
        throw new IllegalArgumentException(
            "%svalue %d is written to key %s more than once: a read of it does not show which write it saw; write each value only once to a key"
                .formatted(
                    history.where(transactionOf[former], t),
                    accesses.value(a),
                    history.keyText(accesses.key(a))));
      }
    }
  }

  private void linkOwnWrites(int count) {
    int[] later = new int[count]; // for each key, the write that was met last
    Arrays.fill(later, NOTHING);
    for (int a = accesses.size() - 1; a >= 0; a--) {
      int next = later[keyOf[a]];
      if (accesses.isWrite(a)) {
        boolean own = next != NOTHING && transactionOf[next] == transactionOf[a];
        nextOwn[a] = own ? next : NOTHING;
        later[keyOf[a]] = a;
      }
    }
  }

  private static long name(int key, int value) {
    return ((long) key << 32) | (value & 0xffff_ffffL);
  }

  private void decideWhoCommitted() {
    boolean[] inDoubt = new boolean[keys.size()];
    boolean anyInDoubt = false;
    for (int t = 0; t < history.size(); t++) {
      TransactionOutcome outcome = history.outcome(t);
      committed[t] = outcome == TransactionOutcome.DURABLE || outcome == TransactionOutcome.LAZY;
      if (outcome == TransactionOutcome.UNKNOWN) {
        anyInDoubt = true;
        for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
          inDoubt[keyOf[a]] |= accesses.isWrite(a);
        }
      }
    }
    if (anyInDoubt) {
      followReads(inDoubt);
    }
    for (boolean one : committed) {
      committedCount += one ? 1 : 0;
    }
  }

  /**
   * A transaction that a committed one has seen is committed, and so are those that it has seen.
   */
  private void followReads(boolean[] inDoubt) {
    IntList toFollow = new IntList();
    for (int t = 0; t < history.size(); t++) {
      if (committed[t]) {
        toFollow.add(t);
      }
    }
    while (!toFollow.isEmpty()) {
      int t = toFollow.pop();
      for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
        if (inDoubt[keyOf[a]] && !accesses.isWrite(a)) {
          int seen = accesses.isOfList(a) ? accesses.length(a) : 1;
          for (int at = 0; at < seen; at++) {
            int writer = writerOf(versionOf(a, at));
            if (writer >= 0
                && !committed[writer]
                && history.outcome(writer) == TransactionOutcome.UNKNOWN) {
              committed[writer] = true;
              toFollow.add(writer);
            }
          }
        }
      }
    }
  }

  int keyCount() {
    return keys.size();
  }

  /** The key of an access, as a number from 0. */
  int keyOf(int access) {
    return keyOf[access];
  }

  int transactionOf(int access) {
    return transactionOf[access];
  }

  /** The writer of a version; -1 for {@link #NOTHING}. */
  int writerOf(int version) {
    return version == NOTHING ? -1 : transactionOf[version];
  }

  /**
   * The version that a read shows; for a list, at an index.
   *
   * @return {@link #NOTHING} if the value was never written, or the read found none
   */
  int versionOf(int read, int at) {
    int value = accesses.isOfList(read) ? accesses.element(read, at) : accesses.value(read);
    return value == Access.NIL ? NOTHING : versions.get(name(keyOf[read], value));
  }

  /** The next write of the key by the same transaction; {@link #NOTHING} if this is its last. */
  int nextOwn(int version) {
    return nextOwn[version];
  }

  boolean isCommitted(int t) {
    return committed[t];
  }

  boolean wasRolledBack(int t) {
    return history.outcome(t) == TransactionOutcome.ABORTED;
  }

  int committedCount() {
    return committedCount;
  }
}
