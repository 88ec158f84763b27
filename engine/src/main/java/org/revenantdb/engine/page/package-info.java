/**
 * The layouts of pages, and the only interpreter of page operations. No threads, no I/O.
 *
 * <p>Reading order: {@code Page} (common header), {@code Slotted} (layout of leaf and inner pages),
 * {@code LeafCell} and {@code InnerCell}, {@code SlottedSearch} and {@code SlottedEdit} (how such
 * pages are searched and changed), {@code Predecessors}, {@code ValueDiff} and {@code RowEdit} (the
 * versions of rows), {@code SlottedBuilder}, {@code OverflowPage}, {@code SpaceMapPage}, {@code
 * TableRow}, then {@code PageOps}, which changes pages in normal operation and in redo alike.
 */
package org.revenantdb.engine.page;
