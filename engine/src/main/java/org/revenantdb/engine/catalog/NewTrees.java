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
 * Empty trees that come into being by a record of the catalogue.
 *
 * <p>Order of calls: {@link #claim}, then {@link CatalogueRecord#publish} with these; {@link
 * #close} in any case. Inside the gate, by one thread.
 */
public final class NewTrees implements CataloguePages, AutoCloseable {
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
  private final int id;
  private final int[] roots;
  private final int[] frames;
  private int claimed;
  private int fixed;
  private boolean logged;

  /**
   * Nothing yet.
   *
   * @param id of the first tree; the others follow
   * @param trees how many
   */
  NewTrees(Storage storage, int id, int trees) {
    this.storage = storage;
    this.pool = storage.pool();
    this.id = id;
    this.roots = new int[trees];
    this.frames = new int[trees];
  }

  /** Claims the root pages; what they are, as a table's row says it. */
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

  /** Gives the claims back, unless they have become trees. */
  @Override
  public void close() {
    while (claimed > 0 && !logged) {
      claimed--;
      storage.allocator().unclaim(roots[claimed]);
    }
  }
}
