/**
 * Records which pages and extents are in use, and by which owner: claims, maps, and the pages that
 * the cleaner has to visit.
 *
 * <p>Reading order: {@code Claims}, {@code FreeBytes}, {@code Unit}, {@code Allocator}, {@code
 * MapChanges}; {@code VersionMarks}, {@code PageVisits}.
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.engine.space;
