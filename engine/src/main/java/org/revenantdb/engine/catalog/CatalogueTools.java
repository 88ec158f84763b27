package org.revenantdb.engine.catalog;

import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.version.Storage;

/**
 * The tools for changes of the catalogue's pages, for one thread at a time. They are made only
 * once, since each has off-heap memory, whose allocation takes longer than the creation of a small
 * table.
 *
 * @param mini for records
 * @param maps for the space maps that they change
 * @param split makes room in the catalogue
 * @param empty for a new page
 */
record CatalogueTools(MiniTransaction mini, MapChanges maps, Split split, SlottedBuilder empty) {
  /** Makes a set for the caller. */
  static CatalogueTools of(Storage storage) {
    MiniTransaction mini = new MiniTransaction(storage.pool(), storage.log());
    MapChanges maps = storage.mapChanges();
    return new CatalogueTools(mini, maps, storage.splitter(mini, maps), new SlottedBuilder());
  }
}
