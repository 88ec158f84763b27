package org.revenantdb.engine.version;

import java.util.Arrays;
import org.revenantdb.engine.space.VersionMarks;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.latch.PatientLock;

/**
 * The unfinished writers that the cleaner meets on pages. For some of them a page is postponed
 * until one of them ends. Others take long: they keep only their own pages waiting, and are not
 * checked again and again.
 *
 * <p>Threads: all threads of the cleaner. A caller may have a page latched, because no method
 * waits.
 */
final class ActiveWriters {
  /*
   * protocols.md §8
   *
   * met        a page is postponed for them: checked at each pass. If one has ended, all postponed pages are visited,
   *            and the others are met again
   * long       active at two checks a second apart. If one for which pages wait has ended, all pages that wait long are
   *            visited
   * prepared   take long from the first moment on; the thread that decides them notifies the marks
   */

  /** A writer that is active at two checks this far apart takes long. */
  private static final long LONG = 1_000_000_000L;

  /** The number of transactions, the oldest ones, whose duration is tracked. */
  private static final int MOST_LONG = 1_024;

  private static final int MOST_MET = 64;

  private final TransactionTable transactions;
  private final VersionMarks marks;
  private final PatientLock lock = new PatientLock();

  /** The ids of the oldest transactions that were active at the last check, in order. */
  private long[] before = {};

  /** Those of them that were also active at the check before. */
  private long[] longOnes = {};

  /** For each of them, whether pages wait for it. */
  private boolean[] holdsPages = {};

  private long lookedAt = System.nanoTime();
  private long between = LONG;

  private final long[] met = new long[MOST_MET];

  /** Greater than the size of the array if more were met. */
  private int metCount;

  ActiveWriters(TransactionTable transactions, VersionMarks marks) {
    this.transactions = transactions;
    this.marks = marks;
  }

  /** For tests: a writer that is active at any two checks takes long. */
  void allTakeLong() {
    between = 0;
  }

  /**
   * Called when a pass begins. Returns whether a writer has ended for which a page was postponed.
   */
  boolean hasAnyEnded() {
    lock.lock();
    try {
      return lookWhoEnded();
    } finally {
      lock.unlock();
    }
  }

  private boolean lookWhoEnded() {
    for (int i = 0; i < longOnes.length; i++) {
      if (holdsPages[i] && hasEnded(longOnes[i])) {
        holdsPages[i] = false;
        marks.longEnded();
      }
    }
    long now = System.nanoTime();
    if (now - lookedAt >= between) {
      lookedAt = now;
      look();
    }
    boolean ended = metCount > MOST_MET;
    for (int i = 0; i < metCount && !ended; i++) {
      ended = hasEnded(met[i]);
    }
    if (ended) {
      metCount = 0;
    }
    return ended;
  }

  private void look() {
    long[] active = transactions.oldestActive(MOST_LONG);
    long[] former = before;
    long[] found = Arrays.stream(active).filter(id -> indexOf(former, id) >= 0).toArray();
    boolean[] holds = new boolean[found.length];
    for (int i = 0; i < longOnes.length; i++) {
      int index = indexOf(found, longOnes[i]);
      if (index >= 0) {
        holds[index] = holdsPages[i];
      } else if (holdsPages[i]) {
        marks.longEnded();
      }
    }
    longOnes = found;
    holdsPages = holds;
    before = active;
  }

  private static int indexOf(long[] ids, long id) {
    return Arrays.binarySearch(ids, id);
  }

  private boolean hasEnded(long id) {
    long status = transactions.status(id);
    return (status != TransactionTable.ACTIVE && status != TransactionTable.COMMITTING)
        || transactions.isPrepared(id);
  }

  /** Whether pages wait for a writer that takes long and whose end is not reported. */
  boolean holdPages() {
    lock.lock();
    try {
      for (boolean holds : holdsPages) {
        if (holds) {
          return true;
        }
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  /** Called when a writer was met on a page. Returns whether the page waits long for it. */
  boolean takesLong(long id) {
    lock.lock();
    try {
      return meet(id);
    } finally {
      lock.unlock();
    }
  }

  private boolean meet(long id) {
    int index = indexOf(longOnes, id);
    if (index >= 0) {
      holdsPages[index] = true;
      return true;
    }
    if (transactions.isPrepared(id)) {
      return true;
    }
    for (int i = Math.min(metCount, MOST_MET) - 1; i >= 0; i--) {
      if (met[i] == id) {
        return false;
      }
    }
    if (metCount < MOST_MET) {
      met[metCount] = id;
    }
    metCount = Math.min(metCount + 1, MOST_MET + 1);
    return false;
  }

  /** Called when a page was postponed for an unknown writer: the next pass visits it again. */
  void metSomebody() {
    lock.lock();
    try {
      metCount = MOST_MET + 1;
    } finally {
      lock.unlock();
    }
  }
}
