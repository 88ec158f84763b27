package org.revenantdb.history;

import java.util.Arrays;

/**
 * Compares what each committed transaction read with its own earlier writes and reads. Also
 * determines which part of each read comes from other transactions.
 *
 * <p>No other transaction may write a key behind an uncommitted write of it. So, at every level, a
 * list to which a transaction has appended must end with its own values. If the transaction reads
 * from a snapshot, the rest must be what it read before.
 */
final class ReadCheck {

  /**
   * Marks a read of an uncommitted transaction, or one that shows only the transaction's own write.
   */
  static final int OWN = -1;

  private final HistoryIndex index;
  private final Accesses accesses;
  private final Anomalies anomalies;
  private final Words words;

  /** For each read, how many of its values existed before its transaction. */
  private final int[] external;

  // For each key, valid for the transaction whose number is in its stamp.
  private final int[] stamp;
  private final int[] lastRead;
  private final int[] firstOwn;
  private final int[] lastOwn;

  ReadCheck(HistoryIndex index, Anomalies anomalies) {
    this.index = index;
    this.accesses = index.accesses;
    this.anomalies = anomalies;
    this.words = new Words(index);
    this.external = new int[accesses.size()];
    this.stamp = new int[index.keyCount()];
    this.lastRead = new int[index.keyCount()];
    this.firstOwn = new int[index.keyCount()];
    this.lastOwn = new int[index.keyCount()];
    Arrays.fill(external, OWN);
    Arrays.fill(stamp, -1);
  }

  /** Checks all accesses. Returns for each the length of others' part, or {@link #OWN}. */
  int[] run() {
    for (int t = 0; t < index.history.size(); t++) {
      if (index.isCommitted(t)) {
        look(t);
      }
    }
    return external;
  }

  private void look(int t) {
    for (int a = index.history.firstAccess(t); a < index.history.firstAccess(t + 1); a++) {
      int key = index.keyOf(a);
      if (stamp[key] != t) {
        stamp[key] = t;
        lastRead[key] = -1;
        firstOwn[key] = -1;
        lastOwn[key] = -1;
      }
      if (accesses.isWrite(a)) {
        firstOwn[key] = firstOwn[key] < 0 ? a : firstOwn[key];
        lastOwn[key] = a;
      } else if (accesses.isOfList(a)) {
        lookAtList(t, a, key);
      } else {
        lookAtRegister(t, a, key);
      }
    }
  }

  private void lookAtList(int t, int read, int key) {
    int own = 0;
    for (int w = firstOwn[key]; w >= 0 && w < read; w = index.nextOwn(w)) {
      own++;
    }
    int others = accesses.length(read) - own;
    boolean endsWithOwn = others >= 0;
    int at = others;
    for (int w = firstOwn[key]; endsWithOwn && w >= 0 && w < read; w = index.nextOwn(w)) {
      endsWithOwn = accesses.element(read, at++) == accesses.value(w);
    }
    if (!endsWithOwn) {
      tellInternal(t, read);
      external[read] = accesses.length(read);
      return;
    }
    external[read] = others;
    int before = lastRead[key];
    lastRead[key] = read;
    if (before >= 0 && !sameStart(before, read)) {
      tellNonRepeatable(t, before, read);
    }
  }

  private boolean sameStart(int one, int other) {
    if (external[one] != external[other]) {
      return false;
    }
    for (int at = 0; at < external[one]; at++) {
      if (accesses.element(one, at) != accesses.element(other, at)) {
        return false;
      }
    }
    return true;
  }

  private void lookAtRegister(int t, int read, int key) {
    if (lastOwn[key] >= 0) {
      if (accesses.value(read) != accesses.value(lastOwn[key])) {
        tellInternal(t, read);
        external[read] = 1;
      }
      return;
    }
    external[read] = 1;
    int before = lastRead[key];
    lastRead[key] = read;
    if (before >= 0 && accesses.value(before) != accesses.value(read)) {
      tellNonRepeatable(t, before, read);
    }
  }

  private void tellInternal(int t, int read) {
    anomalies.add(
        AnomalyKind.INTERNAL,
        () ->
            words.access(read)
                + " does not show what the transaction itself wrote before"
                + "\n  "
                + words.transaction(t),
        t);
  }

  private void tellNonRepeatable(int t, int before, int read) {
    boolean phantom = accesses.isAbsentInRange(before) || accesses.isAbsentInRange(read);
    anomalies.add(
        phantom ? AnomalyKind.PHANTOM : AnomalyKind.NON_REPEATABLE_READ,
        () ->
            words.access(before)
                + ", and later "
                + words.access(read)
                + "\n  "
                + words.transaction(t),
        t);
  }
}
