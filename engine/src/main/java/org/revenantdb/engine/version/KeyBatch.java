package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.txn.TransactionTable;

/**
 * Reads the rows of several keys. Keys that are in one leaf are read by one descent.
 *
 * <p>For one thread at a time. Between two calls of {@link #readSome} nothing is held.
 */
public final class KeyBatch {
  /*
   * Order       each tree of the table has a part of the keys, in ascending order
   *
   * Leaf        1 descent for the first key: leaf and stamp   2 each further key, until one is not covered by the leaf:
   *               slot, writer, outcome of the writer, copy of the value   3 the stamp validates   4 the witness is
   *               notified; then the keys that need another read: older versions together, others under the latch
   *             Not valid at 3: nothing of the leaf counts, and 1 comes again. After some tries the keys of the leaf
   *             are read under its shared latch.
   *
   * A group     is one single read after the other, of RowReader, with one stamp. That is right because what 2 reads
   *             between the stamp and its validation is the leaf as it was at the stamp, for each key (R1: outcomes
   *             are looked up before the validation). Rows of different leaves are read at different moments; the
   *             snapshot makes them one.
   */
  /** The most keys that are read with one stamp: a disturbance repeats them all. */
  static final int MOST_WITH_ONE_STAMP = 64;

  /** Keys are often neighbours, so this many cells ahead are fetched from memory. */
  private static final int AHEAD = 3;

  /** The most keys of one {@link #readSome}. */
  private static final int MOST_AT_ONCE = 1_024;

  /** The most leaves of one {@link #readSome}: a thread that pauses the gate waits for them. */
  private static final int LEAVES_AT_ONCE = 64;

  /** In place of a value: an older version is visible that is not in the leaf. */
  private static final StoredValue OLDER = new StoredValue(0, new byte[0]);

  /** In place of a value: the row has to be read under the latch. */
  private static final StoredValue LATCHED = new StoredValue(0, new byte[0]);

  /**
   * The keys of one tree, ascending.
   *
   * @param places where they are among all sorted keys; null if they are all of these
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Part(Tree tree, byte[][] keys, int @Nullable [] places) {}

  private final Storage storage;
  private final RowReader reader;
  private final Reading reading;
  private final SortedKeys sorted;
  private final List<Part> parts;
  private final @Nullable StoredValue[] values;

  private int part;
  private int at;

  /** What was read of the keys of the present part, in its order. */
  private @Nullable StoredValue[] found = {};

  /**
   * Makes a batch of which nothing has been read.
   *
   * @param reading the reading of the transaction
   * @param trees all trees of the table
   * @param treeOf which of them has a key
   * @param keys the keys, in any order; the same one may be there several times
   */
  public KeyBatch(
      Storage storage,
      RowReader reader,
      Reading reading,
      List<Tree> trees,
      Function<byte[], Tree> treeOf,
      byte[][] keys) {
    this.storage = storage;
    this.reader = reader;
    this.reading = reading;
    this.values = new @Nullable StoredValue[keys.length];
    this.sorted = SortedKeys.of(keys);
    this.parts = parts(trees, treeOf, sorted.keys());
  }

  private static List<Part> parts(List<Tree> trees, Function<byte[], Tree> treeOf, byte[][] keys) {
    if (trees.size() == 1) {
      return keys.length == 0 ? List.of() : List.of(new Part(trees.getFirst(), keys, null));
    }
    List<Part> parts = new ArrayList<>(trees.size());
    for (Tree tree : trees) {
      int[] places =
          IntStream.range(0, keys.length).filter(i -> treeOf.apply(keys[i]) == tree).toArray();
      if (places.length > 0) {
        byte[][] own = IntStream.of(places).mapToObj(i -> keys[i]).toArray(byte[][]::new);
        parts.add(new Part(tree, own, places));
      }
    }
    return parts;
  }

  /** Whether there are keys that have not been read. */
  public boolean hasMore() {
    return part < parts.size();
  }

  /** Reads some of the keys. */
  public void readSome() {
    Part present = parts.get(part);
    if (at == 0) {
      found = present.places == null ? values : new @Nullable StoredValue[present.keys.length];
    }
    int end = Math.min(present.keys.length, at + MOST_AT_ONCE);
    int leaves = 0;
    for (int tries = 0; at < end && leaves < LEAVES_AT_ONCE; ) {
      int next = tries == RowReader.OPTIMISTIC_TRIES ? at : readOptimistically(present, at, end);
      if (next > at) {
        readElsewhere(present, at, next);
        at = next;
        tries = 0;
        leaves++;
      } else if (++tries > RowReader.OPTIMISTIC_TRIES) {
        next = readLatched(present, at, end);
        readElsewhere(present, at, next);
        at = next;
        tries = 0;
        leaves++;
      }
    }
    if (at == present.keys.length) {
      give(present);
      part++;
      at = 0;
    }
  }

  private void give(Part present) {
    int[] places = present.places;
    if (places != null) {
      for (int i = 0; i < places.length; i++) {
        values[places[i]] = found[i];
      }
    }
  }

  /**
   * The value of a key, or null if there is no row; called at the end.
   *
   * @param index of the key in ascending order
   */
  public @Nullable StoredValue value(int index) {
    return values[index];
  }

  /** Where the caller has the key that is at an index in ascending order. */
  public int position(int index) {
    return sorted.position(index);
  }

  /**
   * Reads the keys of one leaf without its latch.
   *
   * @return the first key that was not read: {@code from} if the read was disturbed
   */
  private int readOptimistically(Part present, int from, int to) {
    byte[][] keys = present.keys;
    Tree tree = present.tree;
    Descent descent = reading.descent;
    if (!tree.descend(keys[from], descent)) {
      return from;
    }
    MemorySegment memory = descent.memory();
    long base = descent.base();
    int end = Math.min(to, from + MOST_WITH_ONE_STAMP);
    long seen = TransactionTable.COMMITTED_FOR_ALL;
    int i = from;
    try {
      int slot = descent.search(memory, base, keys[from]);
      while (true) {
        byte[] key = keys[i];
        long place =
            slot < 0
                ? reader.placeWithoutSlot(tree.table(), key, reading)
                : reader.placeOf(memory, base, slot, reading);
        if (place == RowReader.PLACE_ELSEWHERE) {
          break;
        }
        if (place >= 0) {
          int length = (int) place;
          int offset = (int) (place >>> Integer.SIZE);
          if (offset + length > Page.SIZE) {
            return from;
          }
          found[i] = new StoredValue(0, Page.bytes(descent.leaf().page(), offset, length));
          seen = Math.max(seen, reading.status);
        } else {
          found[i] =
              place == RowReader.PLACE_NO_ROW
                  ? null
                  : place == RowReader.PLACE_OLDER ? OLDER : LATCHED;
        }
        if (++i == end) {
          break;
        }
        int likely = slot < 0 ? -slot - 1 : slot + 1;
        if (i + AHEAD < end) {
          descent.fetchCellOf(memory, base, likely + AHEAD);
        }
        slot = SlottedSearch.searchLeafFrom(memory, base, keys[i], likely);
      }
    } catch (IndexOutOfBoundsException torn) {
      return from; // if it was not a disturbance, the read under the latch meets it
    }
    reading.status = seen;
    return reader.isRight(reading) ? i : from;
  }

  /** Reads the keys of one leaf under its shared latch; returns the first key behind them. */
  private int readLatched(Part present, int from, int to) {
    byte[][] keys = present.keys;
    Tree tree = present.tree;
    int frame = tree.leafShared(keys[from], reading.descent);
    int i = from;
    try {
      MemorySegment page = storage.pool().page(frame);
      tree.demandCovers(page, keys[from]);
      for (; i < to && (i == from || SlottedSearch.covers(page, keys[i])); i++) {
        int slot = SlottedSearch.search(page, keys[i]);
        if (slot < 0) {
          found[i] = reader.mayHaveDeparted(tree.table(), reading) ? OLDER : null;
        } else {
          int cell = Slotted.cell(page, slot);
          RowReader.Seen seen = reader.seen(page, cell, reading);
          found[i] = seen == RowReader.Seen.OLDER ? OLDER : RowReader.value(page, cell, seen);
        }
      }
    } finally {
      storage.pool().unfixShared(frame);
    }
    return i;
  }

  /** Reads what the leaf does not have, with nothing latched. */
  private void readElsewhere(Part present, int from, int to) {
    int older = 0;
    for (int i = from; i < to; i++) {
      StoredValue value = found[i];
      if (isMark(value, LATCHED)) {
        found[i] = reader.readLatched(present.tree, present.keys[i], reading);
      } else if (isMark(value, OLDER)) {
        older++;
      }
    }
    if (older > 0) {
      readOlder(present, from, to, older);
    }
  }

  @SuppressWarnings("ReferenceEquality") // which object it is
  private static boolean isMark(@Nullable StoredValue value, StoredValue mark) {
    return value == mark;
  }

  private void readOlder(Part present, int from, int to, int count) {
    List<byte[]> keys = new ArrayList<>(count);
    for (int i = from; i < to; i++) {
      if (isMark(found[i], OLDER)) {
        keys.add(present.keys[i]);
      }
    }
    @Nullable StoredValue[] versions = reader.findOlder(present.tree.table(), keys, reading);
    int next = 0;
    for (int i = from; i < to; i++) {
      if (isMark(found[i], OLDER)) {
        found[i] = versions[next++];
      }
    }
  }
}
