/**
 * Which pages are in use: claims, space maps, and the pages that the cleaner has to visit.
 *
 * <p>Reading order: {@code PageBitmap}, {@code Allocator}, {@code MapChanges}.
 */
package org.revenantdb.engine.space;
