package org.revenantdb.engine.btree;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.page.InnerCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.latch.HybridLatch;
import org.revenantdb.recovery.file.DamagedFileException;

/**
 * A B+-tree: finds the leaf of a key and returns it latched, or with a stamp for an optimistic
 * read.
 *
 * <p>Leaves have no links to their neighbours: a scan continues at a leaf's fence, with a new
 * descent. Thread-safe.
 */
public final class Tree {
  /*
   * Source      Leis, Haubenschild, Neumann, "Optimistic Lock Coupling" (IEEE Data Eng. Bull. 2019); Böttcher, thesis
   *             2023, §4.3. We differ: pages are found by their ids, through the translation, not by pointers.
   *
   * Descent     1 stamp of the root; the field still names it
   *             2 child id from the page; stay of the child; stamp of the child
   *             3 the page's stamp validates, else start over; go on with the child
   *             If a child's stamp was taken while its parent led to it, then it is the child as of that stamp: a
   *             thread that makes the parent lead elsewhere holds parent and child latched until both are written
   *             (Split, Merge). After some disturbances, or if a page is not resident, the descent uses shared
   *             latches; a parent's latch is held until its child's is acquired (protocols.md §5). So the descent
   *             ends whatever writers do, and a page is read from the file under its parent's latch.
   *
   * Root        only compaction moves the root (protocols.md §18). Meanwhile the page that the root leaves and the
   *             page that it goes to are latched exclusively, and the field (Unit.root) is set before they are
   *             released. So a thread that has a page latched and then finds its id in the field has the root. A
   *             thread that takes a stamp of a page and then finds its id in the field has the root if the stamp
   *             validates: had the root arrived there, or left, since the stamp was taken, the page would have been
   *             latched exclusively since then.
   *
   * Races left in   data that is read before step 3 may be torn. At worst a length leads out of the page: the
   *                 exception is caught here and treated as a disturbance. If it was no disturbance but damage, the
   *                 descent with latches meets it.
   */

  /** The number of disturbed descents before one uses latches. */
  private static final int OPTIMISTIC_TRIES = 3;

  /**
   * How often a writer may find that the page was split or merged while it waited for its latch.
   */
  private static final int WAITING_TRIES = 8;

  /** Room that an inner page needs to take one more separator of any length. */
  static final int INNER_ROOM = InnerCell.MAX_CELL + Slotted.INNER_SLOT;

  private final BufferPool pool;
  private final int table;
  private final Unit unit;

  /**
   * The stay of the right-most leaf that was written last. The stay may be over, and the leaf may
   * no longer be the last one.
   */
  private volatile @Nullable Stay rightEdge;

  /** The root's stay that was seen last; it may be over by now. It saves a lookup. */
  private volatile @Nullable Stay rootStay;

  /**
   * Makes a tree.
   *
   * @param table the id in its pages
   * @param root its root page
   */
  public Tree(BufferPool pool, int table, int root) {
    this.pool = pool;
    this.table = table;
    this.unit = new Unit(table, root);
  }

  /** The id in the tree's pages. */
  public int table() {
    return table;
  }

  /** The root page; it may move while the caller does not have it latched. */
  public int root() {
    return unit.root();
  }

  /**
   * Called when the root has moved. The caller has the former page and the new one latched
   * exclusively.
   */
  public void rootMoved(int to) {
    unit.rootMoved(to);
    rootStay = null;
  }

  /** The extents from which its pages are allocated. */
  public Unit unit() {
    return unit;
  }

  /**
   * Finds the leaf whose fences contain the key, without writing anything.
   *
   * @param to receives the leaf and a stamp; everything that is read from the leaf must be
   *     validated with the stamp
   * @return false if the leaf has to be found with latches
   */
  public boolean descend(byte[] key, Descent to) {
    to.begin();
    boolean done = false;
    for (int tries = 0; tries < OPTIMISTIC_TRIES && !done; tries++) {
      try {
        done = tryDescend(key, to, /* toWrite= */ false);
      } catch (IndexOutOfBoundsException torn) {
        done = false;
      }
    }
    return done && to.isResident();
  }

  /**
   * Finds the leaf whose fences contain the key, for a write, without writing anything itself. The
   * stamp may be invalid because another thread is writing the leaf now.
   *
   * @return the leaf as it was a moment ago, its stamp in {@code to}; null if it has to be found
   *     with latches
   */
  public @Nullable Stay leafToWrite(byte[] key, Descent to) {
    to.begin();
    try {
      boolean found = to.isAtRightEdge() && isAtRightEdge(key, to);
      found = found || tryDescend(key, to, /* toWrite= */ true);
      return found && to.isResident() ? to.leaf() : null;
    } catch (IndexOutOfBoundsException torn) {
      return null;
    }
  }

  /**
   * Whether the right-most leaf is probably the leaf of the key. Appended rows then need no
   * descent.
   */
  private boolean isAtRightEdge(byte[] key, Descent to) {
    Stay edge = rightEdge;
    if (edge == null || edge.isObsolete()) {
      return false;
    }
    long stamp = edge.readOptimistic();
    if (stamp != HybridLatch.INVALID_STAMP
        && (!isLeafOf(edge, key) || Slotted.hasUpperFence(edge.page()) || !edge.validate(stamp))) {
      return false;
    }
    int frame = edge.frame();
    return to.found(edge, stamp, /* levelsToIt= */ 1, pool.slab(frame), BufferPool.base(frame));
  }

  /** Whether a leaf is the right-most one that was written last: a hint. */
  @SuppressWarnings("ReferenceEquality") // which stay it is
  public boolean isRightEdge(Stay leaf) {
    return rightEdge == leaf;
  }

  /**
   * Whether a page is the leaf of this tree whose fences contain the key, however it was found.
   *
   * @param stay the stay of the page, which is latched or must be validated
   */
  public boolean isLeafOf(Stay stay, byte[] key) {
    return isOf(stay, /* level= */ 0, key);
  }

  /**
   * Whether a page belongs to this tree and level, and covers the key. No two pages of one level
   * cover one key, and a thread that makes or frees a page holds it latched until its parent is
   * changed. So it does not matter how the page was found.
   */
  private boolean isOf(Stay stay, int level, byte[] key) {
    MemorySegment page = stay.page();
    return !stay.isFreed()
        && Page.type(page) == (level == 0 ? Page.LEAF : Page.INNER)
        && Slotted.table(page) == table
        && Slotted.level(page) == level
        && SlottedSearch.covers(page, key);
  }

  /**
   * Records that a row is written to a leaf: the next row may be as near to the right edge.
   *
   * @param leaf the leaf, latched exclusively
   */
  public void wrote(Stay leaf, Descent descent) {
    descent.atRightEdge(noteIfLast(leaf));
  }

  /**
   * Records a leaf that was made or written, if it is the right-most one: threads that append rows
   * need no descent to find it.
   *
   * @param leaf latched exclusively
   * @return whether it is the right-most one
   */
  public boolean noteIfLast(Stay leaf) {
    boolean isLast = !Slotted.hasUpperFence(leaf.page());
    if (isLast && rightEdge != leaf) {
      rightEdge = leaf;
    }
    return isLast;
  }

  /**
   * Tries a descent; false if it was disturbed.
   *
   * @param toWrite whether a leaf that is being written is acceptable: a thread that wants to write
   *     it, too, has to check its fences under the latch anyway
   */
  private boolean tryDescend(byte[] key, Descent to, boolean toWrite) {
    Stay stay = rootStay;
    if (stay == null || stay.isObsolete()) {
      stay = pool.resident(unit.root());
      if (stay != null && !isOfTree(stay.page())) {
        return false; // being written, or damaged: the descent with latches finds out which
      }
      rootStay = stay;
    }
    if (stay == null) {
      return to.missing();
    }
    long stamp = stay.readOptimistic();
    if (stay.pageId() != unit.root()) { // read after the stamp: see the top
      rootStay = null;
      return false;
    }
    int frame = stay.frame();
    MemorySegment memory = pool.slab(frame);
    long base = BufferPool.base(frame);
    if (toWrite && stamp == HybridLatch.INVALID_STAMP && Slotted.level(memory, base) == 0) {
      return to.found(stay, stamp, /* levelsToIt= */ 1, memory, base);
    }
    for (int levels = 1;
        stamp != HybridLatch.INVALID_STAMP && levels < BufferPool.MAX_LEVELS;
        levels++) {
      int level = Slotted.level(memory, base);
      if (level == 0) {
        // A damaged link may have led to another tree: the descent with latches reports where.
        return Slotted.kind(memory, base) == Slotted.kindOf(table, 0)
            && to.found(stay, stamp, levels, memory, base);
      }
      int position = SlottedSearch.childPosition(memory, base, key);
      int child = Slotted.child(memory, base, position);
      int childFrame = pool.frameOf(child);
      memory = pool.slab(childFrame);
      base = BufferPool.base(childFrame);
      if (level == 1) {
        to.below(stay, stamp, position);
        to.fetch(memory, base);
        if (toWrite) {
          to.fetchHeapTop(memory, base);
        }
      }
      Stay childStay = pool.resident(child);
      if (childStay == null) {
        return stay.validate(stamp) && to.missing();
      }
      if (toWrite && level == 1) {
        to.fetched(pool.touchForChange(childStay, childFrame));
      }
      long childStamp = childStay.readOptimistic();
      if (!stay.validate(stamp)) {
        return false;
      }
      if (childStay.frame() != childFrame) {
        // The translation can have the frame of another thread that also read the page,
        // and came second.
        memory = pool.slab(childStay.frame());
        base = BufferPool.base(childStay.frame());
      }
      stay = childStay;
      stamp = childStamp;
      if (toWrite && level == 1 && stamp == HybridLatch.INVALID_STAMP && !stay.isObsolete()) {
        return to.found(stay, stamp, levels + 1, memory, base);
      }
    }
    if (stamp == HybridLatch.INVALID_STAMP) {
      to.blockedBy(stay);
    }
    return false;
  }

  /**
   * If the last descent met a page above the leaf that another thread was writing, waits, with
   * nothing latched, until that thread has left. Then another descent may succeed.
   *
   * <p>The wait is a request that does nothing: the leaving holder runs all waiting requests at
   * once. If the page were handed over to each waiter instead, the next thread would find it
   * latched, and so on for ever: a convoy.
   *
   * @return false if the descent ended for another reason; then there was no wait
   */
  public boolean awaitWriter(Descent descent) {
    Stay blocker = descent.blocker();
    if (blocker != null) {
      pool.runExclusive(blocker, Tree::nothing);
    }
    return blocker != null;
  }

  private static void nothing() {}

  /**
   * The frame of the leaf to the right of the one that the last descent found, latched shared. It
   * is -1 if the page above them, as it was then, does not show that leaf.
   *
   * @param from the result of the last descent; the next call may continue from it
   */
  public int nextLeafShared(Descent from) {
    Stay parent = from.parent();
    if (parent == null) {
      return -1;
    }
    try {
      int position = from.position() + 1;
      int child = neighbour(parent, position);
      if (child < 0) {
        return -1;
      }
      Stay leaf = pool.resident(child);
      if (leaf == null) {
        return -1;
      }
      long stamp = leaf.readOptimistic();
      if (stamp == HybridLatch.INVALID_STAMP || !parent.validate(from.parentStamp())) {
        return -1;
      }
      if (Slotted.kind(leaf.page()) != Slotted.kindOf(table, 0)) {
        return -1;
      }
      from.below(parent, from.parentStamp(), position);
      return pool.tryFixSharedForScan(leaf, stamp); // only scans go on
    } catch (IndexOutOfBoundsException torn) {
      return -1;
    }
  }

  /** Fetches from memory the leaf to the right of the one that the last descent found. */
  public void fetchNextLeaf(Descent from) {
    Stay parent = from.parent();
    if (parent == null) {
      return;
    }
    try {
      int child = neighbour(parent, from.position() + 1);
      if (child >= 0) {
        int frame = pool.frameOf(child);
        from.fetch(pool.slab(frame), BufferPool.base(frame));
      }
    } catch (IndexOutOfBoundsException torn) {
      return;
    }
  }

  /** The child at a position of a page that may have changed; -1 if there is none. */
  private int neighbour(Stay parent, int position) {
    MemorySegment memory = pool.slab(parent.frame());
    long base = BufferPool.base(parent.frame());
    return position < Slotted.count(memory, base) ? Slotted.child(memory, base, position) : -1;
  }

  /** The frame of the leaf whose fences contain the key, latched shared. */
  public int leafShared(byte[] key, Descent descent) {
    if (descend(key, descent)) {
      int leaf = pool.tryFixShared(descent.leaf(), descent.stamp());
      if (leaf >= 0) {
        return leaf;
      }
    }
    return leafByLatches(key, /* forScan= */ false);
  }

  /** As {@link #leafShared}, with latches, for a scan: the leaf does not become warmer. */
  int leafForScan(byte[] key) {
    return leafByLatches(key, /* forScan= */ true);
  }

  /** Frame of the root, latched shared. */
  private int rootShared() {
    int frame = unit.fixRootShared(pool);
    if (!isOfTree(pool.page(frame))) {
      pool.unfixShared(frame);
      throw noRoot();
    }
    return frame;
  }

  /** Frame of the root, latched exclusively. */
  public int rootExclusive() {
    int frame = unit.fixRootExclusive(pool);
    if (!isOfTree(pool.page(frame))) {
      pool.unfixExclusive(frame);
      throw noRoot();
    }
    return frame;
  }

  /**
   * As {@link #rootExclusive}, for a caller that has a page of the catalogue latched: it does not
   * wait for a page that turns out to be of another kind, because the caller may have latched it
   * itself.
   */
  public int rootExclusiveBelowCatalogue() {
    long kind = pool.peek(root());
    if (kind != BufferPool.UNKNOWN && kind != Slotted.kindOf(table, Slotted.levelOf(kind))) {
      throw noRoot();
    }
    return rootExclusive();
  }

  /**
   * Whether a page can be the root of this tree. A root covers all keys: with a fence it would be
   * an inner part of a tree.
   */
  private boolean isOfTree(MemorySegment page) {
    return Slotted.kind(page) == Slotted.kindOf(table, Slotted.level(page))
        && Slotted.isWithoutFences(page);
  }

  private DamagedFileException noRoot() {
    return pool.damage(
        root(),
        "page "
            + Integer.toUnsignedString(root())
            + " is not the root of a tree of table "
            + table);
  }

  /**
   * Frame of a child, latched exclusively below its parent, which the caller has latched.
   *
   * @param level of the child
   * @throws DamagedFileException if the page is not of this tree and level. The method does not
   *     wait for such a page, since the caller may have it latched
   */
  public int childExclusive(int child, int level) {
    demandMayBe(child, level);
    int frame = pool.fixExclusive(child);
    if (Slotted.kind(pool.page(frame)) != Slotted.kindOf(table, level)) {
      pool.unfixExclusive(frame);
      throw misled(child, level);
    }
    return frame;
  }

  private void demandMayBe(int child, int level) {
    long kind = pool.peek(child);
    if (kind != BufferPool.UNKNOWN && kind != Slotted.kindOf(table, level)) {
      throw misled(child, level);
    }
  }

  /**
   * The exception for a page from another time or another tree. It might lead back, but a descent
   * must end.
   */
  private DamagedFileException misled(int child, int level) {
    return pool.damage(
        child,
        "page "
            + Integer.toUnsignedString(child)
            + " is no page of table "
            + table
            + " on level "
            + level
            + ", where its parent has it");
  }

  private int leafByLatches(byte[] key, boolean forScan) {
    int frame = rootShared();
    while (true) {
      MemorySegment page = pool.page(frame);
      if (Slotted.level(page) == 0) {
        return frame;
      }
      frame =
          stepShared(frame, Slotted.child(page, SlottedSearch.childPosition(page, key)), forScan);
    }
  }

  /**
   * The frame of the leaf that holds the largest keys below a bound, latched shared, for a scan:
   * the leaf does not become warmer.
   *
   * @param bound null for plus infinity
   */
  public int leafBelow(byte @Nullable [] bound) {
    int frame = rootShared();
    while (true) {
      MemorySegment page = pool.page(frame);
      if (Slotted.level(page) == 0) {
        return frame;
      }
      int position = Slotted.count(page) - 1;
      if (bound != null) {
        int slot = SlottedSearch.search(page, bound);
        position = slot >= 0 ? slot - 1 : -slot - 2;
      }
      frame = stepShared(frame, Slotted.child(page, position), /* forScan= */ true);
    }
  }

  /**
   * The exception for a leaf whose fences contradict the path to it: a page from another time. With
   * it a scan might never end, and an existing row might not be found.
   *
   * @param page the leaf, latched
   * @return the exception, which names the file and the place
   */
  public DamagedFileException misplaced(MemorySegment page) {
    return pool.damage(
        Page.id(page),
        "page "
            + Integer.toUnsignedString(Page.id(page))
            + " of table "
            + table
            + " does not hold the keys that its parent expects: it is an older version of itself");
  }

  /**
   * Throws {@link #misplaced} if a leaf does not hold a key that led to it.
   *
   * @param page the leaf, latched
   */
  public void demandCovers(MemorySegment page, byte[] key) {
    if (!SlottedSearch.covers(page, key)) {
      throw misplaced(page);
    }
  }

  private int stepShared(int frame, int child, boolean forScan) {
    int level = Slotted.level(pool.page(frame)) - 1;
    int next;
    try {
      demandMayBe(child, level);
      next = forScan && level == 0 ? pool.fixSharedForScan(child) : pool.fixShared(child);
    } finally {
      pool.unfixShared(frame);
    }
    if (Slotted.kind(pool.page(next)) != Slotted.kindOf(table, level)) {
      pool.unfixShared(next);
      throw misled(child, level);
    }
    return next;
  }

  /**
   * The frame of the parent of the page that covers the key on a level, latched exclusively; -1 if
   * the tree is not that high.
   *
   * @param level of the page below
   */
  int aboveExclusive(byte[] key, int level, Descent descent) {
    int parent = level == 0 ? parentExclusive(key, descent) : -1;
    return parent >= 0 ? parent : aboveFromRoot(key, level);
  }

  private int aboveFromRoot(byte[] key, int level) {
    int frame = rootExclusive();
    while (true) {
      MemorySegment page = pool.page(frame);
      int above = Slotted.level(page);
      if (above == level + 1) {
        return frame;
      }
      int child = -1;
      try {
        if (above > level) {
          child =
              childExclusive(
                  Slotted.child(page, SlottedSearch.childPosition(page, key)), above - 1);
        }
      } finally {
        pool.unfixExclusive(frame);
      }
      if (child < 0) {
        return -1;
      }
      frame = child;
    }
  }

  /**
   * The frame of the page above the leaf that holds the key, latched exclusively. It is found
   * without latches on the pages above it: the method waits for its latch with nothing else
   * latched.
   *
   * @return -1 if the leaf is the root, or if the page has to be found with latches
   */
  int parentExclusive(byte[] key, Descent descent) {
    return awaitPage(key, /* level= */ 1, descent);
  }

  /**
   * The frame of the page above a leaf, latched exclusively, if that needs no wait.
   *
   * @param leaf that holds the key, latched exclusively by the caller
   * @return -1 if the leaf is the root, or its parent is latched
   */
  int tryParentExclusive(Stay leaf, byte[] key, Descent descent) {
    Stay parent = findParent(key, descent);
    if (parent == null || !descent.isResident() || descent.leaf() != leaf) {
      return -1;
    }
    int frame = pool.tryFixExclusive(parent, descent.parentStamp());
    if (frame < 0) {
      descent.blockedBy(parent);
    }
    return frame;
  }

  /** The page above the leaf that holds the key, as it was a moment ago. */
  private @Nullable Stay findParent(byte[] key, Descent descent) {
    descent.begin();
    try {
      return tryDescend(key, descent, /* toWrite= */ true) ? descent.parent() : null;
    } catch (IndexOutOfBoundsException torn) {
      return null;
    }
  }

  /** The frame of the leaf whose fences contain the key, latched exclusively. */
  public int leafExclusive(byte[] key, Descent descent) {
    int leaf =
        descent.isAtRightEdge() ? tryLeaf(key, descent) : awaitPage(key, /* level= */ 0, descent);
    return leaf >= 0 ? leaf : leafExclusiveByLatches(key);
  }

  private int tryLeaf(byte[] key, Descent descent) {
    return descend(key, descent) ? pool.tryFixExclusive(descent.leaf(), descent.stamp()) : -1;
  }

  /**
   * The frame of the leaf of a key, or of the page above it, latched exclusively; -1 if it has to
   * be found with latches. A thread that waits for it has no other page latched. Else a thread that
   * splits that leaf would have to wait for the parent, and all others behind it.
   */
  private int awaitPage(byte[] key, int level, Descent descent) {
    for (int tries = 0; tries < WAITING_TRIES; tries++) {
      Stay stay = level == 0 ? leafToWrite(key, descent) : findParent(key, descent);
      if (stay == null) {
        if (awaitWriter(descent)) {
          continue;
        }
        break;
      }
      int frame = pool.fixExclusive(stay);
      if (frame >= 0) {
        if (isOf(stay, level, key)) {
          return frame;
        }
        pool.unfixExclusive(frame);
      }
    }
    return -1;
  }

  private int leafExclusiveByLatches(byte[] key) {
    int frame = rootShared();
    while (true) {
      MemorySegment page = pool.page(frame);
      int level = Slotted.level(page);
      if (level == 0) {
        // The root is a leaf, or was one: it has to be checked again under the needed latch.
        pool.unfixShared(frame);
        frame = rootExclusive();
        if (Slotted.level(pool.page(frame)) == 0) {
          return frame;
        }
        pool.unfixExclusive(frame);
        frame = rootShared();
        continue;
      }
      int child = Slotted.child(page, SlottedSearch.childPosition(page, key));
      if (level > 1) {
        frame = stepShared(frame, child, /* forScan= */ false);
        continue;
      }
      int leaf;
      try {
        leaf = childExclusive(child, /* level= */ 0);
      } finally {
        pool.unfixShared(frame);
      }
      return leaf;
    }
  }
}
