package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.page.KeyBuffer;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.recovery.format.LittleEndian;

/**
 * Reads the rows of several keys. The keys of one leaf are a group: they are found by one descent,
 * searched in one pass, and validated together.
 *
 * <p>For one thread at a time. Between two calls of {@link #readSome} nothing is held.
 */
public final class GroupRead {
  /*
   * Protocol    protocols.md §62
   *
   * Places      of keys are those in ascending order. Each tree of the table has a part of the keys. `members` are the
   *             places of a part; `from`, `to`, `i` count within the part.
   */
  /** The most keys that are read with one stamp: a disturbance repeats them all. */
  static final int MOST_WITH_ONE_STAMP = 64;

  /** The most bytes of a leaf that are copied for each key that is found. */
  private static final int HELD_FOR_A_KEY = 256;

  /** How many bytes are copied from the beginning of the last cell on. */
  private static final int MORE_THAN_ONE_CELL = 192;

  /** The most keys of one {@link #readSome}. */
  private static final int MOST_AT_ONCE = 1_024;

  /** The most leaves of one {@link #readSome}: a thread that pauses the gate waits for them. */
  private static final int LEAVES_AT_ONCE = 64;

  /** No transaction has this id. */
  private static final long NO_WRITER = -1;

  /**
   * The keys of one tree, ascending.
   *
   * @param members their places among all sorted keys; null if they are all of these
   * @param size how many they are
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Part(Tree tree, int @Nullable [] members, int size) {
    int place(int index) {
      return members == null ? index : members[index];
    }
  }

  private final Storage storage;
  private final RowReader reader;
  private final Reading reading;
  private final KeyBuffer keys;
  private final ValueBuffer values;
  private final List<Part> parts;

  /** What {@link SlottedSearch#searchGroup} has found for each key of a group. */
  private final int[] alike;

  /** The offset in the leaf of the cell of that slot. */
  private final int[] cells;

  /** The copy of a part of the leaf: from where to where, and where it begins in the array. */
  private byte[] held = {};

  private int heldFrom;
  private int heldTo;
  private int heldAt;

  private int part;
  private int at;

  /**
   * Begins a read of which nothing has been done.
   *
   * @param reading the reading of the transaction
   * @param trees all trees of the table
   * @param treeOf which of them has a key
   * @param keys the keys, in any order; the same one may be there several times. They are sorted
   * @param values receives the values, by the places of the keys in ascending order
   */
  public GroupRead(
      Storage storage,
      RowReader reader,
      Reading reading,
      List<Tree> trees,
      Function<byte[], Tree> treeOf,
      KeyBuffer keys,
      ValueBuffer values) {
    this.storage = storage;
    this.reader = reader;
    this.reading = reading;
    this.keys = keys;
    this.values = values;
    this.alike = new int[Math.min(MOST_WITH_ONE_STAMP, keys.size())];
    this.cells = new int[alike.length];
    keys.sort();
    values.begin(keys.size());
    this.parts = parts(trees, treeOf);
  }

  private List<Part> parts(List<Tree> trees, Function<byte[], Tree> treeOf) {
    int size = keys.size();
    if (trees.size() == 1) {
      return size == 0 ? List.of() : List.of(new Part(trees.getFirst(), null, size));
    }
    List<Part> found = new ArrayList<>(trees.size());
    Tree[] each = new Tree[size];
    for (int place = 0; place < size; place++) {
      each[place] = treeOf.apply(key(place));
    }
    for (Tree tree : trees) {
      int[] members = IntStream.range(0, size).filter(place -> each[place] == tree).toArray();
      if (members.length > 0) {
        found.add(new Part(tree, members, members.length));
      }
    }
    return found;
  }

  private byte[] key(int place) {
    return keys.key(keys.at(place));
  }

  /** Whether there are keys that have not been read. */
  public boolean hasMore() {
    return part < parts.size();
  }

  /** Reads some of the keys. */
  public void readSome() {
    Part present = parts.get(part);
    int end = Math.min(present.size, at + MOST_AT_ONCE);
    int leaves = 0;
    for (int tries = 0; at < end && leaves < LEAVES_AT_ONCE; ) {
      int next = tries == RowReader.OPTIMISTIC_TRIES ? at : readOptimistically(present, at, end);
      if (next == at && ++tries > RowReader.OPTIMISTIC_TRIES) {
        next = readLatched(present, at, end);
      }
      if (next > at) {
        readElsewhere(present, at, next);
        at = next;
        tries = 0;
        leaves++;
      }
    }
    if (at == present.size) {
      part++;
      at = 0;
    }
  }

  /**
   * Reads a group without the latch of its leaf.
   *
   * @return the first key that was not read: {@code from} if the read was disturbed
   */
  private int readOptimistically(Part present, int from, int to) {
    byte[] first = key(present.place(from));
    Descent descent = reading.descent;
    if (!present.tree.descend(first, descent)) {
      return from;
    }
    values.mark();
    descent.fetchFences();
    int end = from;
    try {
      int limit = Math.min(to, from + MOST_WITH_ONE_STAMP);
      end =
          SlottedSearch.searchGroup(
              descent.memory(), descent.base(), keys, present.members, from, limit, alike);
      hold(descent.memory(), descent.base(), end - from);
      end = readGroup(descent.memory(), descent.base(), present, first, from, end);
    } catch (IndexOutOfBoundsException torn) {
      end = from; // if it was not a disturbance, the read under the latch meets it
    }
    if (end == from || !reader.isRight(reading)) {
      values.backToMark();
      return from;
    }
    return end;
  }

  /**
   * Copies the part of the leaf that has the cells of a group, if they lie close together. One copy
   * costs less than many accesses, and all cache lines are fetched at once. If they are far apart,
   * the cells are only fetched.
   */
  private void hold(MemorySegment memory, long base, int size) {
    int low = Page.SIZE;
    int high = 0;
    int found = 0;
    for (int i = 0; i < size; i++) {
      int slot = alike[i];
      if (slot >= 0) {
        int cell = (int) (Slotted.cellOf(memory, base, slot) - base);
        cells[i] = cell;
        low = Math.min(low, cell);
        high = Math.max(high, cell);
        found++;
      }
    }
    heldFrom = Integer.MAX_VALUE; // also an empty value at no distance from it is not in it
    heldTo = Integer.MAX_VALUE;
    int to = Math.min(high + MORE_THAN_ONE_CELL, Page.SIZE);
    if (found > 0 && high + LeafCell.KEY <= to && to - low <= HELD_FOR_A_KEY * found) {
      int length = to - low;
      values.room(length);
      heldAt = values.used();
      held = values.chunk();
      MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, base + low, held, heldAt, length);
      values.hold(length);
      heldFrom = low;
      heldTo = to;
    } else {
      Descent descent = reading.descent;
      for (int i = 0; i < size; i++) {
        if (alike[i] >= 0) {
          descent.fetchCellOf(memory, base, alike[i]);
        }
      }
    }
  }

  /**
   * Reads the keys of a group. What it finds is right only if the stamp of the leaf validates. The
   * latest commit of all is then in {@code reading.status}.
   *
   * @return the first key that the leaf does not hold
   */
  private int readGroup(
      MemorySegment memory, long base, Part present, byte[] first, int from, int to) {
    int table = present.tree.table();
    int count = Slotted.count(memory, base);
    int prefix = Slotted.prefix(memory, base);
    int skip = Slotted.skip(memory, base);
    byte[] bytes = keys.bytes();
    long seen = TransactionTable.COMMITTED_FOR_ALL;
    long writer = NO_WRITER;
    long status = 0;
    int next = 0;
    int i = from;
    for (; i < to; i++) {
      int place = present.place(i);
      int slot = alike[i - from];
      int cell = 0;
      if (slot >= 0) {
        int key = keys.at(place);
        int start = keys.start(key);
        int end = keys.end(key);
        cell = cells[i - from];
        if (!isHeld(cell) || !isKey(cell, prefix, skip, bytes, start, end)) {
          slot =
              SlottedSearch.searchAlike(
                  memory, base, count, prefix, skip, bytes, start, end, Math.max(slot, next));
          if (slot >= 0) {
            cell = (int) (Slotted.cellOf(memory, base, slot) - base);
          } else if (slot == -count - 1
              && i > from
              && !SlottedSearch.isBelowEnd(memory, base, bytes, start, end)) {
            break;
          } else {
            next = -slot - 1;
          }
        }
      }
      if (slot >= 0) {
        next = slot; // a key may come twice
        boolean isHeld = isHeld(cell);
        long shape =
            isHeld ? LittleEndian.getLong(held, at(cell)) : LeafCell.shape(memory, base + cell);
        long own =
            isHeld
                ? LittleEndian.getLong(held, at(cell) + LeafCell.WRITER)
                : LeafCell.writer(memory, base + cell);
        if (own != writer) {
          writer = own;
          status = reader.statusOf(own, reading);
        }
        long found = reader.placeOf(memory, base, base + cell, shape, status, reading);
        if (found < 0) {
          values.none(place, found);
        } else if (take(memory, base, found, place)) {
          seen = Math.max(seen, status);
        } else {
          return from;
        }
      } else {
        if (i == from && !SlottedSearch.covers(reading.descent.leaf().page(), first)) {
          return from;
        }
        values.none(
            place,
            reader.mayHaveDeparted(table, reading)
                ? RowReader.PLACE_OLDER
                : RowReader.PLACE_NO_ROW);
      }
    }
    reading.status = seen;
    return i;
  }

  /** Whether the copy has the header of a cell. */
  private boolean isHeld(int cell) {
    return cell >= heldFrom && cell + LeafCell.KEY <= heldTo;
  }

  /** Where the copy has an offset of the page. */
  private int at(int offset) {
    return heldAt + offset - heldFrom;
  }

  /** Whether a cell of the copy is that of a key with the same head; false if it is not whole. */
  private boolean isKey(int cell, int prefix, int skip, byte[] bytes, int start, int end) {
    int length = LittleEndian.getShort(held, at(cell));
    int known = skip + Slotted.HEAD;
    int key = cell + LeafCell.KEY;
    return prefix + length == end - start
        && key + length <= heldTo
        && (end - start <= known
            || Arrays.equals(
                held, at(key + known - prefix), at(key + length), bytes, start + known, end));
  }

  /** Records where the value of a key is in the copy, or copies it. */
  private boolean take(MemorySegment memory, long base, long found, int place) {
    int length = (int) found;
    int offset = (int) (found >>> Integer.SIZE);
    if (offset + length > Page.SIZE) {
      return false;
    }
    if (offset >= heldFrom && offset + length <= heldTo) {
      values.held(place, at(offset), length);
    } else {
      values.room(length);
      MemorySegment.copy(
          memory, ValueLayout.JAVA_BYTE, base + offset, values.chunk(), values.used(), length);
      values.copied(place, length);
    }
    return true;
  }

  /** Reads a group under the shared latch of its leaf; returns the first key behind it. */
  private int readLatched(Part present, int from, int to) {
    byte[] key = key(present.place(from));
    Tree tree = present.tree;
    int frame = tree.leafShared(key, reading.descent);
    int i = from;
    try {
      MemorySegment page = storage.pool().page(frame);
      tree.demandCovers(page, key);
      while (true) {
        readLatched(page, present, i, key);
        if (++i == to) {
          break;
        }
        key = key(present.place(i));
        if (!SlottedSearch.covers(page, key)) {
          break;
        }
      }
    } finally {
      storage.pool().unfixShared(frame);
    }
    return i;
  }

  private void readLatched(MemorySegment page, Part present, int index, byte[] key) {
    int place = present.place(index);
    int slot = SlottedSearch.search(page, key);
    if (slot < 0) {
      values.none(
          place,
          reader.mayHaveDeparted(present.tree.table(), reading)
              ? RowReader.PLACE_OLDER
              : RowReader.PLACE_NO_ROW);
      return;
    }
    int cell = Slotted.cell(page, slot);
    RowReader.Seen seen = reader.seen(page, cell, reading);
    if (seen == RowReader.Seen.OLDER) {
      values.none(place, RowReader.PLACE_OLDER);
    } else {
      values.other(place, RowReader.value(page, cell, seen));
    }
  }

  /** Reads what the leaf does not have, with nothing latched. */
  private void readElsewhere(Part present, int from, int to) {
    int older = 0;
    for (int i = from; i < to; i++) {
      int place = present.place(i);
      long reason = values.reason(place);
      if (reason == RowReader.PLACE_LATCHED) {
        values.other(place, reader.readLatched(present.tree, key(place), reading));
      } else if (reason == RowReader.PLACE_OLDER) {
        older++;
      }
    }
    if (older > 0) {
      readOlder(present, from, to, older);
    }
  }

  private void readOlder(Part present, int from, int to, int count) {
    int[] places = new int[count];
    List<byte[]> missing = new ArrayList<>(count);
    for (int i = from; i < to; i++) {
      int place = present.place(i);
      if (values.reason(place) == RowReader.PLACE_OLDER) {
        places[missing.size()] = place;
        missing.add(key(place));
      }
    }
    @Nullable StoredValue[] versions = reader.findOlder(present.tree.table(), missing, reading);
    for (int i = 0; i < places.length; i++) {
      values.other(places[i], versions[i]);
    }
  }
}
