package org.revenantdb.engine.catalog;

import org.revenantdb.engine.btree.Split;
import org.revenantdb.engine.change.MiniTransaction;
import org.revenantdb.engine.page.SlottedBuilder;
import org.revenantdb.engine.space.MapChanges;
import org.revenantdb.engine.version.Storage;

/**
 * What pages of the catalogue are changed with, by one thread at a time: made once, since each has
 * memory off the heap, which takes longer to get than a small table to create.
 *
 * @param mini for records
 * @param maps for the space maps that they change
 * @param split makes room in the catalogue
 * @param empty for a page that begins
 */
record CatalogueTools(MiniTransaction mini, MapChanges maps, Split split, SlottedBuilder empty) {
  /** A set of its own for who asks. */
  static CatalogueTools of(Storage storage) {
    MiniTransaction mini = new MiniTransaction(storage.pool(), storage.log());
    MapChanges maps = storage.mapChanges();
    return new CatalogueTools(mini, maps, storage.splitter(mini, maps), new SlottedBuilder());
  }
}
