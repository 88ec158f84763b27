package org.revenantdb.engine;

import java.util.Arrays;
import org.revenantdb.engine.btree.Descent;
import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.btree.Tree;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.version.Storage;
import org.revenantdb.recovery.log.RecordBuilder;

/**
 * The creation of one table: its empty trees and its row in the catalogue come into being by one
 * record.
 *
 * <p>Order of calls: {@link #claim}; {@link #publish} and, where that finds no room, {@link
 * #makeRoom}, until it is done; {@link #close} in any case. Inside the gate, by one thread, with
 * nothing latched.
 *
 * <p>Failure: nothing has changed, but leaves of the catalogue may have been split.
 */
final class TableCreation implements AutoCloseable {
  /*
   * Protocol    docs/protocols.md §13, §22, with what a crash leaves.
   *
   * Credit      Pages are claimed first, under a credit of their own, so that what the record needs is known and not
   *             the worst case, in which each root lies in a group of its own: a database for which a restart may read
   *             few pages could wait for so much until somebody else made a checkpoint necessary. Claims are memory,
   *             nobody waits for them (R5).
   */
  private static final int CREDIT = 32 * 1024;

  private final Storage storage;
  private final BufferPool pool;
  private final Tree catalogue;
  private final byte[] key;
  private final int id;
  private final CatalogueTools tools;
  private final int[] roots;
  private final int[] frames;
  private byte[] cell = {};
  private int claimed;
  private int fixed;
  private boolean logged;

  /**
   * Nothing yet.
   *
   * @param tools that nobody else uses meanwhile
   * @param catalogue where the row goes
   * @param key of the row
   * @param id of the first tree; the others follow
   * @param trees how many
   */
  TableCreation(
      Storage storage, CatalogueTools tools, Tree catalogue, byte[] key, int id, int trees) {
    this.storage = storage;
    this.pool = storage.pool();
    this.catalogue = catalogue;
    this.key = key;
    this.id = id;
    this.tools = tools;
    this.roots = new int[trees];
    this.frames = new int[trees];
  }

  /** Claims the root pages. */
  void claim() {
    for (; claimed < roots.length; claimed++) {
      storage.space().acquire(CREDIT, Allocator.PAGES);
      try {
        roots[claimed] = storage.allocator().claim();
      } finally {
        storage.space().release(CREDIT, Allocator.PAGES);
      }
    }
    cell = LeafCell.build(key, 0, 0, new TableRow(id, roots).bytes());
  }

  /** Credit for the record: in bytes. */
  int credit() {
    return CREDIT;
  }

  /** Credit for the record: the leaf of the catalogue, the roots, and their space maps. */
  int pages() {
    int groups = (int) Arrays.stream(roots).map(SpaceMapPage::group).distinct().count();
    return 1 + roots.length + groups;
  }

  /**
   * Publishes the record; the caller has credit for it.
   *
   * @return its LSN, or 0 if the leaf of the catalogue has no room
   */
  long publish() {
    MiniTransaction mini = tools.mini();
    MapChanges maps = tools.maps();
    int leaf = catalogue.leafExclusive(key, new Descent());
    try {
      if (Slotted.free(pool.page(leaf)) < cell.length + Slotted.LEAF_SLOT) {
        return 0;
      }
      for (; fixed < roots.length; fixed++) {
        frames[fixed] = pool.fixNew(roots[fixed]);
      }
      maps.clear();
      mini.begin(0);
      SlottedBuilder empty = tools.empty();
      for (int tree = 0; tree < roots.length; tree++) {
        maps.set(roots[tree], SpaceMapPage.ALLOCATED);
        empty.begin(0, id + tree, new byte[0], null);
        PageOps.image(mini.format(frames[tree]), empty);
        mini.end();
      }
      RecordBuilder record = mini.change(leaf);
      PageOps.insert(record, -Slotted.search(pool.page(leaf), key) - 1, cell);
      mini.end();
      maps.latchAndWrite(mini);
      long lsn = mini.commit();
      logged = true;
      return lsn;
    } finally {
      maps.unlatch();
      while (fixed > 0) {
        fixed--;
        if (logged) {
          pool.unfixExclusive(frames[fixed]);
        } else {
          pool.discard(frames[fixed]);
        }
      }
      pool.unfixExclusive(leaf);
    }
  }

  /** Splits the leaf of the catalogue; somebody else's table may use up the room again. */
  void makeRoom() {
    storage.space().acquire(Split.CREDIT, Split.PAGES);
    try {
      int room = cell.length + Slotted.LEAF_SLOT;
      pool.unfixExclusive(tools.split().leafWithRoom(catalogue, key, room));
    } finally {
      storage.space().release(Split.CREDIT, Split.PAGES);
    }
  }

  /** Gives the claims back, unless they have become a table. */
  @Override
  public void close() {
    while (claimed > 0 && !logged) {
      claimed--;
      storage.allocator().unclaim(roots[claimed]);
    }
  }
}
