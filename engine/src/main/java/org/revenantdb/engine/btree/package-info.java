/**
 * The B+-tree: one algorithm per class, over the layouts of {@code page} and the frames of {@code
 * buffer}.
 *
 * <p>Reading order: {@code Tree} (descents), {@code ReadAhead}, {@code Split}, {@code Merge};
 * {@code LeafRun} and {@code RunInsert} (leaves that were filled outside the tree).
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.engine.btree;
