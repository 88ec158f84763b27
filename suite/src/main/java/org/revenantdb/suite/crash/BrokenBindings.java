package org.revenantdb.suite.crash;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.history.HistoryStore;

/**
 * Broken uses of RevenantDB that the history checker must find. Otherwise a history of {@link
 * HistoryBinding} without findings would prove nothing.
 */
public final class BrokenBindings {

  private BrokenBindings() {}

  /** Changes the operations of a transaction. */
  @FunctionalInterface
  private interface Twist {
    HistoryStore.Tx begin(HistoryStore store, boolean lazy);
  }

  /** A store with changed transactions. */
  private record Twisted(HistoryStore store, Twist twist) implements HistoryStore {

    static HistoryStore open(Path directory, Twist twist) {
      return new Twisted(new HistoryBinding.Snapshots().open(directory), twist);
    }

    @Override
    public Tx begin(boolean lazy) {
      return twist.begin(store, lazy);
    }

    @Override
    public void sync() {
      store.sync();
    }

    @Override
    public void housekeeping() {
      store.housekeeping();
    }

    @Override
    public void close() {
      store.close();
    }
  }

  /**
   * Each read of a row that the transaction has not written has its own snapshot: read committed,
   * not snapshot isolation.
   */
  public static final class SnapshotOfEachRead implements HistoryStore.Opener {
    /** Creates the opener. */
    public SnapshotOfEachRead() {}

    @Override
    public HistoryStore open(Path directory) {
      return Twisted.open(
          directory, (store, lazy) -> new FreshReads(store, lazy, /* keysToo= */ true));
    }
  }

  /**
   * Each read of a range has its own snapshot, but a read of a key uses the transaction's. This is
   * the result of a simple snapshot isolation that keeps only versions of rows.
   */
  public static final class SnapshotOfEachRange implements HistoryStore.Opener {
    /** Creates the opener. */
    public SnapshotOfEachRange() {}

    @Override
    public HistoryStore open(Path directory) {
      return Twisted.open(
          directory, (store, lazy) -> new FreshReads(store, lazy, /* keysToo= */ false));
    }
  }

  /** Reports a commit as durable, but requests a lazy one. */
  public static final class LazyForDurable implements HistoryStore.Opener {
    /** Creates the opener. */
    public LazyForDurable() {}

    @Override
    public HistoryStore open(Path directory) {
      return Twisted.open(directory, (store, lazy) -> store.begin(/* lazy= */ true));
    }
  }

  /** Commits the last write of a transaction separately, after the others. */
  public static final class HalfCommit implements HistoryStore.Opener {
    /** Creates the opener. */
    public HalfCommit() {}

    @Override
    public HistoryStore open(Path directory) {
      return Twisted.open(directory, Halves::new);
    }
  }

  private static final class FreshReads implements HistoryStore.Tx {

    private final HistoryStore store;
    private final HistoryStore.Tx tx;
    private final boolean keysToo;
    private final List<Integer> written = new ArrayList<>();

    FreshReads(HistoryStore store, boolean lazy, boolean keysToo) {
      this.store = store;
      this.tx = store.begin(lazy);
      this.keysToo = keysToo;
    }

    @Override
    public int[] readList(int key) {
      if (!keysToo || written.contains(key)) {
        return tx.readList(key);
      }
      try (HistoryStore.Tx fresh = store.begin(/* lazy= */ false)) {
        return fresh.readList(key);
      }
    }

    @Override
    public int readRegister(int key) {
      if (!keysToo || written.contains(key)) {
        return tx.readRegister(key);
      }
      try (HistoryStore.Tx fresh = store.begin(/* lazy= */ false)) {
        return fresh.readRegister(key);
      }
    }

    @Override
    public SortedMap<Integer, int[]> readLists(int from, int to) {
      return range(from, to, HistoryStore.Tx::readLists);
    }

    @Override
    public SortedMap<Integer, Integer> readRegisters(int from, int to) {
      return range(from, to, HistoryStore.Tx::readRegisters);
    }

    private <V> SortedMap<Integer, V> range(int from, int to, RangeRead<V> read) {
      SortedMap<Integer, V> own = read.of(tx, from, to);
      own.keySet().retainAll(written);
      try (HistoryStore.Tx fresh = store.begin(/* lazy= */ false)) {
        SortedMap<Integer, V> found = read.of(fresh, from, to);
        found.putAll(own);
        return found;
      }
    }

    /** A read of a range of lists or of registers. */
    @FunctionalInterface
    private interface RangeRead<V> {
      SortedMap<Integer, V> of(HistoryStore.Tx tx, int from, int to);
    }

    @Override
    public void append(int key, int value) {
      tx.append(key, value);
      written.add(key);
    }

    @Override
    public void write(int key, int value) {
      tx.write(key, value);
      written.add(key);
    }

    @Override
    public void commit() {
      tx.commit();
    }

    @Override
    public void close() {
      tx.close();
    }
  }

  private static final class Halves implements HistoryStore.Tx {

    private final HistoryStore store;
    private final boolean lazy;
    private final HistoryStore.Tx tx;
    private boolean wrote;
    private @Nullable Withheld last;

    /** A write that is not made before the commit. */
    private record Withheld(int key, int value, boolean list) {
      void write(HistoryStore.Tx tx) {
        if (list) {
          tx.append(key, value);
        } else {
          tx.write(key, value);
        }
      }
    }

    Halves(HistoryStore store, boolean lazy) {
      this.store = store;
      this.lazy = lazy;
      this.tx = store.begin(lazy);
    }

    @Override
    public int[] readList(int key) {
      write(null);
      return tx.readList(key);
    }

    @Override
    public int readRegister(int key) {
      write(null);
      return tx.readRegister(key);
    }

    @Override
    public SortedMap<Integer, int[]> readLists(int from, int to) {
      write(null);
      return tx.readLists(from, to);
    }

    @Override
    public SortedMap<Integer, Integer> readRegisters(int from, int to) {
      write(null);
      return tx.readRegisters(from, to);
    }

    @Override
    public void append(int key, int value) {
      write(new Withheld(key, value, /* list= */ true));
    }

    @Override
    public void write(int key, int value) {
      write(new Withheld(key, value, /* list= */ false));
    }

    /** Writes what was withheld, and withholds what comes next. */
    private void write(@Nullable Withheld next) {
      if (last != null) {
        last.write(tx);
        wrote = true;
      }
      last = next;
    }

    @Override
    public void commit() {
      Withheld other = last;
      if (other != null && !wrote) {
        other.write(tx);
        other = null;
      }
      tx.commit();
      while (other != null) {
        try (HistoryStore.Tx second = store.begin(lazy)) {
          other.write(second);
          second.commit();
          other = null;
        } catch (HistoryStore.RefusedException e) {
          // a conflict; the write must still be made, because it was reported
        }
      }
    }

    @Override
    public void close() {
      tx.close();
    }
  }
}
