package org.revenantdb.engine.catalog;

/** Pages that a {@link CatalogueRecord} makes beside the rows that it changes. */
interface CataloguePages {
  /** Credit for their part of the record, in pages: themselves, and their space maps. */
  int pages();

  /** Fixes the pages, behind the leaves of the catalogue. */
  void fix();

  /** Writes their part of the record, and notes that of the maps. */
  void format(CatalogueTools tools);

  /** The record is in the log, and applied. */
  void logged();

  /** Gives the pages up, as what they have become, or as nothing. */
  void unfix();
}
