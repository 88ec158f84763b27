package org.revenantdb.recovery.restart;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.revenantdb.latch.PatientLock;

/**
 * The map of aborted transactions: whose rows do not count until the cleaner has put them back.
 *
 * <p>Threads: any. {@link #contains} takes no lock and writes nothing; changes take a lock.
 */
public final class AbortedTransactions {
  /*
   * State       an open-addressing table; a slot is EMPTY, GONE or an id. EMPTY -> id -> GONE, never back: a reader
   *             that walks from an id's first slot to the first EMPTY one cannot miss an id that stays. A fuller
   *             table is replaced by a new one, which readers find through a volatile field.
   * Ordering    the id is stored with release after nothing else; a reader needs only the id itself. `add` returns
   *             after the store, so a thread that learns of the abort later (R1: add comes first) finds it.
   * Races left in   a reader that holds a replaced table misses ids added meanwhile: its look-up began before
   *             those adds, which is as if it had ended before them.
   */

  private static final long EMPTY = 0;
  private static final long GONE = -1;
  private static final int SMALLEST = 16;

  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

  /** No monitor: virtual threads roll back, too, and JDK 25 can leave one blocked (JDK-8373120). */
  private final PatientLock changing = new PatientLock();

  private volatile long[] table = new long[SMALLEST];
  private final AtomicInteger size = new AtomicInteger();
  private int used;

  /** An empty map. */
  public AbortedTransactions() {}

  /**
   * Adds a transaction, unless it is there already.
   *
   * @param id its id, above 0
   */
  public void add(long id) {
    if (id <= 0) {
      throw new IllegalArgumentException("transaction " + id);
    }
    changing.lock();
    try {
      if (contains(id)) {
        return;
      }
      if ((used + 1) * 2 > table.length) {
        rebuild();
      }
      insert(table, id);
      used++;
      size.incrementAndGet();
    } finally {
      changing.unlock();
    }
  }

  private void rebuild() {
    long[] ids = snapshot();
    int length = Math.max(SMALLEST, Integer.highestOneBit(ids.length + 1) * 8);
    long[] larger = new long[length];
    for (long id : ids) {
      insert(larger, id);
    }
    used = ids.length;
    table = larger;
  }

  private static void insert(long[] table, long id) {
    int mask = table.length - 1;
    int slot = first(id, mask);
    while (table[slot] != EMPTY) {
      slot = (slot + 1) & mask;
    }
    SLOT.setRelease(table, slot, id);
  }

  private static int first(long id, int mask) {
    return (int) ((id * 0x9E3779B97F4A7C15L) >>> 32) & mask;
  }

  /**
   * Removes a transaction; its FORGET is published.
   *
   * @param id its id
   */
  public void remove(long id) {
    changing.lock();
    try {
      int slot = find(table, id);
      if (slot >= 0) {
        SLOT.setRelease(table, slot, GONE);
        size.decrementAndGet();
      }
    } finally {
      changing.unlock();
    }
  }

  /**
   * Whether a transaction is in the map.
   *
   * @param id its id
   * @return true from the return of {@link #add} to the call of {@link #remove}
   */
  public boolean contains(long id) {
    return size.get() != 0 && find(table, id) >= 0;
  }

  private static int find(long[] table, long id) {
    int mask = table.length - 1;
    int slot = first(id, mask);
    while (true) {
      long found = (long) SLOT.getAcquire(table, slot);
      if (found == id) {
        return slot;
      }
      if (found == EMPTY) {
        return -1;
      }
      slot = (slot + 1) & mask;
    }
  }

  /**
   * The ids in the map.
   *
   * @return a copy, in ascending order
   */
  public long[] snapshot() {
    changing.lock();
    try {
      long[] ids = Arrays.stream(table).filter(id -> id != EMPTY && id != GONE).toArray();
      Arrays.sort(ids);
      return ids;
    } finally {
      changing.unlock();
    }
  }

  /**
   * How many there are.
   *
   * @return the number of ids
   */
  public int size() {
    return size.get();
  }
}
