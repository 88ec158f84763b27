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
 * A root that moves to a page nearer to the beginning of the file. The same record changes its
 * table's row.
 *
 * <p>Used only by the cleaner's own thread, which frees the former page.
 */
final class MovedRoot implements CataloguePages, AutoCloseable {
  /*
   * Protocol    docs/protocols.md §18, with what a crash leaves.
   *
   * Latches     leaf of the catalogue, former root, new root, space maps.
   * Damage      The former root is checked before the wait for its latch, and again under the latch: it is copied and
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

  /** Makes an object before the move; only this thread moves the root. */
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
    storage.marks().carry(to, copy.flags()); // before the former page is freed: R2
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

  /** Frees the former page; or gives up the claim, if the root has not moved. */
  @Override
  public void close() {
    if (logged) {
      storage.allocator().release(from);
    } else if (to >= 0) {
      storage.allocator().unclaim(to);
    }
  }
}
