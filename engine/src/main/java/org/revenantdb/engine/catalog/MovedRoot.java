package org.revenantdb.engine.catalog;

import org.revenantdb.engine.btree.Move;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.Unit;
import org.revenantdb.engine.version.Storage;

/**
 * A root that moves to a page further front, by the record that has its table's row name that page.
 *
 * <p>By the cleaner's own thread alone, which frees the page that is left.
 */
final class MovedRoot implements CataloguePages, AutoCloseable {
  /*
   * Protocol    docs/protocols.md §18, with what a crash leaves.
   *
   * Latches     leaf of the catalogue, former root, new root, space maps.
   * Damage      The former root is looked at before its latch is waited for, and again under the latch: it is copied and
   *             freed only if it is a page of this tree.
   */
  private static final int NONE = -1;

  private final Storage storage;
  private final BufferPool pool;
  private final Tree tree;
  private final SlottedBuilder copy = new SlottedBuilder();
  private final int from;
  private int to = NONE;
  private int former = NONE;
  private int fresh = NONE;
  private boolean logged;

  /** Nothing yet; the root moves by this thread alone. */
  MovedRoot(Storage storage, Tree tree) {
    this.storage = storage;
    this.pool = storage.pool();
    this.tree = tree;
    this.from = tree.root();
  }

  /** Claims a page of a mixed extent below a limit; false if there is none. */
  boolean claimBelow(int limit) {
    storage.space().acquireToClean(Allocator.CREDIT, Allocator.PAGES);
    try {
      to = storage.allocator().claimBelow(Unit.NONE, limit);
      return to >= 0;
    } finally {
      storage.space().release(Allocator.CREDIT, Allocator.PAGES);
    }
  }

  /** The page that was claimed. */
  int page() {
    return to;
  }

  @Override
  public int pages() {
    return 4;
  }

  @Override
  public void fix() {
    former = tree.rootExclusiveBelowCatalogue();
    fresh = pool.fixNew(to);
  }

  @Override
  public void format(CatalogueTools tools) {
    Move.copyTo(copy, tree.table(), pool.page(former));
    copy.iam(Slotted.iam(pool.page(former)));
    MiniTransaction mini = tools.mini();
    PageOps.image(mini.format(fresh), copy);
    mini.end();
    mini.free(from);
    tools.maps().set(from, 0);
    tools.maps().set(to, SpaceMapPage.inUse(copy.flags()));
  }

  @Override
  public void logged() {
    logged = true;
    tree.rootMoved(to);
    pool.markFreed(former);
    storage.marks().carry(to, copy.flags()); // before the other goes: R2
    storage.marks().clear(from);
  }

  @Override
  public void unfix() {
    if (fresh >= 0 && logged) {
      pool.unfixExclusive(fresh);
    } else if (fresh >= 0) {
      pool.discard(fresh);
    }
    if (former >= 0) {
      pool.unfixExclusive(former);
    }
    fresh = NONE;
    former = NONE;
  }

  /** Gives back the page that was left; or the claim, if the root has not moved. */
  @Override
  public void close() {
    if (logged) {
      storage.allocator().release(from);
    } else if (to >= 0) {
      storage.allocator().unclaim(to);
    }
  }
}
