/**
 * Who reads which snapshot, and so which old versions nobody needs.
 *
 * <p>Reading order: {@link org.revenantdb.gc.ActiveSnapshots}, which says who is active; {@link
 * org.revenantdb.gc.SnapshotSet}, which decides by that what may go; {@link
 * org.revenantdb.gc.Horizon}.
 */
package org.revenantdb.gc;
