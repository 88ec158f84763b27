package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Merge;
import org.revenantdb.engine.btree.Move;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.overflow.OverflowMove;
import org.revenantdb.engine.page.ExtentMapPage;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.ValueReference;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.ExtentLists;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.txn.TransactionTable;
import org.revenantdb.gc.SnapshotSet;
import org.revenantdb.recovery.file.FileException;

/**
 * Moves pages from the end of the data file to free ones nearer to its beginning, so that the end
 * can be cut off.
 *
 * <p>It belongs to the cleaner and runs only on its thread, because moving frees pages.
 */
final class Compactor {
  /*
   * Protocol    docs/protocols.md §18.
   *
   * Invariants  I1 a page is moved below every page that may be moved, so moving ends.
   *             I2 a retired page is free on disk and claimed in memory until no snapshot is older than its move: a
   *             stream may read it once more. After a crash there are no streams.
   *             I3 nothing is held between two steps, and every step is inside the gate.
   */
  /** Merges a leaf with little content with a neighbour, and pages above that become small. */
  @FunctionalInterface
  interface Merger {
    /** Merges the leaf that begins at this fence; returns how many pages were freed. */
    long merge(Tree tree, byte[] fence);
  }

  /** Moves the root of a tree below a limit. */
  @FunctionalInterface
  interface RootMover {
    /** Whether it was moved. */
    boolean move(Tree tree, int limit);
  }

  private record RetiredPage(int id, long lsn) {}

  private record LargeValue(byte[] key, ValueReference reference) {
    @Override
    public boolean equals(@Nullable Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }

  private final Storage storage;
  private final BufferPool pool;
  private final Allocator allocator;
  private final IntFunction<@Nullable Tree> trees;
  private final Cleaner.Inside inside;
  private final BooleanSupplier closed;
  private final Merger merger;
  private final IntConsumer visitor;
  private final RootMover rootMover;
  private final Move move;
  private final OverflowMove overflow;
  private final ExtentLists lists;
  private final Descent descent = new Descent();
  private final Deque<RetiredPage> retired = new ArrayDeque<>();
  private boolean metOverflow;

  /** Shared-values pages that some values have left: the slots of these values must be freed. */
  private final Set<Integer> left = new TreeSet<>();

  /**
   * Moves pages for the cleaner.
   *
   * @param merger merges leaves with little content
   * @param visitor cleans a page
   * @param rootMover moves roots
   */
  Compactor(
      Storage storage,
      IntFunction<@Nullable Tree> trees,
      Cleaner.Inside inside,
      BooleanSupplier closed,
      Merger merger,
      IntConsumer visitor,
      RootMover rootMover,
      MiniTransaction mini,
      MapChanges maps) {
    this.storage = storage;
    this.pool = storage.pool();
    this.allocator = storage.allocator();
    this.trees = trees;
    this.inside = inside;
    this.closed = closed;
    this.merger = merger;
    this.visitor = visitor;
    this.rootMover = rootMover;
    this.move = new Move(pool, allocator, storage.marks(), mini, maps);
    this.lists = new ExtentLists(pool, storage.log(), allocator);
    this.overflow =
        new OverflowMove(
            pool,
            allocator,
            storage.roomy(),
            storage.marks(),
            storage.space(),
            mini,
            maps,
            writer -> TransactionTable.isCommitted(storage.transactions().outcome(writer)),
            (page, lsn) -> retired.addLast(new RetiredPage(page, lsn)));
  }

  /** Whether pages wait for snapshots to end. */
  boolean hasRetired() {
    return !retired.isEmpty();
  }

  /** Frees the claims of retired pages to which no reader can come back. */
  void giveBackRetired(SnapshotSet snapshots) {
    long horizon = snapshots.horizon();
    for (RetiredPage page = retired.peekFirst();
        page != null && page.lsn() <= horizon;
        page = retired.peekFirst()) {
      allocator.release(page.id());
      retired.removeFirst();
    }
  }

  /**
   * Moves all pages that can be moved.
   *
   * @param all the trees of the database
   * @return how many pages were moved
   */
  long compact(List<Tree> all) {
    for (Tree tree : all) {
      mergeSparse(tree);
      inside.run(() -> lookUp(tree));
    }
    giveBackEmpty(all);
    List<Unit> units = all.stream().map(Tree::unit).toList();
    int end = allocator.occupancy().compactSize(units);
    long moved = moveFrom(all, end);
    if (allocator.occupancy().lastInUseBelow(Integer.MAX_VALUE) >= end) {
      // There are free pages before, though no free extents.
      moved += pack(end);
      giveBackEmpty(all);
      moved += moveFrom(all, end);
    }
    giveBackEmpty(all);
    return moved;
  }

  private long lookUp(Tree tree) {
    tree.unit().load(pool);
    return 0;
  }

  /** Moves pages behind a page to extents before it. */
  private long moveFrom(List<Tree> all, int from) {
    storage.roomy().keepBelow(from);
    try {
      return moveAllFrom(all, from);
    } finally {
      storage.roomy().keepBelow(Integer.MAX_VALUE);
    }
  }

  private long moveAllFrom(List<Tree> all, int from) {
    metOverflow = false;
    long moved = 0;
    for (int page = allocator.occupancy().lastInUseBelow(Integer.MAX_VALUE);
        page >= from && !closed.getAsBoolean();
        page = allocator.occupancy().lastInUseBelow(page)) {
      int pageId = page;
      moved += step(() -> movePage(pageId, from, /* isPacking= */ false));
    }
    if (metOverflow) {
      for (Tree tree : all) {
        moved += moveValues(tree, from);
      }
      for (int page : left) {
        if (!closed.getAsBoolean()) {
          visitor.accept(page);
        }
      }
      left.clear();
    }
    return moved;
  }

  /** Moves pages of trees to free ones of lower extents that the tree has, or that are mixed. */
  private long pack(int below) {
    long moved = 0;
    for (int page = allocator.occupancy().lastInUseBelow(below);
        page >= 0 && !closed.getAsBoolean();
        page = allocator.occupancy().lastInUseBelow(page)) {
      int pageId = page;
      int limit = ExtentMapPage.firstPage(ExtentMapPage.extentOf(page));
      moved += step(() -> movePage(pageId, limit, /* isPacking= */ true));
    }
    return moved;
  }

  private void giveBackEmpty(List<Tree> all) {
    giveBackEmptyOf(null);
    for (Tree tree : all) {
      giveBackEmptyOf(tree.unit());
    }
  }

  private void giveBackEmptyOf(@Nullable Unit unit) {
    for (int extent : allocator.occupancy().empty(unit)) {
      step(() -> {
        storage.giveBack(extent, unit == null ? Unit.NONE : unit);
        return 0;
      });
    }
  }

  private void mergeSparse(Tree tree) {
    byte @Nullable [] position = new byte[0];
    while (position != null && !closed.getAsBoolean()) {
      byte[] at = position;
      byte[] @Nullable [] next = new byte[1][];
      step(() -> {
        byte[] fence = new byte[0];
        boolean sparse = false;
        int frame = tree.leafShared(at, descent);
        try {
          MemorySegment page = pool.page(frame);
          tree.demandCovers(page, at);
          sparse = Merge.isSparse(page);
          fence = Slotted.lowerFence(page);
          next[0] = Slotted.hasUpperFence(page) ? Slotted.upperFence(page) : null;
        } finally {
          pool.unfixShared(frame);
        }
        return sparse ? merger.merge(tree, fence) : 0;
      });
      position = next[0];
    }
  }

  /** Runs a step. A page that cannot be read stays where it is. */
  private long step(LongSupplier action) {
    try {
      return inside.run(action);
    } catch (FileException unreadable) {
      if (storage.log().failure() != null) {
        throw unreadable;
      }
      return 0;
    }
  }

  private long movePage(int pageId, int limit, boolean isPacking) {
    if (!allocator.occupancy().isAllocated(pageId)) {
      return 0; // freed meanwhile
    }
    int level = 0;
    int table;
    byte[] fence = {};
    int type;
    int frame = pool.fixShared(pageId);
    try {
      MemorySegment page = pool.page(frame);
      type = Page.type(page);
      if (type == Page.IAM) {
        table = ExtentMapPage.table(page);
      } else if (type == Page.LEAF || type == Page.INNER) {
        level = Slotted.level(page);
        fence = Slotted.lowerFence(page);
        table = Slotted.table(page);
      } else {
        metOverflow = true;
        return 0;
      }
    } finally {
      pool.unfixShared(frame);
    }
    Tree tree = trees.apply(table);
    if (tree == null) {
      return 0;
    }
    if (tree.root() == pageId) {
      return rootMover.move(tree, limit) ? 1 : 0;
    }
    if (type == Page.IAM) {
      return withCredit(() -> lists.move(tree.unit(), pageId, limit) ? 1 : 0);
    }
    int levelOfPage = level;
    byte[] lowerFence = fence;
    LongSupplier moving =
        () -> move.page(tree, pageId, levelOfPage, lowerFence, limit, isPacking) ? 1 : 0;
    long moved = withCredit(moving);
    int range = move.rangeWithoutList();
    if (range >= 0) {
      withCredit(() -> {
        lists.add(tree.unit(), range);
        return 0;
      });
      moved = withCredit(moving);
    }
    return moved;
  }

  private long withCredit(LongSupplier action) {
    int credit = Math.max(Move.CREDIT, ExtentLists.CREDIT);
    int pages = Math.max(Move.PAGES, ExtentLists.PAGES);
    storage.space().acquireToClean(credit, pages);
    try {
      return action.getAsLong();
    } finally {
      storage.space().release(credit, pages);
    }
  }

  /** Searches every leaf for large values, because their pages do not show their rows. */
  private long moveValues(Tree tree, int from) {
    long moved = 0;
    byte @Nullable [] position = new byte[0];
    List<LargeValue> values = new ArrayList<>();
    while (position != null && !closed.getAsBoolean()) {
      values.clear();
      byte[] at = position;
      byte[] @Nullable [] next = new byte[1][];
      step(() -> {
        next[0] = collect(tree, at, values);
        return 0;
      });
      position = next[0];
      for (LargeValue value : values) {
        ValueReference reference = value.reference();
        long done = step(() -> overflow.value(tree, value.key(), reference, from, from));
        moved += done;
        if (done > 0 && reference.isShared()) {
          left.add(reference.page());
        }
      }
    }
    return moved;
  }

  /** Collects the large values of a leaf; returns the beginning of the next leaf. */
  private byte @Nullable [] collect(Tree tree, byte[] position, List<LargeValue> values) {
    int frame = tree.leafShared(position, descent);
    try {
      MemorySegment page = pool.page(frame);
      tree.demandCovers(page, position);
      int count = Slotted.count(page);
      for (int slot = 0; slot < count; slot++) {
        int cell = Slotted.cell(page, slot);
        if (LeafCell.is(page, cell, LeafCell.OVERFLOW)) {
          values.add(
              new LargeValue(
                  Slotted.keyOf(page, cell),
                  ValueReference.of(page, LeafCell.valueOffset(page, cell))));
        }
      }
      return Slotted.hasUpperFence(page) ? Slotted.upperFence(page) : null;
    } finally {
      pool.unfixShared(frame);
    }
  }
}
