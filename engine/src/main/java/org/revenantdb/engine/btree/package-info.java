/**
 * The B+-tree: one algorithm a class, over the layouts of {@code page} and the frames of {@code
 * buffer}.
 *
 * <p>Reading order: {@code Tree} (descents), {@code ReadAhead}, {@code Split}, {@code Merge};
 * {@code LeafRun} and {@code RunInsert} (leaves that were filled aside).
 */
package org.revenantdb.engine.btree;
