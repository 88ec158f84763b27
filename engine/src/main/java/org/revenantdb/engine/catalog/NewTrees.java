package org.revenantdb.engine.catalog;

import java.util.Arrays;
import org.revenantdb.engine.buffer.BufferPool;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.PageOps;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.page.SpaceMapPage;
import org.revenantdb.engine.page.TableRow;
import org.revenantdb.engine.space.Allocator;
import org.revenantdb.engine.version.Storage;

/**
 * Empty trees that a record of the catalogue creates.
 *
 * <p>Order of calls: {@link #claim}, then {@link CatalogueRecord#publish} with these; {@link
 * #close} in any case. Inside the gate, by one thread.
 */
public final class NewTrees implements CataloguePages, AutoCloseable {
  /*
   * Protocol    docs/protocols.md §13, §22, with what a crash leaves.
   *
   * Credit      Pages are claimed first, under a separate credit. So the exact need of the record is known, and not
   *             only the worst case, in which each root lies in a different group. With a small bound of pages for a
   *             restart, a wait for the worst case could last until another thread made a checkpoint necessary.
   *             Claims are only in memory, and no thread waits for them (R5).
   */
  private static final int CREDIT = 32 * 1024;

  private final Storage storage;
  private final BufferPool pool;
  private final int id;
  private final int[] roots;
  private final int[] frames;
  private int claimed;
  private int fixed;
  private boolean logged;

  /**
   * Makes an object before the claim.
   *
   * @param id the id of the first tree; the others follow
   * @param trees the number of trees
   */
  NewTrees(Storage storage, int id, int trees) {
    this.storage = storage;
    this.pool = storage.pool();
    this.id = id;
    this.roots = new int[trees];
    this.frames = new int[trees];
  }

  /** Claims the root pages; returns them as a table's row. */
  public TableRow claim() {
    for (; claimed < roots.length; claimed++) {
      storage.space().acquire(CREDIT, Allocator.PAGES);
      try {
        roots[claimed] = storage.allocator().claim();
      } finally {
        storage.space().release(CREDIT, Allocator.PAGES);
      }
    }
    return new TableRow(id, roots);
  }

  @Override
  public int pages() {
    int groups = (int) Arrays.stream(roots).map(SpaceMapPage::group).distinct().count();
    return roots.length + groups;
  }

  @Override
  public void fix() {
    for (; fixed < roots.length; fixed++) {
      frames[fixed] = pool.fixNew(roots[fixed]);
    }
  }

  @Override
  public void format(CatalogueTools tools) {
    MiniTransaction mini = tools.mini();
    SlottedBuilder empty = tools.empty();
    for (int tree = 0; tree < roots.length; tree++) {
      tools.maps().set(roots[tree], SpaceMapPage.ALLOCATED);
      empty.begin(0, id + tree, new byte[0], null);
      PageOps.image(mini.format(frames[tree]), empty);
      mini.end();
    }
  }

  @Override
  public void logged() {
    logged = true;
  }

  @Override
  public void unfix() {
    while (fixed > 0) {
      fixed--;
      if (logged) {
        pool.unfixExclusive(frames[fixed]);
      } else {
        pool.discard(frames[fixed]);
      }
    }
  }

  /** Releases the claims, unless the trees were created. */
  @Override
  public void close() {
    while (claimed > 0 && !logged) {
      claimed--;
      storage.allocator().unclaim(roots[claimed]);
    }
  }
}
