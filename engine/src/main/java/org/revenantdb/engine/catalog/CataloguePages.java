package org.revenantdb.engine.catalog;

/** Pages that a {@link CatalogueRecord} makes in addition to the rows that it changes. */
interface CataloguePages {
  /** The credit for their part of the record, in pages: these pages and their space maps. */
  int pages();

  /** Fixes the pages, after the leaves of the catalogue. */
  void fix();

  /** Writes their part of the record, and records the changes of the maps. */
  void format(CatalogueTools tools);

  /** Called when the record is in the log and applied. */
  void logged();

  /** Unfixes the pages, whether or not the record was made. */
  void unfix();
}
