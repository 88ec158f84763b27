package org.revenantdb.engine.version;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.Stay;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedSearch;
import org.revenantdb.gc.version.UnseenDeletes;

/**
 * A request to insert a row, for the thread that has its leaf latched. It only works if the row is
 * new and nothing else has to be done (R22, protocols.md §20).
 *
 * <p>It runs under the leaf's exclusive latch, on its owner's thread, or on another thread while
 * the owner waits. It latches nothing, and waits only for room in the log buffer, which the log's
 * own thread makes. Transaction and credit are the owner's. It returns only after the record is
 * published and the row is on the page. For one insert at a time.
 */
final class InsertRequest implements Runnable {
  private static final byte[] NO_BYTES = new byte[0];

  private final MiniTransaction mini;
  private final UnseenDeletes unseen;
  private @Nullable Tree tree;
  private @Nullable Stay leaf;
  private byte[] key = NO_BYTES;
  private byte[] cell = NO_BYTES;
  private long id;
  private long snapshot;
  private boolean inserted;
  private boolean missed;

  /** Makes a request for the owner of a mini-transaction. */
  InsertRequest(MiniTransaction mini, UnseenDeletes unseen) {
    this.mini = mini;
    this.unseen = unseen;
  }

  /** Makes everything that it needs, before it runs under the latch. */
  void prepare(Tree tree, Stay leaf, byte[] key, long id, long snapshot, byte[] value) {
    this.tree = tree;
    this.leaf = leaf;
    this.key = key;
    this.id = id;
    this.snapshot = snapshot;
    cell = LeafCell.build(key, 0, id, value);
    inserted = false;
    missed = false;
  }

  @Override
  public void run() {
    Stay there = Objects.requireNonNull(leaf);
    missed = there.isObsolete() || !Objects.requireNonNull(tree).isLeafOf(there, key);
    if (missed) {
      return;
    }
    MemorySegment page = there.page();
    if (!Page.hasVersions(page)) {
      return; // a space map would have to be latched
    }
    int slot = SlottedSearch.search(page, key);
    if (slot >= 0
        || !hasRoom(page, slot)
        || unseen.after(Slotted.table(page), key, snapshot) != 0) {
      return;
    }
    mini.begin(id);
    PageOps.insert(mini.change(there.frame()), -slot - 1, cell);
    mini.end();
    mini.commit();
    inserted = true;
  }

  private boolean hasRoom(MemorySegment page, int slot) {
    int room = cell.length + Slotted.LEAF_SLOT - Slotted.prefix(page);
    return room + LeafRoom.reserve(page, slot, cell.length) <= Slotted.free(page);
  }

  /** Whether the row was inserted. */
  boolean isInserted() {
    return inserted;
  }

  /** Whether the leaf was split, merged or evicted before the request ran. */
  boolean hasMissed() {
    return missed;
  }

  /** Drops the references to the caller's data. */
  void forget() {
    tree = null;
    leaf = null;
    key = NO_BYTES;
    cell = NO_BYTES;
  }
}
