/**
 * Finds out which snapshots are open, and so which old versions are no longer needed.
 *
 * <p>Reading order: {@link org.revenantdb.gc.ActiveSnapshots}, which knows the open snapshots;
 * {@link org.revenantdb.gc.SnapshotSet}, which decides by that what may go; {@link
 * org.revenantdb.gc.Horizon}.
 */
package org.revenantdb.gc;
